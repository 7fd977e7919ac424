/* SPDX-License-Identifier: MIT
 *
 * What the ways to compute a convolution share (conv.c, conv_panels.c).
 */
#ifndef ODB_KERNELS_NN_CONV_H
#define ODB_KERNELS_NN_CONV_H

#include "kernels/nn/window.h"

/* x is (n, c, in…), w (m, c / group, kernel…), bias (m), y (n, m, out…). */
struct conv {
    struct odb_window window;
    size_t n, c, m, group;
    enum odb_dtype dtype;
    size_t size; /* bytes of an element */
    bool sequential;
    const void *x, *w, *bias; /* borrowed; bias may be NULL */
    void *y;                  /* borrowed */
};

/* Whether result 0, 1, 2… is the product of w with element 0, 1, 2… of the image. */
bool odb_conv_is_pointwise(const struct conv *c);

/* Whether odb_conv_panels_run() can compute it here. */
bool odb_conv_panels_can(const struct conv *c);
/* Computes y, which has elements. False: out of memory. */
bool odb_conv_panels_run(const struct conv *c) ODB_MUST_USE;

#endif
