/* SPDX-License-Identifier: MIT
 *
 * Files as memory. A program that shortens a file that is mapped takes pages from under its
 * readers: touching one is a SIGBUS, and there is no reading on. So every file is mapped here, and
 * it can be said which one it was.
 */
#ifndef ODB_SYSTEM_MAPPING_H
#define ODB_SYSTEM_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct odb_mapping {
    void *data; /* owned; to be read only; NULL: there is nothing in the file */
    size_t size;
    char *name; /* owned; for messages: shown safely */
    struct odb_mapping *next, *before;
};

/* The first size bytes of a file, which is as long as that at least; fd may be closed. m must not
 * move until odb_mapping_close(). ODB_E_IO, without a name in it. */
enum odb_status odb_mapping_open(struct odb_mapping *m, int fd, size_t size, const char *name,
                                 struct odb_error *err) ODB_MUST_USE;
/* All zeros is fine. */
void odb_mapping_close(struct odb_mapping *m);

/* Whether a file that is mapped has become shorter, so that what was had from it is not to be
 * trusted; err then is ODB_E_IO and tells which. */
bool odb_mapping_lost(struct odb_error *err);

/* From now on a SIGBUS at such a place is one line on standard error and ODB_MAPPING_STATUS,
 * temporary files removed; any other is what it was. For main(). */
#define ODB_MAPPING_STATUS 3
void odb_mapping_watch(void);

#endif
