/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "calibration/encoding_loss.h"

#define LOSS_SHOWN 8  /* values in the table */
#define LOSS_BLAMED 3 /* in a sentence */

static const char *loss_name(const struct odb_loss *loss, int value)
{
    return loss->model->graph->values[value].name;
}

static void loss_put_db(double db, struct odb_buf *out)
{
    if (isinf(db))
        odb_buf_puts(out, db > 0 ? "equal" : "no number");
    else
        odb_buf_printf(out, "%.1f dB", db);
}

/* "y: 3.2 % of it is clipped, 12.1 dB where its range would give 38.0 dB" */
static void loss_put_bad(const struct odb_loss *loss, const struct odb_loss_value *v,
                         struct odb_buf *out)
{
    odb_buf_put_shown(out, loss_name(loss, v->value));
    odb_buf_puts(out, " (");
    if (v->channel_bad)
        odb_buf_printf(out, "channel %zu%s, ", v->channel, v->dead ? " is lost" : "");
    else if (v->dead)
        odb_buf_puts(out, "lost, ");
    if (v->clipped > 0)
        odb_buf_printf(out, "%.3g %% is clipped, ", 100 * v->clipped);
    else
        odb_buf_printf(out, "it takes %.0f of %.0f steps, ", v->steps, v->of);
    loss_put_db(v->own, out);
    odb_buf_puts(out, " where the range of its numbers would give ");
    loss_put_db(v->best, out);
    odb_buf_putc(out, ')');
}

static void loss_put_blame(const struct odb_loss *loss, struct odb_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < loss->values.n; i++)
        n += loss->values.items[i].bad;
    odb_buf_printf(out, "%zu encoding%s at fault: ", n, n == 1 ? " is" : "s are");
    for (size_t i = 0; i < n && i < LOSS_BLAMED; i++) {
        odb_buf_puts(out, i ? ", " : "");
        loss_put_bad(loss, &loss->values.items[i], out);
    }
    if (n > LOSS_BLAMED)
        odb_buf_printf(out, " and %zu more", n - LOSS_BLAMED);
}

void odb_loss_verdict(const struct odb_loss *loss, bool diverges, struct odb_buf *out)
{
    const struct odb_loss_value *worst = NULL;
    for (size_t i = 0; i < loss->outputs.n; i++)
        if (!worst || loss->outputs.items[i].simulated < worst->simulated)
            worst = &loss->outputs.items[i];
    if ((!loss->bad && !loss->far) || loss->unquantised)
        return;
    odb_buf_puts(out, "calibration: ");
    if (!diverges)
        odb_buf_puts(out, "the target computes what the encodings make of the model, and ");
    else
        odb_buf_puts(out, "besides the node at fault, ");
    if (worst && loss->far) {
        odb_buf_puts(out, "that is far from float, ");
        loss_put_db(worst->simulated, out);
        odb_buf_puts(out, " at output ");
        odb_buf_put_shown(out, loss_name(loss, worst->value));
        odb_buf_puts(out, loss->bad ? "; " : "");
    }
    if (loss->bad)
        loss_put_blame(loss, out);
    else
        odb_buf_puts(out, ", though each encoding is as good as its range allows: more bits, or "
                          "float, for the values that lose most");
}

static void loss_put_output(const struct odb_loss *loss, const struct odb_loss_value *v,
                            struct odb_buf *out)
{
    odb_buf_puts(out, "    output ");
    odb_buf_put_shown(out, loss_name(loss, v->value));
    odb_buf_puts(out, ": simulation to float ");
    loss_put_db(v->simulated, out);
    if (!isnan(v->apart)) {
        odb_buf_puts(out, ", target to float ");
        loss_put_db(v->target, out);
        odb_buf_puts(out, ", target to simulation ");
        loss_put_db(v->apart, out);
    }
    odb_buf_putc(out, '\n');
}

static void loss_put_row(const struct odb_loss *loss, const struct odb_loss_value *v,
                         struct odb_buf *out)
{
    char of[40];
    snprintf(of, sizeof of, "%.0f/%.0f", v->steps, v->of);
    odb_buf_printf(out, "    %6.1f  ", v->own);
    if (isnan(v->simulated))
        odb_buf_printf(out, "%6s", "-");
    else
        odb_buf_printf(out, "%6.1f", v->simulated);
    odb_buf_printf(out, "  %7.3g %%  %11s  ", 100 * v->clipped, of);
    odb_buf_put_shown(out, loss_name(loss, v->value));
    if (v->bad)
        odb_buf_puts(out, v->dead ? "  lost" : v->clipped > 0 ? "  clipped" : "  scale too large");
    if (v->channel_bad)
        odb_buf_printf(out, ", channel %zu", v->channel);
    odb_buf_putc(out, '\n');
}

void odb_loss_put(const struct odb_loss *loss, struct odb_buf *out)
{
    size_t shown = 0;
    odb_buf_puts(out, "encodings of ");
    odb_buf_put_shown(out, loss->encodings->path);
    odb_buf_printf(out, " (%s): %zu value%s quantised, %zu %s in float\n", loss->encodings->format,
                   loss->encoded, loss->encoded == 1 ? " is" : "s are", loss->in_float,
                   loss->in_float == 1 ? "stays" : "stay");
    for (size_t i = 0; i < loss->outputs.n && i < LOSS_SHOWN; i++)
        loss_put_output(loss, &loss->outputs.items[i], out);
    odb_buf_puts(out, "    the values that lose most, in dB by their own encoding and in all:\n");
    odb_buf_printf(out, "    %6s  %6s  %9s  %11s\n", "own", "in all", "clipped", "steps");
    for (size_t i = 0; i < loss->values.n && shown < LOSS_SHOWN; i++) {
        if (!loss->values.items[i].encoded)
            continue;
        loss_put_row(loss, &loss->values.items[i], out);
        shown++;
    }
}

static json_t *loss_json_value(const struct odb_loss *loss, const struct odb_loss_value *v)
{
    json_t *json = json_pack("{so}", "name", odb_json_text(loss_name(loss, v->value)));
    const struct {
        const char *name;
        double db;
    } all[] = {{"sqnr_simulation_float", v->simulated},
               {"sqnr_target_float", v->target},
               {"sqnr_target_simulation", v->apart}};
    for (size_t i = 0; i < ODB_COUNT(all); i++)
        json_object_set_new(json, all[i].name,
                            isnan(all[i].db) ? json_null() : odb_json_real(all[i].db));
    json_object_set_new(json, "encoded", json_boolean(v->encoded));
    if (!v->encoded)
        return json;
    json_object_set_new(json, "sqnr_own", odb_json_real(v->own));
    json_object_set_new(json, "sqnr_best", odb_json_real(v->best));
    json_object_set_new(json, "clipped", odb_json_real(v->clipped));
    json_object_set_new(json, "steps_used", odb_json_real(v->steps));
    json_object_set_new(json, "steps", odb_json_real(v->of));
    json_object_set_new(json, "at_fault", json_boolean(v->bad));
    json_object_set_new(json, "lost", json_boolean(v->dead));
    json_object_set_new(json, "channel",
                        v->channel_bad ? json_integer((json_int_t)v->channel) : json_null());
    return json;
}

json_t *odb_loss_json(const struct odb_loss *loss)
{
    json_t *json = json_object(), *values = json_array(), *outputs = json_array();
    json_t *unknown = json_array();
    for (size_t i = 0; i < loss->values.n; i++)
        json_array_append_new(values, loss_json_value(loss, &loss->values.items[i]));
    for (size_t i = 0; i < loss->outputs.n; i++)
        json_array_append_new(outputs, loss_json_value(loss, &loss->outputs.items[i]));
    for (size_t i = 0; i < loss->unknown.n; i++)
        json_array_append_new(unknown, odb_json_text(loss->unknown.items[i]));
    json_object_set_new(json, "file", odb_json_text(loss->encodings->path));
    json_object_set_new(json, "format", odb_json_text(loss->encodings->format));
    json_object_set_new(json, "sha256", odb_json_text(loss->encodings->sha256));
    json_object_set_new(json, "quantised", json_integer((json_int_t)loss->encoded));
    json_object_set_new(json, "in_float", json_integer((json_int_t)loss->in_float));
    json_object_set_new(json, "unknown_names", unknown);
    json_object_set_new(json, "calibration_at_fault", json_boolean(loss->bad || loss->far));
    json_object_set_new(json, "far_from_float", json_boolean(loss->far));
    json_object_set_new(json, "target_in_float", json_boolean(loss->unquantised));
    json_object_set_new(json, "outputs", outputs);
    json_object_set_new(json, "values", values);
    return json;
}
