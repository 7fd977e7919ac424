/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node whose output has an encoding: the target rounds what it computes to steps, and of an
 * element that lies in the middle between two of them it may make either. So what is compared is
 * not step with step, but the target's number with what there was to round: half a step away from
 * it, and a little for how the target computes, is right, and everything else is not.
 */
#ifndef ODB_JUDGE_ENCODED_H
#define ODB_JUDGE_ENCODED_H

#include "tensor/encoding.h"

struct odb_encoded_gap {
    double excess; /* how much further than half a step the worst element is, in steps; 0: none is;
                      Inf: NaN or an infinity */
    double slack;  /* of which this would be right, in steps, there */
    size_t wrong;  /* elements that are off by more than is right */
    double step;   /* the largest of the encoding's that was met */
};

/* t: the target's. exact: what the operator makes, not rounded, of the same shape and any float
 * type. noise: how far an honest computation may be from exact, absolutely. */
void odb_encoded_measure(struct odb_encoded_gap *out, const struct odb_encoding *encoding,
                         const struct odb_tensor *t, const struct odb_tensor *exact, double noise);

#endif
