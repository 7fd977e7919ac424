/* SPDX-License-Identifier: MIT
 *
 * What may take seconds, because it looks at all of a large tensor or writes it, says how far it is
 * and asks whether to go on.
 */
#ifndef ODB_BASE_PROGRESS_H
#define ODB_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct odb_progress {
    /* True: stop. Called every few million elements or bytes, on the thread that does the work. */
    bool (*stop)(void *payload, size_t done, size_t total);
    void *payload;
};

/* ODB_CANCELLED when it is to stop; progress may be NULL. */
static inline enum odb_status odb_progress_step(const struct odb_progress *progress, size_t done,
                                                size_t total, struct odb_error *err)
{
    if (progress && progress->stop(progress->payload, done, total))
        return odb_fail(err, ODB_CANCELLED, "cancelled");
    return ODB_OK;
}

#endif
