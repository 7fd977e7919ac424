/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/memory.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define MEMORY_BYTES ((size_t)128 << 20) /* of values that are kept in all */

struct odb_memory {
    struct odb_map *index;                /* owned: of keys in answers */
    ODB_VEC(struct odb_answered) answers; /* owned */
    size_t bytes;
};

struct odb_memory *odb_memory_new(void)
{
    struct odb_memory *memory = odb_new(struct odb_memory);
    memory->index = odb_map_new();
    return memory;
}

void odb_memory_free(struct odb_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->answers.n; i++)
        odb_answered_dispose(&memory->answers.items[i]);
    free(memory->answers.items);
    odb_map_free(memory->index);
    free(memory);
}

static void memory_copy(struct odb_answered *out, const struct odb_answered *known)
{
    char *words = known->words ? odb_xstrdup(known->words) : NULL;
    *out = (struct odb_answered){known->status, known->err, NULL, known->n, words};
    if (!known->outputs)
        return;
    out->outputs = odb_new_n(struct odb_tensor *, known->n);
    for (size_t i = 0; i < known->n; i++)
        out->outputs[i] = odb_tensor_ref(known->outputs[i]);
}

static bool memory_find(void *payload, const char *key, struct odb_answered *out)
{
    const struct odb_memory *memory = payload;
    size_t at;
    if (!odb_map_get(memory->index, key, &at))
        return false;
    memory_copy(out, &memory->answers.items[at]);
    return true;
}

static void memory_begin(void *payload, const char *key, const char *what, int node)
{
    (void)payload, (void)key, (void)what, (void)node; /* what is lost with it needs no notes */
}

static bool memory_keep(void *payload, const char *key, const struct odb_answered *known)
{
    struct odb_memory *memory = payload;
    struct odb_answered copy;
    size_t bytes = known->outputs ? odb_answers_bytes(known->outputs, known->n) : 0;
    if (bytes > ODB_ANSWERS_BYTES || memory->bytes + bytes > MEMORY_BYTES ||
        !odb_map_add(memory->index, key, memory->answers.n))
        return false;
    memory_copy(&copy, known);
    odb_push(&memory->answers, copy);
    memory->bytes += bytes;
    return true;
}

static void memory_forget(void *payload, const char *key)
{
    (void)payload, (void)key;
}

void odb_memory_answers(struct odb_memory *memory, struct odb_answers *out)
{
    *out = (struct odb_answers){memory_find,   memory_begin, memory_keep,
                                memory_forget, memory,       memory->answers.n};
}
