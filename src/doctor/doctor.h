/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What works on this machine, by trying it: a target runs a model of one node, in its child as
 * ever, and must give the right numbers in time. What is not there has the command that gets it.
 */
#ifndef ODB_DOCTOR_DOCTOR_H
#define ODB_DOCTOR_DOCTOR_H

#include "base/error.h"
#include "base/mem.h"

#define ODB_DOCTOR_SECONDS 30 /* that a target may take; it is ended then */

/* A row: id, name. */
#define ODB_DOCTOR_STATE_LIST(X)                                                                   \
    X(WORKS, "works")     /* it ran the model, or opened a recording */                            \
    X(MISSING, "missing") /* something that it needs is not here */                                \
    X(FAILS, "fails")     /* all is here, and it does not run the model, or gives wrong numbers */ \
    X(YOURS, "yours")     /* only the user can name what it is to run */

enum odb_doctor_state {
#define ODB_DOCTOR_ENUM(id, name) ODB_DOCTOR_##id,
    ODB_DOCTOR_STATE_LIST(ODB_DOCTOR_ENUM)
#undef ODB_DOCTOR_ENUM
};
const char *odb_doctor_state_name(enum odb_doctor_state state);

struct odb_doctor_target {
    enum odb_doctor_state state;
    char *spec;     /* owned: as it was tried; of YOURS how it is written */
    char *found;    /* owned: what it says of itself, and where it is; NULL: nothing */
    char *why;      /* owned: what is missing or failed, with a way out; NULL: nothing is */
    char *get;      /* owned: the command that gets it; NULL: there is none */
    double seconds; /* that the trial took; 0: there was none */
};
/* Tries the target of a spec. ODB_E_USAGE: it is malformed, or of no kind; all else is a state. */
enum odb_status odb_doctor_try(struct odb_doctor_target *out, const char *spec,
                               struct odb_error *err) ODB_MUST_USE;
void odb_doctor_target_dispose(struct odb_doctor_target *target);

/* Something about the machine. */
struct odb_doctor_item {
    const char *what; /* static: "memory" */
    bool fine;
    char *text; /* owned */
    char *way;  /* owned: what to do, where it is not fine; else NULL */
};
struct odb_doctor_items {
    ODB_VEC(struct odb_doctor_item) list;
};
/* Terminal, processor, memory, temporary folder, manual, files. out: the descriptor that the
 * results go to. */
void odb_doctor_machine(struct odb_doctor_items *items, int out);
/* Whether a file of the user's is his alone to write; NULL path: he has no home. */
void odb_doctor_file(struct odb_doctor_items *items, const char *what, const char *path);
void odb_doctor_items_dispose(struct odb_doctor_items *items);

#endif
