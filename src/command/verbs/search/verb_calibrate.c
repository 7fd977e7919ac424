/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "calibration/calibrate.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/search_options.h"
#include "command/value/spare_model.h"
#include "command/verbs/search/samples_option.h"
#include "encodings/encodings.h"
#include "report/json.h"
#include "system/file.h"

#define CALIBRATE_SAMPLES 8
#define CALIBRATE_SHOWN 10 /* values that stay in float */
#define CALIBRATE_PERCENTILE 99.999

static enum odb_status calibrate_options(struct odb_command_call *call,
                                         struct odb_calibrate_options *out, const char **path,
                                         struct odb_error *err)
{
    const char *method = odb_call_option(call, ODB_OPTION_METHOD);
    *out = (struct odb_calibrate_options){
        .percentile = CALIBRATE_PERCENTILE,
        .bits = (int)odb_call_int(call, ODB_OPTION_BITS, 8),
        .weight_bits = (int)odb_call_int(call, ODB_OPTION_WEIGHT_BITS, 8),
        .symmetric = odb_call_option(call, ODB_OPTION_SYMMETRIC) != NULL,
        .per_tensor = odb_call_option(call, ODB_OPTION_PER_TENSOR) != NULL};
    if (method) /* one of the option's choices */
        odb_calibrate_parse(&out->method, method);
    ODB_TRY(odb_call__real(call, ODB_OPTION_PERCENTILE, &out->percentile, err));
    if (out->percentile <= 50 || out->percentile > 100)
        return odb_fail(err, ODB_E_USAGE, "--percentile %g is not above 50 and up to 100",
                        out->percentile);
    if (!(*path = odb_call_option(call, ODB_OPTION_OUTPUT))) {
        odb_fail(err, ODB_E_USAGE, "there is no file to write to");
        return odb_error_remedy(err, "add -o ENCODINGS.json");
    }
    return odb_call__spare_model(call, *path, err);
}

static void calibrate_text(const struct odb_calibrated *made, const char *path, size_t n_samples,
                           struct odb_buf *out)
{
    odb_buf_put_shown(out, path);
    odb_buf_printf(
        out, ": %zu value%s, %zu weight%s and %zu bias%s have encodings, by %zu sample%s\n",
        made->activations, odb_plural(made->activations), made->weights, odb_plural(made->weights),
        made->biases, made->biases == 1 ? "" : "es", n_samples, odb_plural(n_samples));
    for (size_t i = 0; i < made->left.n && i < CALIBRATE_SHOWN; i++) {
        odb_buf_puts(out, "in float: ");
        odb_buf_put_shown(out, made->left.items[i]);
        odb_buf_putc(out, '\n');
    }
    if (made->left.n > CALIBRATE_SHOWN)
        odb_buf_printf(out, "and %zu more\n", made->left.n - CALIBRATE_SHOWN);
}

static json_t *calibrate_json(const struct odb_calibrated *made, const char *path,
                              const char *method, size_t n_samples)
{
    return json_pack("{s:o,s:o,s:I,s:I,s:I,s:I,s:o}", "path", odb_json_text(path), "method",
                     odb_json_text(method), "samples", (json_int_t)n_samples, "values",
                     (json_int_t)made->activations, "weights", (json_int_t)made->weights, "biases",
                     (json_int_t)made->biases, "in_float",
                     odb_json_texts(made->left.items, made->left.n));
}

static enum odb_status calibrate_write(struct odb_command_call *call,
                                       const struct odb_calibrated *made, const char *path,
                                       size_t n_samples, struct odb_error *err)
{
    const char *method = odb_call_option(call, ODB_OPTION_METHOD);
    struct odb_buf text = ODB_BUF_INIT;
    method = method ? method : "minmax";
    odb_encodings_put(made->encodings, method, &text);
    enum odb_status status = odb_file_write(path, text.data, text.len, err);
    odb_buf_clear(&text);
    if (status == ODB_OK) {
        calibrate_text(made, path, n_samples, &text);
        status = odb_call__give(call, calibrate_json(made, path, method, n_samples), &text, err);
    }
    odb_buf_dispose(&text);
    return status;
}

enum odb_status odb_command__calibrate(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_calibrate_options options;
    struct odb_call_samples samples = {0};
    struct odb_calibrated made;
    struct odb_watch watch;
    const char *path = NULL;
    ODB_TRY(calibrate_options(call, &options, &path, err));
    enum odb_status status = odb_call__samples_of(call, &samples, CALIBRATE_SAMPLES, err);
    options.n_samples = samples.found.items.n;
    options.feeds = samples.found.feeds;
    options.payload = samples.found.payload;
    if (status == ODB_OK) {
        options.hooks = odb_watch_begin(&watch, call);
        status = odb_calibrate(&made, call->model, &options, err);
        odb_watch_end(&watch);
    }
    if (status == ODB_OK) {
        status = calibrate_write(call, &made, path, options.n_samples, err);
        odb_calibrated_dispose(&made);
    }
    odb_call__samples_dispose(&samples);
    return status;
}
