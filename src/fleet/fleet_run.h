/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fleet on its way: every model is asked by a debugger of its own, so that one that brings that
 * down, or takes for ever, stops no other. First all models run as they are, the smallest first;
 * then those that fail are searched, the quickest first; then each cause gets a small model that
 * shows it. What is done is in the file, and a run that is stopped or killed goes on from there.
 */
#ifndef ODB_FLEET_FLEET_RUN_H
#define ODB_FLEET_FLEET_RUN_H

#include "executor/transport/program.h"
#include "fleet/fleet_file.h"
#include "run/budget.h"

struct odb_fleet_run {
    struct odb_fleet *fleet;
    struct odb_fleet_file *file;
    const char *folder;                 /* for sessions and repros, made when needed */
    const struct odb_argv *words;       /* options of every search, the target among them */
    const struct odb_argv *repro_words; /* and of what makes a model small */
    const char *known;                  /* borrowed: what another run has found, as `bisect --known`
                                           takes it; "": nothing */
    size_t workers;                     /* models at once */
    bool repros;
    struct odb_budget *budget;        /* seconds and models compiled, for all together */
    bool (*cancelled)(void *payload); /* asked now and then; NULL: never */
    /* So many of this part are done, the last of them this one; "": none yet. Optional. */
    void (*progress)(void *payload, const char *part, size_t done, size_t total, const char *name);
    void *payload;
};

/* ODB_E_IO: another process is at it. ODB_CANCELLED: it was stopped; ODB_SKIPPED: the budget is
 * spent; both leave what is done. */
enum odb_status odb_fleet_run(struct odb_fleet_run *run, struct odb_error *err) ODB_MUST_USE;
/* The session of a model's search; the caller's. */
char *odb_fleet_session(const char *folder, const struct odb_fleet *fleet,
                        const struct odb_fleet_model *model);
/* The last line that a debugger has written into a file, without the program's name; NULL: none.
 * The caller's. */
char *odb_fleet_last_line(const char *path);

#endif
