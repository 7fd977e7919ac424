/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a refusal means, measured: the same target at its plainest (odb_executor_plain()) is asked
 * for the very thing. What it refuses there as well it lacks something for; what it runs there, its
 * options break.
 */
#ifndef ODB_PROBE_PLAINEST_H
#define ODB_PROBE_PLAINEST_H

#include "judge/blame.h"
#include "probe/probe.h"

enum odb_refusal_means {
    ODB_REFUSAL_UNKNOWN, /* the target has no plainer options, or could not be asked with them */
    ODB_REFUSAL_LACKS,   /* refused with its plainest options as well: it cannot run it */
    ODB_REFUSAL_BREAKS   /* it runs with those: a failure */
};

/* A target at its plainest; all zero: not known yet. */
struct odb_plainest {
    char *spec;               /* owned; NULL: there is none */
    struct odb_pool *pool;    /* owned; NULL: not started */
    bool known;               /* spec is */
    enum odb_verdict verdict; /* out: of what it gave last; untestable: it was not judged */
    struct odb_error why;     /* out: why it did not run that */
};

void odb_plainest_dispose(struct odb_plainest *plainest); /* all zero is fine */

/* Asks the prober's target at its plainest what it refused, why saying how: the same cut, with the
 * same feeds. judge: by which what it gives is judged; NULL: it is not. ODB_CANCELLED is the only
 * error. */
enum odb_status odb_plainest_ask(struct odb_plainest *plainest, const struct odb_prober *prober,
                                 const struct odb_probe *refused, const struct odb_error *why,
                                 const struct odb_judge *judge, enum odb_refusal_means *out,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
