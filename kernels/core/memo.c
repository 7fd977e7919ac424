/* SPDX-License-Identifier: MIT
 *
 * A list that only grows, so that reading it needs no lock. It holds a few entries at most.
 */
#include "kernels/core/memo.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

struct odb_memo_entry {
    struct odb_memo_entry *next;
    odb_memo_free_fn free_fn;
    uint64_t number;
    void *what; /* owned */
};

/* Among the entries from `entry` on, before `end`. */
static void *memo_look(const struct odb_memo_entry *entry, const struct odb_memo_entry *end,
                       odb_memo_free_fn free_fn, uint64_t number)
{
    for (; entry != end; entry = entry->next)
        if (entry->free_fn == free_fn && entry->number == number)
            return entry->what;
    return NULL;
}

void *odb_memo_find(const struct odb_memo *memo, odb_memo_free_fn free_fn, uint64_t number)
{
    return memo_look(atomic_load_explicit(&memo->first, memory_order_acquire), NULL, free_fn,
                     number);
}

void *odb_memo_keep(struct odb_memo *memo, odb_memo_free_fn free_fn, uint64_t number, void *what)
{
    struct odb_memo_entry *entry = odb_new(struct odb_memo_entry), *seen = NULL;
    *entry = (struct odb_memo_entry){NULL, free_fn, number, what};
    while (!atomic_compare_exchange_weak(&memo->first, &entry->next, entry)) {
        void *other = memo_look(entry->next, seen, free_fn, number);
        seen = entry->next;
        if (!other)
            continue;
        free_fn(what);
        free(entry);
        return other;
    }
    return what;
}

void odb_memo_dispose(struct odb_memo *memo)
{
    struct odb_memo_entry *entry = atomic_exchange(&memo->first, NULL), *next;
    for (; entry; entry = next) {
        next = entry->next;
        entry->free_fn(entry->what);
        free(entry);
    }
}
