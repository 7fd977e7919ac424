/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/plan.h"

#include "bisect/evidence/overflow.h"
#include "bisect/reading.h"
#include "bisect/repeat.h"
#include "bisect/strategy/probed.h"
#include "bisect/strategy/strategies.h"
#include "run/memory_budget.h"

static uint64_t plan_memory(const struct search_case *c, const struct strategy *row)
{
    bool all = row->reads == STRATEGY_READS_ALL || odb_probe_in_pieces(c->prober);
    return all ? UINT64_MAX : odb_memory_budget(c->options->hooks.budget).values;
}

/* Whether the plain run is one of the user's file as it is. */
static bool plan_is_file(const struct search_case *c, struct findings *f)
{
    struct odb_probe plain = reading_plain(c, f, "the whole model", f->plain);
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_instead instead;
    return odb_probe_instead(c->prober, &plain, &instead, &ignored) == ODB_OK &&
           !odb_instead_any(&instead);
}

void plan_ahead(const struct search_case *c, struct findings *f)
{
    const struct strategy *row = strategy_row(c->options->strategy);
    const struct odb_budget *budget = c->options->hooks.budget;
    size_t bytes;
    f->memory = plan_memory(c, row);
    if (row->reads == STRATEGY_READS_NONE || reading_batches(c, f, &bytes) != 1)
        return;
    f->kept->repeats_wait = c->options->repeat != 1 && reading_taps(c) > 0 &&
                            !(budget && budget->compiles) && odb_probe_keeps_file(c->prober) &&
                            plan_is_file(c, f);
    if (odb_pool_workers(c->pool) > 1)
        probed_begin(c, f);
}

enum odb_status plan_search(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    const struct strategy *row = strategy_row(c->options->strategy);
    size_t bytes;
    f->memory = plan_memory(c, row);
    if (c->options->strategy != ODB_STRATEGY_AUTO) /* which says what it chooses */
        forecast_turn(f, row->name, row->forecast(c, f, reading_batches(c, f, &bytes)),
                      "asked for");
    ODB_TRY(row->run(c, f, err));
    ODB_TRY(repeat_late(c, f, err)); /* if no value was read after all */
    return overflow_look(c, f, err); /* of what was not looked into */
}
