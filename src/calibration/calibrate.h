/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes encodings of a float model: the reference runs it on samples of inputs, and what each value
 * ranges over there gives its scale, as compilers for few bits do it.
 *
 *   minmax      the least and the greatest number that was seen
 *   percentile  all but the outermost few of a hundred thousand
 *   entropy     where cutting off changes the distribution least, once it is told in few steps
 *               (Kullback-Leibler)
 *
 * Inputs and what nodes make: one scale each, with a zero point. Weights of Conv, ConvTranspose,
 * Gemm and MatMul: symmetric, a scale per output channel. Biases: 32 bits, the scales of input and
 * weight multiplied. What an activation function reads that fuses with the node before it has no
 * encoding; what only moves numbers keeps its input's.
 */
#ifndef ODB_CALIBRATION_CALIBRATE_H
#define ODB_CALIBRATION_CALIBRATE_H

#include "run/feeds.h"
#include "run/hooks.h"
#include "tensor/encoding.h"
#include "model/model.h"

#define ODB_CALIBRATE_LIST(X)                                                                      \
    X(MINMAX, "minmax")                                                                            \
    X(PERCENTILE, "percentile")                                                                    \
    X(ENTROPY, "entropy")

enum odb_calibrate_method {
#define ODB_CALIBRATE_ENUM(id, name) ODB_CALIBRATE_##id,
    ODB_CALIBRATE_LIST(ODB_CALIBRATE_ENUM)
#undef ODB_CALIBRATE_ENUM
};
#define ODB_CALIBRATE_CHOICE(id, name) "|" name
#define ODB_CALIBRATE_CHOICES (ODB_CALIBRATE_LIST(ODB_CALIBRATE_CHOICE) + 1)

struct odb_calibrate_options {
    enum odb_calibrate_method method;
    double percentile;     /* of numbers that are inside the range: 99.999 */
    int bits, weight_bits; /* 2 to 16 */
    bool symmetric;        /* what is computed has no zero point either */
    bool per_tensor;       /* weights have one scale */
    size_t n_samples;
    /* Makes the inputs of one; the caller's. */
    enum odb_status (*feeds)(void *payload, size_t sample, struct odb_feeds **out,
                             struct odb_error *err);
    void *payload;
    struct odb_search_hooks hooks;
};

struct odb_calibrated {
    struct odb_encodings *encodings; /* owned; BY_READER stands nowhere */
    size_t activations, weights, biases;
    ODB_VEC(char *)
    left; /* owned: values that compute with floats and have none, with the reason */
};

/* ODB_UNSUPPORTED where the reference computes no float on any sample. */
enum odb_status odb_calibrate(struct odb_calibrated *out, const struct odb_model *model,
                              const struct odb_calibrate_options *options,
                              struct odb_error *err) ODB_MUST_USE;
void odb_calibrated_dispose(struct odb_calibrated *calibrated);
/* "minmax"; NULL: no such method. */
bool odb_calibrate_parse(enum odb_calibrate_method *out, const char *name);

#endif
