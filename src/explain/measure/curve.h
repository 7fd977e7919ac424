/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an elementwise operator of a target made, as a function of its one operand that varies: in
 * pieces, on each of which it follows the reference, is constant (a clamp), straight, or off. Where
 * two pieces meet is a knot.
 */
#ifndef ODB_EXPLAIN_MEASURE_CURVE_H
#define ODB_EXPLAIN_MEASURE_CURVE_H

#include "base/buf.h"
#include "base/mem.h"

#define CURVE_POINTS 200 /* that are kept to draw, at most */

/* Kinds of pieces, in JSON and of those that reach equally far in the order of preference. */
#define ODB_CURVE_LIST(X)                                                                          \
    X(FOLLOWS, "follows")   /* y is the reference's */                                             \
    X(CONSTANT, "constant") /* y = b, which may be NaN or infinite */                              \
    X(LINE, "line")         /* y = a x + b */                                                      \
    X(OFFSET, "offset")     /* y = reference + b */                                                \
    X(FACTOR, "factor")     /* y = a reference */                                                  \
    X(OTHER, "other")       /* none of these */

enum odb_curve_kind {
#define ODB_CURVE_ENUM(id, name) ODB_CURVE_##id,
    ODB_CURVE_LIST(ODB_CURVE_ENUM)
#undef ODB_CURVE_ENUM
};
const char *odb_curve_kind_name(enum odb_curve_kind kind);
enum odb_curve_kind odb_curve_kind_parse(const char *name); /* OTHER where it is none */

struct odb_curve_point {
    double x, y, r; /* operand, target, reference */
};

struct odb_curve_piece {
    enum odb_curve_kind kind;
    size_t n;                    /* values of x in it */
    double from, to;             /* the first of them and the last */
    double a, b;                 /* what its kind says */
    struct odb_curve_point most; /* where it is farthest from the reference */
    bool above, below;           /* it is, somewhere */
};

/* How y depends on x. */
enum odb_curve_shape {
    ODB_CURVE_DRAWN,
    ODB_CURVE_SEVERAL, /* it does not: some x have several y */
    ODB_CURVE_JUMPS    /* no x has, and neighbours have y that are far apart */
};

struct odb_curve {
    enum odb_curve_shape shape;
    int input;                              /* of the node: the operand that is x */
    size_t distinct;                        /* values of x */
    size_t several;                         /* of them that have several y */
    size_t every;                           /* of so many elements one was looked at */
    ODB_VEC(struct odb_curve_piece) pieces; /* of finite x, ascending; where it is drawn */
    ODB_VEC(struct odb_curve_point) odd;    /* x that are NaN or infinite */
    ODB_VEC(struct odb_curve_point) points; /* to draw: CURVE_POINTS at most, ascending */
    char *text;                             /* owned: all that in words */
};

/* Elements of one call, and how far honest ones may be apart. */
struct odb_curve_of {
    struct odb_curve_point *points; /* [n]; they are sorted */
    size_t n, every;
    double tolerance; /* absolute */
    double eps;       /* and so much of a number */
};

/* NULL: there is nothing to see. The caller's. */
struct odb_curve *odb_curve_make(const struct odb_curve_of *of);
void odb_curve_free(struct odb_curve *curve);

/* Where a piece begins that has another before it: of the numbers between them, the one with the
 * fewest digits. */
double odb_curve_knot(const struct odb_curve *curve, size_t piece);

/* "y(x): follows the reference for x < 3, is constant 6 for x >= 3". Appends. */
void odb_curve_put(const struct odb_curve *curve, struct odb_buf *out);
/* Draws it in lines of so many columns: the reference is '.', the target '*'. Appends. */
void odb_curve_plot(const struct odb_curve *curve, int cols, int rows, struct odb_buf *out);

#endif
