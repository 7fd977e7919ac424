/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers on their way into a file: one file at a time, in a job of its own, which goes on whatever
 * is shown meanwhile. The file is there when all of it is written, and only then.
 */
#ifndef ODB_UI_VIEW_SAVING_H
#define ODB_UI_VIEW_SAVING_H

#include <stdbool.h>

#include "base/error.h"

struct odb_buf;
struct odb_tensor;
struct ui_app;
struct ui_saving; /* opaque */

/* What is to be written. */
struct ui_save {
    struct odb_tensor *t[2]; /* reference and target; borrowed, NULL: there is none */
    enum { UI_SAVE_REFERENCE, UI_SAVE_TARGET, UI_SAVE_DIFFERENCE } side;
    bool subtract; /* target - reference can be had, in doubles */
    bool sliced;   /* this is not all of the value */
};

struct ui_saving *ui_saving_new(struct ui_app *app);
void ui_saving_free(struct ui_saving *saving); /* stops what is written; NULL is fine */
/* Begins, or for small ones does it. The form is in the ending of the path; an .npz gets all there
 * is, others the side. ODB_E_USAGE while another file is written. */
enum odb_status ui_saving_begin(struct ui_saving *saving, const struct ui_save *what,
                                const char *path, struct odb_error *err) ODB_MUST_USE;
/* What is being written; NULL: nothing. Borrowed. */
const char *ui_saving_path(const struct ui_saving *saving);
/* Says what became of it, once it has ended. */
void ui_saving_collect(struct ui_saving *saving);
void ui_saving_stop(struct ui_saving *saving);
/* "writing PATH 43 %, 2 s left", when it takes its time. */
void ui_saving_put(const struct ui_saving *saving, struct odb_buf *out);

#endif
