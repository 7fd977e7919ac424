/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One alignment, as the files align*.c share it.
 */
#ifndef ODB_TWOMODELS_ALIGN_INT_H
#define ODB_TWOMODELS_ALIGN_INT_H

#include "twomodels/align.h"
#include "kernels/core/facts.h"

#define ALIGN_CHAIN 8       /* nodes that may be folded into the one before them */
#define ALIGN_INPUTS 8      /* of a call, as its normal form has them */
#define ALIGN_CANDIDATES 64 /* readers of a value that are looked at */

struct align {
    const struct odb_align_sides *s;
    const struct odb_graph *a, *b; /* the original, the other */
    struct odb_alignment *out;
    bool *stop_a, *stop_b;   /* owned; values that have a partner */
    bool *opaque;            /* owned; [values of b] in a layout of their own */
    bool *taken;             /* owned; [nodes of a] some node of b does the same */
    bool *marks_a, *marks_b; /* owned: scratch of regions */
    int *border_a, *border_b;
    bool numbers_agree; /* names that are but numbers have meant the same so far */
};

/* A node in its normal form. */
struct align_call {
    const char *op, *domain;
    int in[ALIGN_INPUTS], n_in;
};

enum align_slot { ALIGN_NO, ALIGN_UNKNOWN, ALIGN_YES, ALIGN_CONSTANT, ALIGN_ALIKE };

/* How two calls fit. */
struct align_fit {
    bool possible;                   /* the same operator, and no input against it */
    int yes, unknown, differ, alike; /* inputs; constants that differ and that do not */
    bool swapped;
};

/* --- align_graph.c ---------------------------------------------------------------------------- */

/* Whether the words, each between blanks, hold this one. */
bool align_holds(const char *words, const char *word);
/* Whether a node only carries its first input on. */
bool align_carries(const struct odb_node *node);
/* The node that carries a value on from another; NULL: it is made. */
const struct odb_node *align_carrier(const struct odb_graph *g, int v);
/* The value that another carries on, or itself. */
int align_root(const struct odb_graph *g, int v);
/* The operator that a fused one begins with; others are their own. */
const char *align_head(const char *op);
/* What a node comes to: quantised operators are the ones that they stand for. */
struct align_call align_call(const struct odb_node *node);
/* Whether the order of two inputs does not matter. */
bool align_commutes(const char *op);
/* Which operators read a value, in one order for all: the caller's to free(). */
char *align_signature(const struct odb_graph *g, int v);
/* The next value of a chain: what the one node that reads v makes of it and of constants. */
int align_next(const struct odb_graph *g, int v);
/* Nodes that read a value, through what carries it on. Returns how many. */
int align_consumers(const struct odb_graph *g, int v, int *list, int n);

/* --- align_pair.c ----------------------------------------------------------------------------- */

/* See odb_align_sides; NAN: not known. */
double align_gap(const struct align *al, int u, int w);
/* Whether that is no difference. */
bool align_near(const struct align *al, double gap);
/* What both have alike, and not by chance. */
bool align_equals(const struct align *al, int u, int w);
/* Whether neither has a partner, and both may have one. */
bool align_free(const struct align *al, int u, int w);
/* Makes them a pair, unless something speaks against it. */
bool align_pair(struct align *al, int u, int w, enum odb_paired how, double confidence);
/* The partner of what a value of the other carries; ODB_NO_VALUE: it has none. */
int align_partner(const struct align *al, int w);
/* Whether some value of w's class has a partner, before it or behind it. */
bool align_has_partner(const struct align *al, int w);
/* Whether the same operators read both. */
bool align_same_readers(const struct align *al, int u, int w);
/* Whether both values are made of the very same partners. */
bool align_same_border(struct align *al, int u, int w);

/* --- align_fit.c ------------------------------------------------------------------------------ */

/* What an input of a node of each means to the other. */
enum align_slot align_slot(const struct align *al, int x, int y);
/* Nodes n of the original and m of the other. */
struct align_fit align_fit(const struct align *al, int n, int m);
/* Attributes that both have are the same. */
bool align_same_attrs(const struct odb_node *x, const struct odb_node *y);
/* Which of several fits is the better one. */
int align_score(const struct align *al, const struct align_fit *fit, int n, int m);

/* --- align_names.c ---------------------------------------------------------------------------- */

/* Whether pairs that were found in other ways have the same number for a name, where they have
 * numbers at all: both models count alike then, and no value has by chance the name of another. */
void align_ask_numbers(struct align *al);
/* Pairs whatever has the same name, as far as nothing speaks against it. */
void align_names(struct align *al);

/* --- align_structure.c ------------------------------------------------------------------------ */

/* The first input of a node that has a partner: the value itself; ODB_NO_VALUE. */
int align_known_input(const struct align *al, int m);
/* Whether what two nodes read may be one value: made alike, as far as that is known, or read alike
 * by all. Where a node reads a wrong value, both it and the right one have other readers. */
bool align_agree(const struct align *al, int x, int y);
/* Round by round, as long as there is something new. */
void align_structure(struct align *al);

/* --- align_fused.c ---------------------------------------------------------------------------- */

/* What a node may be fused of; NULL: of nothing. */
const struct odb_fusion *align_fusion(const struct odb_node *node);
/* Whether the node that alone reads u, beside constants, may be folded into the one that makes w.
 */
bool align_foldable(const struct align *al, int u, int w);
/* Whether u is made before something that is folded into what makes w: it is read by what may be
 * folded and w is not, and the weights are others. */
bool align_before_fold(const struct align *al, int u, int w);
/* What goes into a fused node, where its weight is that of the node that it begins with. */
bool align_fused_input(struct align *al, int m);
/* Pairs what a fused node makes with the end of the one pattern that it may stand for. */
bool align_fused(struct align *al, int m);

#endif
