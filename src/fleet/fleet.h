/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Many models on one target, in one file (SQLite) that a run fills and goes on with: each model's
 * verdict and the report of its search. What several failures have in common is causes.h.
 */
#ifndef ODB_FLEET_FLEET_H
#define ODB_FLEET_FLEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"

/* name, word, whether the target is at fault or unfit, what it means; in the order of a summary */
#define ODB_FLEET_LIST(X)                                                                          \
    X(DIVERGES, "diverges", true, "an output is off")                                              \
    X(CRASH, "crash", true, "the target dies of it")                                               \
    X(HANG, "hang", true, "the target does not come to an end")                                    \
    X(REFUSED, "refused", true, "the target does not take it, or not all of its nodes")            \
    X(NONE, "no verdict", false, "nothing can be said of the target")                              \
    X(PASS, "pass", false, "its outputs agree")                                                    \
    X(QUEUED, "not run", false, "it was not asked yet")

enum odb_fleet_verdict {
#define ODB_FLEET_ENUM(name, ...) ODB_FLEET_##name,
    ODB_FLEET_LIST(ODB_FLEET_ENUM)
#undef ODB_FLEET_ENUM
        ODB_FLEET_COUNT
};
const char *odb_fleet_word(enum odb_fleet_verdict verdict);
bool odb_fleet_fails(enum odb_fleet_verdict verdict);

/* How far a model has come. */
enum odb_fleet_stage { ODB_FLEET_NEW, ODB_FLEET_ASKED, ODB_FLEET_SEARCHED };

struct odb_fleet_model {
    char *name; /* owned: its path below the folder, or as the list has it, without the ending:
                   one model in any run, so that two fleets can be compared */
    char *path; /* owned */
    int64_t bytes, changed; /* of the file: nanoseconds since 1970 when it was written */
    enum odb_fleet_stage stage;
    enum odb_fleet_verdict verdict;
    double seconds;   /* of all that was asked of it */
    int64_t compiles; /* distinct models that the target was given for it */
    char *said;     /* owned: why there is no verdict, or the search's first line; NULL: nothing */
    json_t *report; /* owned: of its last search, without values; NULL: there is none */
};

/* What a run made of the smallest member of a cause. */
struct odb_fleet_repro {
    char *cause;  /* owned: its key */
    char *folder; /* owned; NULL: it could not be made */
    char *said;   /* owned: why, or what it shows */
};

struct odb_fleet {
    char *target, *options;                 /* owned: as given; options: words in a line */
    char *root;                             /* owned: the folder or list */
    ODB_VEC(struct odb_fleet_model) models; /* by name */
    ODB_VEC(struct odb_fleet_repro) repros;
    size_t common; /* bytes of all names, which are paths from the root, that name one folder; 0:
                      they are not, or have none in common */
};

#define ODB_FLEET_ENDING ".fleet"

/* A file that is shown on a screen, and what fills it meanwhile. */
struct odb_fleet_shown {
    const char *path; /* borrowed */
    int run;          /* process of the run that was begun with the screen; 0: there is none, or it
                         has ended and was waited for */
    bool given;       /* target and options are from the command line, and not from the file */
    const char *said; /* borrowed: the file that the run writes its messages into; NULL: none */
};

void odb_fleet_dispose(struct odb_fleet *fleet);
/* Takes the models below a folder (files that end in .onnx; links to folders are not followed), or
 * those that a file names, one in a line, seen from its folder; '#' begins a remark. What is known
 * of a file that has not changed stays, and what is not there any more goes. ODB_E_IO; ODB_E_USAGE
 * where there is no model; ODB_E_FORMAT: it is no list. */
enum odb_status odb_fleet_add(struct odb_fleet *fleet, const char *path,
                              struct odb_error *err) ODB_MUST_USE;
/* What all names have in common is known from here on. */
void odb_fleet_see(struct odb_fleet *fleet);
/* A name as it is shown to people: without the folder that all have in common. Borrowed: name. */
const char *odb_fleet_brief(const struct odb_fleet *fleet, const char *name);
struct odb_fleet_model *odb_fleet_find(const struct odb_fleet *fleet, const char *name);
/* What a report of bisect --json and its exit status come to; report NULL: it left none. */
enum odb_fleet_verdict odb_fleet_judge(const json_t *report, int status);
/* Whether what was known of others explains all that is wrong, and nothing more was asked. */
bool odb_fleet_confirmed(const struct odb_fleet_model *model);
/* Takes out of a report what is large and in the session. */
void odb_fleet_trim(json_t *report);
/* FILE.fleet has its sessions and repros in FILE.d; the caller's. */
char *odb_fleet_folder(const char *path);
size_t odb_fleet_count(const struct odb_fleet *fleet, enum odb_fleet_verdict verdict);

#endif
