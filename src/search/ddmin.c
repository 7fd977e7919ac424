/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All at once, then halves, quarters and so on down to single items. Zeller and Hildebrandt's
 * algorithm also tries the parts by themselves; with parts that hang together, as nodes of a graph
 * do, that is asked in vain, and what it would find the next sizes find as well.
 */
#include "search/ddmin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"

struct ddmin {
    bool *keep;
    size_t n, left; /* left: how many are kept */
    bool *trial;    /* owned */
    const struct odb_ddmin *question;
};

/* Asks without the `size` kept items from the at-th kept one on; *gone: they could go. */
static enum odb_status ddmin_without(struct ddmin *d, size_t at, size_t size, bool *gone,
                                     struct odb_error *err)
{
    enum odb_answer answer = ODB_ANSWER_UNTESTABLE;
    size_t rank = 0;
    memcpy(d->trial, d->keep, d->n * sizeof *d->keep);
    for (size_t i = 0; i < d->n; i++)
        if (d->keep[i]) {
            d->trial[i] = rank < at || rank >= at + size;
            rank++;
        }
    ODB_TRY(d->question->ask(d->question->payload, d->trial, &answer, err));
    *gone = answer == ODB_ANSWER_BAD;
    if (*gone) {
        memcpy(d->keep, d->trial, d->n * sizeof *d->keep);
        d->left = odb_count_marks(d->keep, d->n);
    }
    return ODB_OK;
}

/* Pieces of one size, from the end: no other piece needs what comes last. */
static enum odb_status ddmin_pass(struct ddmin *d, size_t size, struct odb_error *err)
{
    for (size_t end = d->left; end > 0;) {
        size_t at = end > size ? end - size : 0;
        bool gone;
        ODB_TRY(ddmin_without(d, at, end - at, &gone, err));
        end = ODB_MIN(at, d->left);
    }
    return ODB_OK;
}

/* Single items round and round, until a whole round has changed nothing. */
static enum odb_status ddmin_singles(struct ddmin *d, struct odb_error *err)
{
    size_t at = d->left;
    for (size_t in_vain = 0; in_vain < d->left;) {
        bool gone;
        at = at == 0 || at > d->left ? d->left : at;
        ODB_TRY(ddmin_without(d, --at, 1, &gone, err));
        in_vain = gone ? 0 : in_vain + 1;
    }
    return ODB_OK;
}

enum odb_status odb_ddmin(bool *keep, size_t n, const struct odb_ddmin *question,
                          struct odb_error *err)
{
    struct ddmin d = {.keep = keep,
                      .n = n,
                      .left = odb_count_marks(keep, n),
                      .trial = odb_new_n(bool, n + 1),
                      .question = question};
    enum odb_status status = ODB_OK;
    size_t largest = question->largest ? ODB_MIN(question->largest, d.left) : d.left;
    for (size_t size = largest; size > 1 && status == ODB_OK; size = (size + 1) / 2)
        status = ddmin_pass(&d, size, err);
    if (status == ODB_OK)
        status = ddmin_singles(&d, err);
    free(d.trial);
    return status;
}
