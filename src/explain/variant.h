/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The catalogue: ways in which a node may have been computed otherwise. A row has one idea ("an
 * optional input is missing") and several choices (which one). A choice changes the call before it
 * runs, or its outputs afterwards, or makes the outputs itself.
 *
 * Families, each a file and an array of rows: own, attribute, input, number, output, elsewhere.
 * Rows stand in the order of likelihood, and those without fitted numbers before those with them.
 */
#ifndef ODB_EXPLAIN_VARIANT_H
#define ODB_EXPLAIN_VARIANT_H

#include "explain/accused.h"

#define VARIANT_LIST 64 /* numbers that a choice carries */

struct variant_row;

/* One choice of a row, with what it needs to be run on any inputs of the node. */
struct variant {
    const struct variant_row *row; /* static */
    size_t choice;                 /* of the row */
    size_t place;                  /* of a group: the node whose call is changed */
    int node;                      /* that is; ODB_NO_NODE: there is no group */
    struct odb_buf name, text;     /* "dilations=default" behind the row's name; "as if …" */
    struct variant *under;         /* owned: of a pair, what is changed before; NULL: it is none */
    int fitted;                    /* row->fitted, unless a choice has fitted more or less; of a
                                      pair, of both */
    int at, other;                 /* an input, output, axis or value, as the row says */
    int64_t ints[VARIANT_LIST];
    size_t n;
    double a, b;
    double *list; /* owned; [n_list] fitted, one number for each place on an axis */
    size_t n_list;
    enum odb_dtype dtype;
    struct odb_attr attr; /* what is put in place of the node's; its lists point into here */
    const char *word;     /* borrowed: static, or the model's */
};

/* A call while it is changed: copies of its attributes and operands. */
struct change {
    struct odb_call *call;
    struct odb_attr *attrs;            /* owned */
    const struct odb_tensor **in;      /* owned array; what was put in is held in made */
    ODB_VEC(struct odb_tensor *) made; /* owned refs */
    int64_t *ints; /* [2 * VARIANT_LIST] room for a list that is worked out from the call */
    int64_t room[2][2 * VARIANT_LIST]; /* of both of a pair */
    odb_f32 floats[2 * VARIANT_LIST];  /* room for lists of those */
};

enum choice { CHOICE_END, CHOICE_SKIP, CHOICE_MADE };

struct variant_row {
    const char *ops;  /* "Conv|MaxPool", of any domain; "" for any operator */
    const char *name; /* "attribute/default" */
    /* Choice k for this call: fills name, text and parameters. */
    enum choice (*choose)(const struct accused *s, size_t k, struct variant *v);
    /* Changes the call. NULL: it stays. */
    enum odb_status (*change)(const struct variant *v, const struct accused *s, struct change *c,
                              struct odb_error *err);
    /* Changes what was made: out[] is the changed call's, else the reference's. NULL: it stays. */
    enum odb_status (*result)(const struct variant *v, const struct accused *s,
                              struct odb_tensor **out, struct odb_error *err);
    bool makes; /* result() computes the outputs from the inputs: nothing is replayed */
    int fitted; /* how much was fitted to the target's outputs: of two that hold, the one with more
                   says no more. 0: nothing */
    bool order; /* an operand is read in another order: of a group, only what computes has that. Of
                   the family output: a layout, which what is handed on in a group may have */
};

/* Families, ended by a row without a name. */
extern const struct variant_row variants_own[], variants_attribute[], variants_input[],
    variants_number[], variants_output[], variants_elsewhere[], variants_quantised[];

/* Whether the node, in a group, multiplies what is dequantised: its sums are those of integers. */
bool quantised_is_product(const struct accused *s);

/* Whether an operator is one of "A|B"; "" has all. */
bool variant_is_for(const char *ops, const char *op_type);

/* Calls fn for each choice of each row that is for this operator, in order, until it says stop or
 * the catalogue ends. A choice is the callee's when take says so. */
typedef bool variant_each_fn(void *payload, struct variant *v, bool *take);
void variant_each(const struct accused *s, variant_each_fn *fn, void *payload);
/* Whether a variant, or one of a pair, computes outputs without a kernel; changes what was made. */
bool variant_makes(const struct variant *v);
bool variant_results(const struct variant *v);
/* Choice k of a row for this call; NULL: it makes none. The caller's. */
struct variant *variant_choice(const struct accused *s, const struct variant_row *row, size_t k,
                               enum choice *choice);
/* Names choice k of a table, whose entry has these words. */
enum choice variant_made(struct variant *v, size_t k, const char *name, const char *text);
/* Whether this variant of the call's operator, or (whole false) one whose name begins so, is among
 * those of the question that are known, which has some. */
bool variant_is_known(const struct accused *s, const char *name, bool whole);
/* The choice of this name (variant_name()); NULL: there is none. The caller's. */
struct variant *variant_find(const struct accused *s, const char *name);
/* The same choice for this call; NULL: it makes none. The caller's. */
struct variant *variant_again(const struct accused *s, const struct variant *of);
void variant_free(struct variant *v);
/* "attribute/dilations=default"; of a group, "attribute/dilations=default of #12". Owned by the
 * caller. */
char *variant_name(const struct variant *v);
/* "as if dilations were [1, 1]"; of a group, ", in #12 conv1 (Conv)" behind it. Owned by the
 * caller. */
char *variant_text(const struct variant *v, const struct odb_graph *graph);

/* Runs a variant on a subject in a precision; out: [n_out], the caller's. ODB_SKIPPED: it says
 * nothing of such inputs. */
enum odb_status variant_run(const struct variant *v, const struct accused *s,
                            enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                            struct odb_error *err) ODB_MUST_USE;

/* Its two halves, for a node alone or one of a group: the call, changed; and what then becomes of
 * its outputs. */
enum odb_status variant_replay(const struct variant *v, const struct accused *s,
                               enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                               struct odb_error *err) ODB_MUST_USE;
enum odb_status variant_finish(const struct variant *v, const struct accused *s,
                               struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

/* --- changing a call -------------------------------------------------------------------------- */

/* Gives a call copies of its attributes and operands; they live until the end. */
void change_begin(struct change *c, const struct accused *s, struct odb_call *call);
void change_end(struct change *c);
/* The attribute of this name becomes attr, or is added. attr's lists must outlive the run. */
void change_attr(struct change *c, const struct odb_attr *attr);
void change_drop_attr(struct change *c, const char *name);
void change_ints(struct change *c, const char *name, const int64_t *ints, size_t n);
/* Operand i becomes t, which is taken; NULL: it is omitted. */
void change_input(struct change *c, int i, struct odb_tensor *t);

/* --- what rows ask of a call ------------------------------------------------------------------ */

/* Its attribute; NULL: the node has none of this name. */
const struct odb_attr *accused_attr(const struct accused *s, const char *name);
/* An integer attribute, or what the row has as its default, else fallback. */
int64_t accused_int(const struct accused *s, const char *name, int64_t fallback);
double accused_float(const struct accused *s, const char *name, double fallback);
/* Input i, where it is a tensor with data; else NULL. */
const struct odb_tensor *accused_in(const struct accused *s, int i);
/* "input B (conv1.bias)". Appends. */
void accused_put_input(const struct accused *s, int i, struct odb_buf *out);

/* --- making tensors --------------------------------------------------------------------------- */

/* Like t, element i being fn(payload, index of i, its number). t may be of any type of numbers. */
enum odb_status tensor_map(struct odb_tensor **out, const struct odb_tensor *t,
                           double (*fn)(const void *payload, size_t i, double v),
                           const void *payload, struct odb_error *err) ODB_MUST_USE;
/* Like t, element i being f(its number). */
enum odb_status tensor_apply(struct odb_tensor **out, const struct odb_tensor *t,
                             double (*f)(double x), struct odb_error *err) ODB_MUST_USE;
/* Of this shape, with element i being element from(payload, i) of t; below 0: zero. Any type but
 * strings of whole bytes. */
enum odb_status tensor_gather_into(struct odb_tensor **out, const struct odb_tensor *t, int rank,
                                   const int64_t *dims,
                                   int64_t (*from)(const void *payload, size_t i),
                                   const void *payload, struct odb_error *err) ODB_MUST_USE;
/* The same of t's shape. */
enum odb_status tensor_gather(struct odb_tensor **out, const struct odb_tensor *t,
                              int64_t (*from)(const void *payload, size_t i), const void *payload,
                              struct odb_error *err) ODB_MUST_USE;
/* With the axes permuted: out's axis k is t's axis perm[k]. */
enum odb_status tensor_transpose(struct odb_tensor **out, const struct odb_tensor *t,
                                 const int *perm, struct odb_error *err) ODB_MUST_USE;
/* The bytes of t, which hold a tensor of t's shape with its axes in the order perm, read as such:
 * axis perm[k] of the tensor in memory comes k-th. The result has t's shape. */
enum odb_status tensor_misread(struct odb_tensor **out, const struct odb_tensor *t, const int *perm,
                               struct odb_error *err) ODB_MUST_USE;
/* Puts t in the place of *slot, whose reference is given up. */
void tensor_replace(struct odb_tensor **slot, struct odb_tensor *t);
/* Elements before and behind axis, and along it. */
void tensor_around(const struct odb_tensor *t, int axis, size_t *outer, size_t *n, size_t *inner);

#endif
