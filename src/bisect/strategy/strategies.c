/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/strategies.h"

#include "bisect/strategy/hunt.h"
#include "bisect/strategy/hunt_outputs.h"
#include "bisect/strategy/linear.h"
#include "bisect/strategy/look.h"
#include "bisect/strategy/suffix_hunt.h"
#include "bisect/strategy/taps.h"

static enum odb_status strategies_look(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    ODB_TRY(look_at_all(c, f, err));
    if (!f->probed && hunt_outputs_left(c, f))
        findings_warn(f, "blame needs a probed run that reproduces the plain one; use "
                         "--strategy auto or prefix");
    return ODB_OK;
}

enum odb_status strategy_blame(const struct search_case *c, struct findings *f,
                               struct odb_error *err)
{
    return strategies_look(c, f, err);
}

enum odb_status strategy_probed(const struct search_case *c, struct findings *f,
                                struct odb_error *err)
{
    return strategies_look(c, f, err);
}

enum odb_status strategy_prefix(const struct search_case *c, struct findings *f,
                                struct odb_error *err)
{
    return hunt_outputs(c, f, hunt_value, err);
}

enum odb_status strategy_suffix(const struct search_case *c, struct findings *f,
                                struct odb_error *err)
{
    return hunt_outputs(c, f, suffix_hunt, err);
}

enum odb_status strategy_taps(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    ODB_TRY(hunt_outputs(c, f, taps_hunt, err));
    return hunt_outputs_left(c, f) ? hunt_outputs(c, f, f->hidden ? suffix_hunt : hunt_value, err)
                                   : ODB_OK;
}

enum odb_status strategy_linear(const struct search_case *c, struct findings *f,
                                struct odb_error *err)
{
    return hunt_outputs(c, f, linear_hunt, err);
}

enum odb_status strategy_plain(const struct search_case *c, struct findings *f,
                               struct odb_error *err)
{
    (void)c, (void)f, (void)err;
    return ODB_OK;
}

static const struct strategy strategy_rows[] = {
#define STRATEGY_ROW(id, word, help, reads, forecast)                                              \
    [ODB_STRATEGY_##                                                                               \
        id] = {#word, help, STRATEGY_READS_##reads, forecast_##forecast, strategy_##word},
    ODB_STRATEGY_LIST(STRATEGY_ROW)
#undef STRATEGY_ROW
};

const struct strategy *strategy_row(enum odb_strategy strategy)
{
    return &strategy_rows[strategy];
}
