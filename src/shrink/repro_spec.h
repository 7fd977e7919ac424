/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An executor as the page of a repro names it. A spec may name files as they are seen from where
 * the repro was made, which is not the folder that its command is given in: either they are copied
 * into that, or the page has a variable in the place of the spec.
 */
#ifndef ODB_SHRINK_REPRO_SPEC_H
#define ODB_SHRINK_REPRO_SPEC_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

#define ODB_REPRO_TARGET "target" /* the folder of copies */

struct odb_repro_spec {
    char *given;   /* owned: as the user gave it */
    char *used;    /* owned: to be opened from here */
    char *shown;   /* owned: to be opened from the repro's folder; NULL: it names files that are not
                      there */
    size_t copied; /* files */
};

/* dir: the folder of the repro, into which files are copied that the spec names, but for those of
 * the system; NULL: none are. */
enum odb_status odb_repro_spec_make(struct odb_repro_spec *out, const char *spec, const char *dir,
                                    struct odb_error *err) ODB_MUST_USE;
void odb_repro_spec_dispose(struct odb_repro_spec *spec);
/* The word that a shell takes for it: quoted, or "$VARIABLE". */
void odb_repro_spec_put(const struct odb_repro_spec *spec, const char *variable,
                        struct odb_buf *out);
/* Where a variable stands for it, the line that says what to put there. what: "the target". */
void odb_repro_spec_explain(const struct odb_repro_spec *spec, const char *variable,
                            const char *what, struct odb_buf *out);

#endif
