/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/probe_kind.h"

#include <math.h>

static const struct {
    const char *why, *passes, *fails;
} asked_rows[ODB_PROBE_KIND_COUNT] = {
    [ODB_PROBE_KIND_PLAIN] = {"", "", ""},
#define ODB_PROBE(id, why, passes, fails) [ODB_PROBE_KIND_##id] = {why, passes, fails},
#include "run/probe_kind.def"
#undef ODB_PROBE
};

const char *odb_probe_kind_why(enum odb_probe_kind asked)
{
    return asked_rows[asked].why;
}

const char *odb_probe_kind_means(enum odb_probe_kind asked, enum odb_verdict verdict)
{
    if (verdict == ODB_VERDICT_PASS)
        return asked_rows[asked].passes;
    if (verdict == ODB_VERDICT_CRASH || verdict == ODB_VERDICT_TIMEOUT)
        return "the target did not live to give an answer";
    if (odb_verdict_is_bad(verdict))
        return asked_rows[asked].fails;
    return "there was no answer that counts: it says neither that these nodes are right nor that "
           "they are wrong";
}

/* How bad it is: wrong values before right ones, and the farther off the worse. */
static double asked_rank(const struct odb_seen *c)
{
    double error = c->error.known ? (isnan(c->error.v) ? INFINITY : c->error.v) : 0;
    double share = error / (1 + error);
    return (isfinite(error) ? share : 1) + 2 * odb_verdict_is_bad(c->verdict);
}

void odb_seen_note(struct odb_all_seen *seen, const struct odb_seen *compared)
{
    if (!seen)
        return;
    seen->n++;
    seen->bad += odb_verdict_is_bad(compared->verdict);
    size_t at = seen->told;
    if (at == ODB_COMPARED_MOST)
        for (size_t i = at = 0; i < seen->told; i++)
            if (asked_rank(&seen->list[i]) < asked_rank(&seen->list[at]))
                at = i;
    if (seen->told < ODB_COMPARED_MOST)
        seen->list[seen->told++] = *compared;
    else if (asked_rank(compared) > asked_rank(&seen->list[at]))
        seen->list[at] = *compared;
}
