/* SPDX-License-Identifier: MIT
 *
 * An encoding: which numbers a value may have on a target that computes with few bits. They are the
 * multiples of a scale, k * scale, with k from lo to hi, or those of a half type. A zero point or
 * an offset says no more than where lo and hi are: with codes q from 0 to 255 and (q - zero) *
 * scale, lo is -zero and hi is 255 - zero. So all conventions come to one.
 *
 * A value has one scale, or one per channel, or one per block of a channel.
 */
#ifndef ODB_TENSOR_ENCODING_H
#define ODB_TENSOR_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "tensor/tensor.h"

#define ODB_ENCODING_NO_AXIS (-1)
#define ODB_ENCODING_BY_READER (-2) /* the output channels of the node that reads it */

struct odb_encoding {
    char *name;          /* owned: of the value */
    enum odb_dtype type; /* ODB_F16, ODB_BF16: of that type; ODB_UNDEFINED: multiples of a scale */
    int bits;
    bool symmetric;  /* zero is in the middle, up to one step */
    int axis;        /* of channels; one of the above */
    int block_axis;  /* ODB_ENCODING_NO_AXIS, or the axis that is cut into blocks */
    int64_t block;   /* elements in a block */
    size_t n;        /* scales: 1, channels, or channels by blocks in the order of their axes */
    odb_f32 *scale;  /* owned; [n]; 0 or more, finite; 0: nothing but zeros */
    double *lo, *hi; /* owned; [n]; lo <= hi */
};

/* The encodings of one file, by name. */
struct odb_encodings {
    ODB_VEC(struct odb_encoding) list; /* owned */
    struct odb_map *by_name;           /* owned; into list */
    char *path;                        /* owned */
    char *format;                      /* owned: "AIMET 1.0.0" */
    char sha256[65];                   /* of the file; "": there is none */
};

/* Takes the encoding over. False where the name has one already; then nothing is taken. */
bool odb_encodings_add(struct odb_encodings *encodings, struct odb_encoding *encoding);
/* NULL: it has none. Borrowed. */
const struct odb_encoding *odb_encodings_find(const struct odb_encodings *encodings,
                                              const char *name);
void odb_encodings_free(struct odb_encodings *encodings); /* NULL is fine */
void odb_encoding_dispose(struct odb_encoding *encoding);
/* Room for n scales; the rest is zero. */
void odb_encoding_init(struct odb_encoding *out, const char *name, size_t n);

/* Whether a tensor of this shape has as many channels and blocks as there are scales. Says what is
 * wrong otherwise: ODB_E_INPUT. The axes are known. */
enum odb_status odb_encoding_check(const struct odb_encoding *encoding, const struct odb_tensor *t,
                                   struct odb_error *err) ODB_MUST_USE;

/* The elements of a tensor that fits, in their order, as long as they share a scale:
 *     for (odb_encoding_walk(&w, e, t); odb_encoding_next(&w);) … w.begin, w.n, w.at */
struct odb_encoding_walk {
    size_t begin, n; /* these elements */
    size_t at;       /* have this scale */
    /* private */
    size_t count;
    int axes;
    struct {
        size_t inner, dim, block, stride;
    } axis[2];
};
void odb_encoding_walk(struct odb_encoding_walk *walk, const struct odb_encoding *encoding,
                       const struct odb_tensor *t);
bool odb_encoding_next(struct odb_encoding_walk *walk);

/* The distance between neighbouring numbers at x, for scale `at`. */
double odb_encoding_step(const struct odb_encoding *encoding, size_t at, double x);
/* x where it is between the least and the greatest number of scale `at`, else the nearer of those;
 * NaN stays. Not rounded. */
double odb_encoding_clip(const struct odb_encoding *encoding, size_t at, double x);

/* Each element becomes the nearest number of the encoding, of two that are equally near the even
 * multiple; NaN stays. tip: first it is moved at random by up to so many steps, as seed says; 0: it
 * is not. t is of floats and fits; else *out is a ref of it. */
enum odb_status odb_encoding_apply(const struct odb_encoding *encoding, const struct odb_tensor *t,
                                   double tip, uint64_t seed, struct odb_tensor **out,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
