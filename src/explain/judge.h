/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a choice of the catalogue gives what the target gave of a call, within noise.
 */
#ifndef ODB_EXPLAIN_JUDGE_H
#define ODB_EXPLAIN_JUDGE_H

#include "explain/variant.h"

/* A choice that explains something. */
struct explain_hit {
    struct variant *v; /* owned */
    bool agrees;       /* with the target, within noise, whatever the reference makes */
    bool exact;        /* and that explains an error */
    double residual, noise;
    double left;               /* the part of the error that it leaves */
    double first;              /* what its first run leaves */
    size_t confirmed, refuted; /* other inputs on which it holds, and does not */
    size_t shown;              /* wrong elements of those on which it holds */
    bool varies;               /* it holds there with other fitted numbers */
    size_t apart;              /* variants that were told from it, by inputs made for that: */
    const char *made;          /* how; static */
};

/* Judges a choice on a call: false when it explains nothing there. */
bool explain_judge(const struct variant *v, const struct accused *s, struct explain_hit *hit);
/* Whether it holds on a call that the target got right, or wrong. */
bool explain_holds(const struct variant *v, const struct accused *s, bool right,
                   struct explain_hit *hit);
/* Whether the target made what the operator says: then there is nothing to explain. Where a
 * quantiser decides, the wrong elements are those that are no rounding of it. */
bool explain_right(struct accused *s);

#endif
