/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/hunt_outputs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/evidence/overflow.h"

enum odb_status hunt_outputs(const struct search_case *c, struct findings *f, hunt_output_fn *hunt,
                             struct odb_error *err)
{
    decided_excuse_outputs(c, f);
    bool *tried = odb_new_n(bool, c->n_outputs);
    enum odb_status status = overflow_look(c, f, err);
    while (status == ODB_OK) {
        int worst = -1;
        for (size_t o = 0; o < c->n_outputs; o++) {
            if (tried[o] || !odb_verdict_is_bad(f->verdicts[o].verdict))
                continue;
            if (worst < 0 || f->verdicts[o].error.v > f->verdicts[worst].error.v)
                worst = (int)o;
        }
        if (worst < 0)
            break;
        tried[worst] = true;
        if (!findings_explain(f, c->outputs[worst]))
            status = hunt(c, f, c->outputs[worst], err);
    }
    for (size_t i = 0; i < f->others.n && status == ODB_OK; i++) /* met on the way */
        if (!findings_explain(f, f->others.items[i]))
            status = hunt(c, f, f->others.items[i], err);
    free(tried);
    if (status == ODB_OK && decided_stores(f)) /* which was not known before */
        decided_excuse_outputs(c, f);
    return status;
}

bool hunt_outputs_left(const struct search_case *c, const struct findings *f)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]))
            return true;
    return false;
}
