/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One random call of one operator: what versus.c makes models of. A row of a table names the
 * operator, how its inputs are drawn and which attributes it may have; the drawing functions stand
 * in the ops_*.c files, what they share in draw.c. All that is drawn depends on the seed alone.
 */
#ifndef ODB_TESTS_VERSUS_H
#define ODB_TESTS_VERSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "kernels/core/kern.h"
#include "model/write/build.h"

enum { VS_INPUTS = 32, VS_ATTRS = 40, VS_LIST = 64, VS_RANK = 8, VS_OPSET = 22 };

struct draw;

/* One operator. */
struct row {
    const char *op;               /* "com.microsoft::Gelu" */
    void (*draw)(struct draw *d); /* adds inputs, and attributes that hang on shapes; NULL: one
                                     tensor of any shape */
    /* Words "name=choice|choice", where a choice is 3, 0.5f, word, 1,2, (ints), 1f,2f, (floats),
     * a;b; (strings), - (left out), @ (an axis of the first input) or @@ (that, or its end). */
    const char *attrs;
    uint32_t types; /* of the first input; 0: what the reference's row allows */
    double lo, hi;  /* of numbers; both 0: -3 to 3 */
    double tol;     /* relative to the root mean square; 0: as the reference's row says */
    int from, to;   /* versions of ai.onnx; 0: all */
    bool tame;      /* no NaN, Inf, and other extremes */
    bool full;      /* no dimension is 0 */
};

extern const struct row vs_math_rows[], vs_shape_rows[], vs_nn_rows[], vs_quant_rows[],
    vs_ml_rows[], vs_contrib_rows[], vs_control_rows[]; /* end with a NULL op */

struct dims {
    int rank;
    int64_t d[VS_RANK];
};

struct draw_attr {
    const char *name; /* owned */
    enum odb_attr_type type;
    size_t n;
    int64_t ints[VS_LIST];
    float floats[VS_LIST];
    char *text;                /* owned; strings: separated by spaces */
    struct odb_tensor *tensor; /* owned */
    struct odb_builder *body;  /* owned until the model is made */
};

struct draw {
    const struct row *row;
    uint64_t state;
    int opset;
    int version;          /* of the operator: the opset version that its definition is from */
    enum odb_dtype dtype; /* of the first input */
    bool empty, extreme;  /* some dimensions may be 0; some values NaN, Inf, … */
    bool exact;           /* the operator moves, chooses, or counts in integers */
    struct odb_tensor *in[VS_INPUTS]; /* owned; NULL: omitted */
    bool weight[VS_INPUTS];           /* an initializer, not fed */
    enum odb_kind wrap[VS_INPUTS];
    int n_in, n_out;
    bool no_out[16]; /* omitted outputs */
    struct draw_attr attrs[VS_ATTRS];
    size_t n_attrs;
};

/* --- numbers --------------------------------------------------------------------------------- */

uint64_t vs_bits(struct draw *d);
int64_t vs_int(struct draw *d, int64_t lo, int64_t hi); /* both included; lo where hi is less */
bool vs_chance(struct draw *d, int percent);
double vs_real(struct draw *d, double lo, double hi);
const char *vs_word(struct draw *d, const char *words); /* one of those between bars; "" is none */

/* --- shapes ---------------------------------------------------------------------------------- */

struct dims vs_dims(struct draw *d, int rank_lo, int rank_hi, int64_t dim_hi);
struct dims vs_shape(int rank, const int64_t *dims);
#define VS_DIMS(...)                                                                               \
    vs_shape((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define VS_SCALAR ((struct dims){0})
int64_t vs_count(const struct dims *dims);
/* One that broadcasts to full. */
struct dims vs_part(struct draw *d, struct dims full);
/* Of input i. */
struct dims vs_dims_of(const struct draw *d, int i);
int vs_axis(struct draw *d, int rank); /* from -rank to rank - 1 */

/* --- inputs ---------------------------------------------------------------------------------- */

/* A new tensor, the caller's. */
struct odb_tensor *vs_tensor(struct draw *d, enum odb_dtype dtype, struct dims dims, double lo,
                             double hi);
/* Adds one as the next input; vs_in() in the row's range and the case's type. */
struct odb_tensor *vs_in(struct draw *d, struct dims dims);
struct odb_tensor *vs_in_range(struct draw *d, enum odb_dtype dtype, struct dims dims, double lo,
                               double hi);
struct odb_tensor *vs_in_ints(struct draw *d, enum odb_dtype dtype, size_t n, const int64_t *v);
struct odb_tensor *vs_in_scalar(struct draw *d, enum odb_dtype dtype, double v);
void vs_in_none(struct draw *d);
void vs_take(struct draw *d, struct odb_tensor *t); /* as the next input; owned from now on */

/* --- attributes ------------------------------------------------------------------------------ */

void vs_attr_int(struct draw *d, const char *name, int64_t v);
void vs_attr_ints(struct draw *d, const char *name, size_t n, const int64_t *v);
void vs_attr_float(struct draw *d, const char *name, double v);
void vs_attr_floats(struct draw *d, const char *name, size_t n, const float *v);
void vs_attr_string(struct draw *d, const char *name, const char *v);
void vs_attr_strings(struct draw *d, const char *name, const char *words);
void vs_attr_tensor(struct draw *d, const char *name, struct odb_tensor *t); /* takes t over */
void vs_attr_body(struct draw *d, const char *name, struct odb_builder *body);
/* As in struct row. */
void vs_attrs(struct draw *d, const char *words);
/* The integer that was drawn, or the fallback. */
int64_t vs_drawn(const struct draw *d, const char *name, int64_t fallback);
/* The same of item i of a list. */
int64_t vs_drawn_item(const struct draw *d, const char *name, size_t i, int64_t fallback);
const char *vs_drawn_text(const struct draw *d, const char *name, const char *fallback);

/* --- the case -------------------------------------------------------------------------------- */

void vs_draw(struct draw *d, const struct row *row, uint64_t seed);
void vs_draw_free(struct draw *d);
/* The model; the names of its inputs are "i0", "i1", …, of its outputs "o0", …. */
void vs_model(struct draw *d, struct odb_buf *out);
/* "Gather-13 axis=1 | float[2,3] int64[4]" */
void vs_describe(const struct draw *d, struct odb_buf *out);

#endif
