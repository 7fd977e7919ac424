/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the kinds of generated models are put together from.
 */
#ifndef TOOLS_GEN_INT_H
#define TOOLS_GEN_INT_H

#include "base/mem.h"
#include "tensor/random.h"
#include "tools/gen.h"

struct gen {
    struct odb_builder *b;
    const struct gen_options *options;
    struct odb_pcg64 random;
    enum odb_dtype floats; /* of weights, scalars and what they make */
    size_t weight_bytes;
    size_t data_size;      /* of the file of weights, so far */
    ODB_VEC(char *) texts; /* owned */
};

/* A name that lives as long as the generator. */
const char *gen_f(struct gen *g, const char *fmt, ...) ODB_PRINTF(2, 3);

/* Mean 0, variance 1, nearly normal. */
double gen_normal(struct gen *g);
/* Zeros. */
struct odb_tensor *gen_tensor(enum odb_dtype dtype, int rank, const int64_t *dims);
/* Takes t over, as a weight: beside the model where it is large and that is wanted. */
void gen_add(struct gen *g, const char *name, struct odb_tensor *t);
/* Weights of floats: mean + spread * normal. All return their name. */
const char *gen_weight(struct gen *g, const char *name, int rank, const int64_t *dims, double mean,
                       double spread);
const char *gen_vector(struct gen *g, const char *name, int64_t n, double mean, double spread);
const char *gen_scalar(struct gen *g, const char *name, double value);
const char *gen_ints(struct gen *g, const char *name, int64_t n, const int64_t *values);

#define GEN_INTS(g, name, ...)                                                                     \
    gen_ints((g), (name), (int64_t)ODB_COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})
#define GEN_ATTR_INTS(g, name, ...)                                                                \
    odb_build_attr_ints((g)->b, (name), ODB_COUNT(((int64_t[]){__VA_ARGS__})),                     \
                        (int64_t[]){__VA_ARGS__})

/* One node with one output, named as an exporter would: "/PATH/Op" makes "/PATH/Op_output_0",
 * which is returned. inputs: names separated by spaces. */
const char *gen_node(struct gen *g, const char *op, const char *path, const char *inputs);
const char *gen_unary(struct gen *g, const char *op, const char *path, const char *x);
const char *gen_binary(struct gen *g, const char *op, const char *path, const char *x,
                       const char *y);
const char *gen_transpose(struct gen *g, const char *path, const char *x, int rank,
                          const int64_t *perm);
const char *gen_reshape(struct gen *g, const char *path, const char *x, int64_t rank,
                        const int64_t *shape);

/* Kinds with a file of their own. */
void gen_decoder(struct gen *g);

#endif
