/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/run.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/reading.h"
#include "bisect/strategy/forecast.h"
#include "bisect/strategy/hunt.h"
#include "bisect/strategy/hunt_outputs.h"
#include "bisect/strategy/look.h"
#include "bisect/strategy/suffix_hunt.h"
#include "bisect/strategy/taps.h"

/* In pieces there are as many outputs as borders. Whether searching for each wrong one by itself
 * takes more loads than asking for every node. */
static bool auto_many_ends(const struct search_case *c, const struct findings *f)
{
    const struct odb_pieces *pieces = &f->report->pieces;
    size_t bad = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        bad += odb_verdict_is_bad(f->verdicts[o].verdict) && !findings_explain(f, c->outputs[o]);
    return pieces->refused.n &&
           bad * (odb_search_loads(c->graph->n_nodes) + 1) > c->graph->n_nodes - pieces->refused.n;
}

/* Whether reading a few values after the other takes fewer models than reading them all, or some of
 * them cannot be read. */
static bool auto_taps(const struct search_case *c, const struct findings *f, size_t batches)
{
    size_t runs = reading_runs(c);
    if (!f->diverge || !runs)
        return false;
    return reading_is_limited(c) ||
           (odb_probe_max_outputs(c->prober) < SIZE_MAX && (!batches || runs < batches));
}

static void auto_turn_to_taps(const struct search_case *c, struct findings *f)
{
    size_t most = odb_probe_max_outputs(c->prober);
    if (most < SIZE_MAX)
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_TAPS), forecast_taps(c, f, 0),
                      "the target gives %zu outputs of one model at most", most);
    else
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_TAPS), forecast_taps(c, f, 0),
                      "the target gives %zu values besides its outputs", reading_taps(c));
}

/* What no culprit explains yet is searched by cuts. */
static enum odb_status auto_cuts(const struct search_case *c, struct findings *f,
                                 struct odb_error *err)
{
    if (!hunt_outputs_left(c, f))
        return ODB_OK;
    forecast_turn(f, odb_strategy_name(f->hidden ? ODB_STRATEGY_SUFFIX : ODB_STRATEGY_PREFIX),
                  forecast_cuts(c, f, 0),
                  f->hidden ? "reading values changes the answer, so nothing but an output is read"
                            : "values cannot be read, so nothing but the cut is read");
    return hunt_outputs(c, f, f->hidden ? suffix_hunt : hunt_value, err);
}

/* Where outputs were excused, or the target stores integers, so that a node is known by what it
 * reads and makes alone, all values are read. */
static enum odb_status auto_after_taps(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    bool wrong = f->diverge, left = decided_stores(f) && hunt_outputs_left(c, f);
    size_t bytes, batches = reading_batches(c, f, &bytes);
    if (!wrong || left) {
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_PROBED), forecast_reads(c, f, batches),
                      "%s, so every value is read",
                      wrong ? "no node is proven wrong"
                            : "the outputs are no farther off than honest runs");
        ODB_TRY(look_at_all(c, f, err));
    }
    return wrong && !f->probed ? auto_cuts(c, f, err) : ODB_OK;
}

enum odb_status strategy_auto(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    size_t bytes, batches = reading_batches(c, f, &bytes), n = c->graph->n_nodes;
    double mib = (double)bytes / (1 << 20);
    if (auto_taps(c, f, batches)) {
        auto_turn_to_taps(c, f);
        ODB_TRY(hunt_outputs(c, f, taps_hunt, err));
        return auto_after_taps(c, f, err);
    }
    if (!reading_taps(c) && f->diverge) { /* it says that it gives nothing but outputs */
        if (odb_probe_cuts(c->prober) == ODB_CUTS_NONE)
            findings_warn(f,
                          "the target gives nothing but its outputs, and takes no part of the "
                          "model: nodes can be ranked by what would explain them, as `onnxdbg "
                          "suspects` does, and none can be verified%s",
                          odb_probe_refeeds(c->prober)
                              ? ""
                              : "; each of its inputs takes a load of its own (refeed=no)");
        return auto_cuts(c, f, err);
    }
    if (batches == 1) {
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_BLAME), forecast_reads(c, f, 1),
                      "all values at once are %.3g MiB", mib);
    } else if (f->diverge && batches > 2 * odb_search_loads(n) + 4) {
        forecast_turn(
            f, odb_strategy_name(ODB_STRATEGY_PREFIX), forecast_cuts(c, f, 0),
            "all values are %.3g MiB, which would take %zu runs within %.3g MiB of memory", mib,
            batches, (double)f->memory / (1 << 20));
        return hunt_outputs(c, f, hunt_value, err);
    } else {
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_PROBED), forecast_reads(c, f, batches),
                      "all values are %.3g MiB, so %zu batches within %.3g MiB of memory", mib,
                      batches, (double)f->memory / (1 << 20));
    }
    ODB_TRY(look_at_all(c, f, err));
    if (!f->probed && !f->hidden && auto_taps(c, f, 0)) {
        auto_turn_to_taps(c, f);
        ODB_TRY(hunt_outputs(c, f, taps_hunt, err));
        if (!f->diverge) /* they were excused */
            return look_at_all(c, f, err);
    }
    if (!f->probed && auto_many_ends(c, f)) {
        forecast_turn(f, odb_strategy_name(ODB_STRATEGY_ISOLATED), forecast_alone(c, f, 0),
                      "the model runs in pieces, and many end wrong");
        ODB_TRY(strategy_isolated(c, f, err));
    }
    return f->probed ? ODB_OK : auto_cuts(c, f, err);
}
