/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/answers.h"

#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void odb_known_dispose(struct odb_known *known)
{
    for (size_t i = 0; known->outputs && i < known->n; i++)
        odb_tensor_unref(known->outputs[i]);
    free(known->outputs);
    *known = (struct odb_known){0};
}

bool odb_answers_count(enum odb_status status)
{
    return status != ODB_CANCELLED && status != ODB_SKIPPED && status != ODB_E_IO &&
           status != ODB_E_NOMEM && status != ODB_E_INTERNAL;
}

size_t odb_answers_bytes(struct odb_tensor *const *outputs, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (outputs[i])
            sum += outputs[i]->bytes + odb_answers_bytes(outputs[i]->items, outputs[i]->n_items);
    return sum;
}

static void answers_hash(SHA256_CTX *sha, const struct odb_tensor *t)
{
    int64_t head[] = {t->kind, t->dtype, t->rank, (int64_t)t->n_items, t->data != NULL};
    SHA256Update(sha, (const uint8_t *)head, sizeof head);
    SHA256Update(sha, (const uint8_t *)t->dims, (size_t)t->rank * sizeof *t->dims);
    if (t->data && t->dtype == ODB_STRING) {
        const struct odb_str *strings = t->data;
        for (size_t i = 0; i < t->count; i++) {
            SHA256Update(sha, (const uint8_t *)&strings[i].len, sizeof strings[i].len);
            SHA256Update(sha, (const uint8_t *)strings[i].data, strings[i].len);
        }
    } else if (t->data) {
        SHA256Update(sha, t->data, t->bytes);
    }
    for (size_t i = 0; i < t->n_items; i++)
        answers_hash(sha, t->items[i]);
}

static void answers_hex(SHA256_CTX *sha, char hex[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Final(digest, sha);
    odb_hex(digest, sizeof digest, hex);
}

void odb_answers_put_tensor(struct odb_buf *out, const struct odb_tensor *t)
{
    SHA256_CTX sha;
    char hex[65];
    SHA256Init(&sha);
    answers_hash(&sha, t);
    answers_hex(&sha, hex);
    odb_buf_puts(out, hex);
}

void odb_answers_digest(const struct odb_buf *text, char hex[65])
{
    SHA256_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)odb_buf_text(text), text->len);
    answers_hex(&sha, hex);
}
