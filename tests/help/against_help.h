/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search of one model against another that was made of it.
 */
#ifndef TESTS_AGAINST_HELP_H
#define TESTS_AGAINST_HELP_H

#include "twomodels/against.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

struct search {
    struct odb_model *original, *other; /* owned */
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace;
    struct odb_report *report;
};

/* Takes the model over; x: all that it is fed, numbers around 0. */
static inline void search_open(struct search *s, struct odb_model *original, int rank,
                               const int64_t *dims)
{
    struct odb_tensor *x = NULL;
    MODELS_OK(odb_tensor_new(&x, ODB_F32, rank, dims, &why));
    for (size_t i = 0; i < x->count; i++)
        ((odb_f32 *)x->data)[i] = (float)((i * 11) % 17) / 8 - 1;
    *s = (struct search){.original = original};
    s->feed = (struct odb_feed){.value = models_value(original, "x"), .tensor = x};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    help_find_serve();
}

/* Takes the other model over. */
static inline enum odb_status search_try(struct search *s, struct odb_model *other,
                                         const char *spec, struct odb_error *err)
{
    struct odb_against_made made = odb_against_made(s->original->graph, other->graph);
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = "the other",
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .expect = made.expect};
    struct odb_trace_options how;
    struct odb_against against = {.other = other, .spec = spec};
    s->other = other;
    if (made.quantised)
        options.tolerance = (struct odb_criterion){ODB_CRITERION_COSINE, {0.99}};
    MODELS_OK(odb_bisect_trace_options(&options, &how, &why));
    MODELS_OK(odb_trace_make(&s->trace, s->original, &s->feeds, &how, &why));
    options.trace = s->trace;
    return odb_against_bisect(&s->report, &against, s->original, &s->feeds, &options, err);
}

static inline void search_close(struct search *s)
{
    odb_report_free(s->report);
    odb_trace_free(s->trace);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->original);
    odb_model_free(s->other);
}

#endif
