/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/bisect_options.h"

#include <stdio.h>

#include "reference/trace.h"
#include "executor/cpu_executor.h"
#include "probe/ahead.h"

#define OPTIONS_GOLDEN "cpu:f64"

const char *odb_bisect_golden(const struct odb_bisect_options *options)
{
    enum odb_precision ignored;
    if (options->golden)
        return options->golden;
    return odb_precision_parse(&ignored, options->reference, NULL) == ODB_OK ? OPTIONS_GOLDEN
                                                                             : options->reference;
}

static bool options_read_ahead(void *payload, const struct odb_trace *trace)
{
    return odb_ahead_read(payload, trace);
}

enum odb_status odb_bisect_trace_options(const struct odb_bisect_options *options,
                                         struct odb_trace_options *out, struct odb_error *err)
{
    const char *golden = options->golden ? options->golden : OPTIONS_GOLDEN;
    char spec[32];
    *out = (struct odb_trace_options){
        .golden = ODB_PREC_F64, .seed = options->seed, .hooks = options->hooks};
    /* Whatever is no precision of the CPU's is an executor that is asked. */
    if (odb_precision_parse(&out->reference, options->reference, NULL) != ODB_OK)
        out->reference_from = options->reference;
    if (odb_precision_parse(&out->golden, golden, NULL) != ODB_OK)
        out->golden_from = golden;
    if (options->ahead && !out->reference_from && !out->golden_from) {
        out->referenced = options_read_ahead;
        out->payload = options->ahead;
    }
    out->golden_is_reference = out->reference_from && !options->golden;
    out->encodings = options->encodings;
    if (!options->expect || options->encodings)
        return ODB_OK;
    snprintf(spec, sizeof spec, "cpu:%s", options->expect);
    return odb_precision_parse(&out->expect, spec, err);
}
