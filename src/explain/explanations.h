/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked of a node that is to be explained, and what is found.
 */
#ifndef ODB_EXPLAIN_EXPLANATIONS_H
#define ODB_EXPLAIN_EXPLANATIONS_H

#include "interpret/cpu.h"
#include "base/mem.h"
#include "run/hooks.h"

struct odb_own_rows; /* own/own_rows.h */
struct odb_curve;    /* measure/curve.h */

/* How well a variant accounts for what the target made. */
#define ODB_FIT_LIST(X)                                                                            \
    X(PARTLY, "partly") /* it takes away 99 % of the error's energy */                             \
    X(CLASS, "class")   /* it agrees within noise, and so do others */                             \
    X(EXACT, "exact")   /* it agrees within its own noise, and no other variant does */

enum odb_fit {
    ODB_FIT_NONE,
#define ODB_FIT_ENUM(id, name) ODB_FIT_##id,
    ODB_FIT_LIST(ODB_FIT_ENUM)
#undef ODB_FIT_ENUM
};
const char *odb_fit_name(enum odb_fit fit); /* NULL: none */
bool odb_fit_parse(enum odb_fit *out, const char *name);

struct odb_explanation {
    char *variant; /* owned: "attribute/dilations=default" */
    char *text;    /* owned: "as if dilations were [1, 1]" */
    enum odb_fit fit;
    double residual; /* largest distance of the target from the variant, over the reference's rms */
    double noise;    /* how far honest computations of the variant are apart, likewise */
    double of;       /* largest distance of the target from the reference, likewise */
    double left;     /* the part of the error's energy that it leaves, 0 to 1 */
    size_t confirmed, refuted; /* other inputs on which it held as well, in place, and did not */
    ODB_VEC(char *) members;   /* owned: variants that the inputs do not tell apart from it */
    ODB_VEC(char *) says;      /* owned: what each of these says; none where that is not known */
    size_t apart;     /* variants that held as well, and not on inputs made to tell them apart */
    const char *made; /* static: how these were made, "32 times as large"; NULL: none were */
    /* Of a class: what would tell its members apart. */
    char *read;   /* owned: a value inside the group, to be read next; NULL: none is known */
    char *inputs; /* owned: how inputs must be made, "32 times as large"; NULL likewise */
    size_t told;  /* members that this tells from the first */
};

/* A variant that was replayed. */
struct odb_trial {
    char *variant, *text; /* owned */
    double left;          /* the part of the error that it leaves; INFINITY: other types, shapes, or
                             NaN elsewhere */
    bool agrees;          /* within noise */
};

struct odb_explanations {
    bool tried;      /* else nothing is known */
    bool right;      /* the node made what its operator says, within noise: nothing was replayed */
    bool unfinished; /* its time was over before all variants were tried */
    bool recorded;   /* nothing could be asked again: what is exact fits this recording */
    char *why_not;   /* owned: why it was not tried, or not to the end; NULL: it was */
    char *where;     /* owned: which elements are wrong, in words; NULL: not known */
    struct odb_curve *curve; /* owned: where no variant fits an elementwise operator, its output
                                over what it was fed; NULL: there is none */
    size_t variants;         /* that were tried by themselves */
    size_t untried;          /* and were not, as less likely than so many of which none agrees */
    size_t pairs;            /* two at once that were tried */
    size_t asked;            /* other inputs that they were put to the test on */
    double seconds;
    ODB_VEC(struct odb_explanation) items; /* the best first */
    ODB_VEC(struct odb_trial) trials;      /* where all are wanted: those that leave least first */
};

/* What a target fed a node, and what that made of it. Tensors are refs. */
struct odb_explain_pair {
    struct odb_tensor **in;    /* owned; [n_in], NULL where omitted */
    struct odb_tensor **out;   /* owned; [n_out], NULL where not had */
    struct odb_tensor **given; /* owned; [n_given] all values of that run; NULL: none */
    size_t n_given;
};
void odb_explain_pair_dispose(struct odb_explain_pair *pair, const struct odb_node *node);

struct odb_explain_question {
    const struct odb_model *model; /* borrowed, as all below */
    const struct odb_cpu *cpu;     /* its plan */
    int node;
    struct odb_tensor *const *in;    /* [n_in] */
    struct odb_tensor *const *out;   /* [n_out] */
    struct odb_tensor *const *given; /* [n_values] other values of the target; NULL: none */
    bool group; /* of nodes that are wrong together: all that they were fed is in given, node is the
                   one of them that computes, and in is not looked at */
    int exit;   /* of a group: the value that comes out, which is out[0] */
    const struct odb_own_rows *own; /* rows of the user's, tried first; NULL: none */
    const char *known; /* only these are tried, by themselves, "OPERATOR:VARIANT" with ;
                          between them; NULL: all are */
    double factor;     /* of the tolerance: so many times the noise is agreement */
    double seconds;    /* at most; 0: no limit */
    size_t most;       /* explanations that are wanted; 0: five */
    bool trials;       /* all that was tried is wanted as well */
    const struct odb_search_hooks *hooks; /* NULL: none */
    /* The same node in the same compiled model on other inputs, number k of them; false: there are
     * no more. NULL: nothing can be asked again. */
    bool (*again)(void *payload, size_t k, struct odb_explain_pair *out);
    /* The node alone, fed with these ([n_in]). NULL: it cannot be asked so. */
    bool (*alone)(void *payload, struct odb_tensor *const *in, struct odb_explain_pair *out);
    void *payload;
};

/* What did the target compute instead? An accused node is replayed on the target's own inputs under
 * the rows of a catalogue of variants (variant.h), by the reference's own kernels, until one gives
 * what the target gave. A variant is judged by noise, as every value is, and then put to the test
 * on other inputs. Explanations never change a verdict.
 *
 * ODB_CANCELLED leaves what was found by then in *out, which is the caller's to dispose of. */
enum odb_status odb_explain(struct odb_explanations *out, const struct odb_explain_question *q,
                            struct odb_error *err) ODB_MUST_USE;

/* Why one that agrees is told as a class: static text that its members follow, if there are any.
 * NULL: it is none. */
const char *odb_explanation_doubt(const struct odb_explanations *all,
                                  const struct odb_explanation *one);

/* Stands between the names of two variants that hold together. */
#define EXPLANATION_PAIR " + "

/* "reading conv_out next would tell them apart", of a class; nothing where that is not known.
 * Appends. */
void odb_explanation_put_next(const struct odb_explanations *all, const struct odb_explanation *one,
                              struct odb_buf *out);

void odb_explanations_dispose(struct odb_explanations *all);

/* The best one as a sentence, "It behaves as if dilations were [1, 1] (…). ", with how sure that
 * is. Where there is none, which elements are wrong; nothing where that is not known either.
 * Appends. */
void odb_explanations_put(const struct odb_explanations *all, struct odb_buf *out);

#endif
