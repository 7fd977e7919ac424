/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every number that says how far an evaluated value is from a base, under the one name that
 * tables, files, JSON and conditions know it by. What is not asked for is not computed.
 */
#ifndef ODB_COMPARE_INSPECT_MEASURE_H
#define ODB_COMPARE_INSPECT_MEASURE_H

#include "compare/inspect/farthest.h"
#include "compare/inspect/ranks.h"
#include "compare/metrics.h"
#include "compare/ulp_spread.h"

enum odb_measure_type { ODB_MEASURE_REAL, ODB_MEASURE_COUNT, ODB_MEASURE_TRUTH };

/* What has to be computed; bits. */
enum odb_measure_need {
    ODB_MEASURE_METRICS = 1,
    ODB_MEASURE_ULPS = 2,
    ODB_MEASURE_RANKS = 4,
    ODB_MEASURE_CHANNELS = 8,
    ODB_MEASURE_EVERYTHING = 15
};

struct odb_measure_options {
    double th;    /* as in odb_compare() */
    size_t top_k; /* 0: 5 */
    bool axis_given;
    int axis; /* of the channels; else odb_channels_axis() */
};

struct odb_measured {
    const struct odb_tensor *evaluated, *base; /* borrowed; NULL: missing */
    struct odb_measure_options options;
    unsigned had; /* ODB_MEASURE_… */
    struct odb_metrics m;
    bool numbers; /* there is more to m than equality */
    bool has_ulps, has_ranks, has_channels;
    struct odb_ulp_spread ulps;
    struct odb_ranks ranks;
    int channel_axis;
    struct odb_farthest channel;
};

/* Computes what `need` asks for and *m lacks; m->evaluated, base and options are set. */
void odb_measure(struct odb_measured *m, unsigned need);
bool odb_measure_comparable(const struct odb_measured *m); /* with ODB_MEASURE_METRICS */

/* The i-th row; NULL: there are no more. */
const char *odb_measure_name(size_t i, const char **help);
/* By name, n bytes long; -1: there is none. */
int odb_measure_find(const char *name, size_t n);
enum odb_measure_type odb_measure_type(size_t i);
unsigned odb_measure_needs(size_t i);
/* False: there is no such number for these values, or it was not computed. judged: as verdicts take
 * it: over pairs finite on both sides, 0/0 is 0; else as NumPy computes it over all. */
bool odb_measure_value(const struct odb_measured *m, size_t i, bool judged, double *out);

#endif
