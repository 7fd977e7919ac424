/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "executor/groups.h"

void odb_answered_dispose(struct odb_answered *known)
{
    for (size_t i = 0; known->outputs && i < known->n; i++)
        odb_tensor_unref(known->outputs[i]);
    free(known->outputs);
    free(known->words);
    *known = (struct odb_answered){0};
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
        sum += odb_tensor_size(outputs[i]);
    return sum;
}

static void answers_hash(SHA256_CTX *sha, const struct odb_tensor *t)
{
    int64_t head[] = {t->kind, t->dtype, t->rank, (int64_t)t->n_items, t->data != NULL};
    odb_sha256_update(sha, (const uint8_t *)head, sizeof head);
    odb_sha256_update(sha, (const uint8_t *)t->dims, (size_t)t->rank * sizeof *t->dims);
    if (t->data && t->dtype == ODB_STRING) {
        const struct odb_str *strings = t->data;
        for (size_t i = 0; i < t->count; i++) {
            odb_sha256_update(sha, (const uint8_t *)&strings[i].len, sizeof strings[i].len);
            odb_sha256_update(sha, (const uint8_t *)strings[i].data, strings[i].len);
        }
    } else if (t->data) {
        odb_sha256_update(sha, t->data, t->bytes);
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
    odb_sha256_update(&sha, (const uint8_t *)odb_buf_text(text), text->len);
    answers_hex(&sha, hex);
}

/* The text, how many notes there are, these, then node, operator and place of each placement, and
 * the kernels where there are any. */
enum odb_status odb_answers_from_account(struct odb_tensor **out, const struct odb_account *account,
                                         struct odb_error *err)
{
    size_t n = 0, count = 2 + account->notes.n + 3 * account->places.n + (account->groups.len > 0);
    struct odb_str *strings = odb_new_n(struct odb_str, count);
    char notes[32];
    snprintf(notes, sizeof notes, "%zu", account->notes.n);
    strings[n++] = (struct odb_str){odb_buf_text(&account->text), account->text.len};
    strings[n++] = (struct odb_str){notes, strlen(notes)};
    for (size_t i = 0; i < account->notes.n; i++)
        strings[n++] = (struct odb_str){account->notes.items[i], strlen(account->notes.items[i])};
    for (size_t i = 0; i < account->places.n; i++) {
        const struct odb_placement *place = &account->places.items[i];
        const char *const texts[] = {place->node, place->op_type, place->where};
        for (size_t k = 0; k < ODB_COUNT(texts); k++)
            strings[n++] = (struct odb_str){texts[k], strlen(texts[k])};
    }
    if (account->groups.len)
        strings[n++] = (struct odb_str){account->groups.data, account->groups.len};
    enum odb_status status =
        odb_tensor_copy_of(out, ODB_STRING, 1, (int64_t[]){(int64_t)count}, strings, err);
    free(strings);
    return status;
}

bool odb_answers_to_account(const struct odb_tensor *t, struct odb_account *account)
{
    if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_STRING || t->count < 2)
        return false;
    const struct odb_str *strings = t->data;
    char **texts = odb_new_n(char *, t->count);
    for (size_t i = 0; i < t->count; i++)
        texts[i] = odb_xstrndup(strings[i].data ? strings[i].data : "", strings[i].len);
    size_t notes = strtoul(texts[1], NULL, 10), n = 2;
    bool right = notes <= t->count - 2 && (t->count - 2 - notes) % 3 < 2;
    bool groups = right && (t->count - 2 - notes) % 3 == 1;
    if (right)
        odb_buf_puts(&account->text, texts[0]);
    for (; right && n < 2 + notes; n++)
        odb_account_note(account, "%s", texts[n]);
    for (; right && n + 2 < t->count; n += 3)
        odb_account_place(account, texts[n], texts[n + 1], texts[n + 2]);
    if (groups)
        odb_account_groups(account, texts[n], strlen(texts[n]));
    for (size_t i = 0; i < t->count; i++)
        free(texts[i]);
    free(texts);
    return right;
}
