/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/strategy/forecast.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/reading.h"
#include "bisect/strategy/linear.h"
#include "search/search.h"

/* Loads of one run that reads everything. */
static size_t forecast_pieces(const struct search_case *c)
{
    int *list = odb_new_n(int, c->graph->n_values);
    size_t pieces = odb_probe_pieces(c->prober, list, reading_list(c, list));
    free(list);
    return pieces;
}

/* Loads for what speaks for and against one accused node: it runs alone and with a neighbour, and
 * the outputs without its error. A target that takes no part of the model is asked for none. */
static size_t forecast_evidence(const struct search_case *c, const struct findings *f)
{
    bool asks = f->diverge && !c->options->no_checks && odb_probe_cuts(c->prober) == ODB_CUTS_ANY;
    return asks ? 2 + odb_probe_pieces(c->prober, c->outputs, c->n_outputs) : 0;
}

/* Runs of the whole and of parts, and seconds besides. */
static struct forecast forecast_of(const struct search_case *c, const struct findings *f,
                                   double whole, double parts, double besides)
{
    size_t evidence = forecast_evidence(c, f);
    double one = f->kept->load + f->kept->run;
    return (struct forecast){(size_t)(whole + parts) + evidence,
                             besides + one * (whole + (parts + (double)evidence) / 2)};
}

/* Loads for the prefix or suffix that is half of the model. */
static size_t forecast_half(const struct search_case *c)
{
    return (odb_probe_pieces(c->prober, c->outputs, c->n_outputs) + 1) / 2;
}

struct forecast forecast_reads(const struct search_case *c, const struct findings *f,
                               size_t batches)
{
    return forecast_of(c, f, (double)(batches * forecast_pieces(c)), 0, c->trace->made.seconds);
}

struct forecast forecast_cuts(const struct search_case *c, const struct findings *f, size_t batches)
{
    bool takes = f->diverge && odb_probe_cuts(c->prober) != ODB_CUTS_NONE;
    size_t cuts = takes * (odb_search_loads(c->graph->n_nodes) + 1);
    (void)batches;
    return forecast_of(c, f, 0, (double)(cuts * forecast_half(c)), 0);
}

struct forecast forecast_taps(const struct search_case *c, const struct findings *f, size_t batches)
{
    size_t runs = f->diverge * (reading_runs(c) + 1);
    (void)batches;
    return forecast_of(c, f, (double)(runs * forecast_pieces(c)), 0, 0);
}

struct forecast forecast_steps(const struct search_case *c, const struct findings *f,
                               size_t batches)
{
    size_t n = c->graph->n_nodes, step = linear_step(c, n);
    (void)batches;
    return forecast_of(c, f, 0, (double)(f->diverge * (n / step + step) * forecast_half(c)), 0);
}

struct forecast forecast_nodes(const struct search_case *c, const struct findings *f,
                               size_t batches)
{
    (void)batches;
    return forecast_of(c, f, 0, (double)c->graph->n_nodes, 0);
}

struct forecast forecast_nothing(const struct search_case *c, const struct findings *f,
                                 size_t batches)
{
    (void)c, (void)f, (void)batches;
    return (struct forecast){0, 0};
}

/* All together load and run what the model does. */
struct forecast forecast_alone(const struct search_case *c, const struct findings *f,
                               size_t batches)
{
    struct forecast forecast = forecast_of(c, f, 1, 0, c->trace->made.seconds);
    (void)batches;
    forecast.loads = c->graph->n_nodes + forecast_evidence(c, f);
    return forecast;
}

void forecast_turn(struct findings *f, const char *strategy, struct forecast forecast,
                   const char *why, ...)
{
    char line[300];
    va_list args;
    va_start(args, why);
    odb_text_vfit(line, sizeof line, why, args);
    va_end(args);
    findings_expect(f, strategy, forecast.loads, forecast.seconds);
    findings_step_turn(f, "choose", "%s: %s", strategy, line);
}
