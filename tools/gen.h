/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models to test with: the shapes of well-known networks, weights from a seeded stream.
 */
#ifndef TOOLS_GEN_H
#define TOOLS_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/write/build.h"

/* What weights of matrices are held in. */
enum gen_weights {
    GEN_F32,
    GEN_F16, /* and all other floats of the model */
    GEN_INT4 /* in blocks, for MatMulNBits; the other floats are float32 */
};

struct gen_options {
    uint64_t seed;
    enum gen_weights weights; /* decoder */
    size_t count;             /* chain: nodes; large, decoder: MiB */
    bool bn;                  /* resnet50: BatchNormalization as nodes of its own */
    bool wide;                /* chain: a graph of 16 lanes that mix, instead of a line */
    FILE *data; /* borrowed: takes the large weights as they are drawn, so that no more than one
                   is held; NULL: they are in the model. Errors stay with it */
    const char *data_name; /* borrowed: as the model is going to name it */
};

struct gen; /* gen.c */

struct gen_kind {
    const char *name, *help;
    void (*make)(struct gen *g);
};

/* A list that ends with a NULL name. */
extern const struct gen_kind gen_kinds[];

/* NULL for a kind that does not exist. weight_bytes: how much its weights take. */
struct odb_builder *gen_model(const char *kind, const struct gen_options *options,
                              size_t *weight_bytes);

#endif
