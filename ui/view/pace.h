/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far a job of the screen's is, and whether it is to go on: the job writes how far it is, the
 * screen reads that and stops the job.
 */
#ifndef ODB_UI_VIEW_PACE_H
#define ODB_UI_VIEW_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct odb_buf;
struct ui_app;

struct ui_pace {
    struct ui_app *app; /* borrowed */
    double began, told; /* of odb_clock() */
    atomic_bool stop;
    atomic_size_t done, total; /* total 0: not known yet */
};

/* Before the job. */
void ui_pace_begin(struct ui_pace *pace, struct ui_app *app);
/* The stop of a struct odb_progress, on the job's thread; payload: the pace. */
bool ui_pace_stop(void *payload, size_t done, size_t total);
/* Asks the job to stop. */
void ui_pace_cancel(struct ui_pace *pace);
/* It takes so long that it is to be reported. */
bool ui_pace_is_long(const struct ui_pace *pace);
/* " 43 %, 2 s left"; nothing while it is not known. */
void ui_pace_put(const struct ui_pace *pace, struct odb_buf *out);

#endif
