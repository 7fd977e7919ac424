/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What finding test cases, running one and counting them have in common.
 */
#ifndef ODB_COMMAND_VERBS_VERIFY_CHECK_INT_H
#define ODB_COMMAND_VERBS_VERIFY_CHECK_INT_H

#include <jansson.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "compare/criterion.h"
#include "interpret/cpu.h"

enum check_outcome {
    CHECK_NOT_RUN,
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_UNSUPPORTED,
    CHECK_NO_GOLDEN,
    CHECK_OUTCOMES
};

/* How every case is run and judged. */
struct check_rules {
    const char *target; /* borrowed; NULL: the reference, in this process */
    struct odb_criterion tolerance;
    bool own_tolerance; /* given by --tol */
};

/* Of one case; in shared memory. */
struct check_result {
    enum check_outcome outcome;
    bool measured;  /* some output was compared by numbers */
    double error;   /* the largest max|e-b| / rms(b) of its outputs; inf where NaN, Inf or text is
                       not the same */
    char text[500]; /* why it did not pass; "" */
    size_t names_at, names_size; /* check__operators()' bytes, in the file that holds all */
};

bool check__exists(const char *dir, const char *name);

/* Runs the data set in dir and judges its outputs, of which there is one at least. */
void check__case(struct check_result *result, const struct check_rules *rules,
                 const struct odb_model *model, const struct odb_cpu *cpu, const char *dir);
/* Adds the model's operators to names, each once: "Relu", "DOMAIN::OP", each with its NUL. They are
 * those of the main graph, of bodies, and of the functions that are called, whose calls count as
 * operators too. */
void check__operators(struct odb_buf *names, const struct odb_model *model);

/* How the cases of an operator went. */
struct check_operator {
    char *name; /* owned: "Relu", "DOMAIN::OP" */
    size_t n[CHECK_OUTCOMES];
    bool measured;
    double error;      /* the worst of its cases, as above */
    const char *where; /* the case that is from; borrowed */
};

/* A summary of cases by the operators in them. */
struct check_tally {
    ODB_VEC(struct check_operator) rows;
    struct odb_map *by_name; /* owned; place in rows until they are sorted */
};

/* Counts a case for each of its operators: names is where names_at counts from. where: its folder,
 * which stays the caller's. */
void check_tally__add(struct check_tally *tally, const struct check_result *result,
                      const char *names, const char *where);
/* Those with failures first, by the share that failed; then those with cases that are not
 * supported; else by name. */
void check_tally__sort(struct check_tally *tally);
void check_tally__print(const struct check_tally *tally, struct odb_buf *out);
/* New reference: an array of rows. */
json_t *check_tally__json(const struct check_tally *tally);
void check_tally__dispose(struct check_tally *tally);

#endif
