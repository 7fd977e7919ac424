/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "doctor/doctor.h"
#include "executor/likely.h"
#include "executor/transport/target.h"

/* y = Relu(x) in ONNX's own bytes: whatever runs models runs that, of six floats. */
/* clang-format off */
static const unsigned char try_model[] = {
    0x08, 7,                                                       /* ir_version */
    0x3a, 59,                                                      /* graph */
    0x0a, 12, 0x0a, 1, 'x', 0x12, 1, 'y', 0x22, 4, 'R', 'e', 'l', 'u', /* node */
    0x12, 1, 'g',                                                  /* name */
    0x5a, 19, 0x0a, 1, 'x', 0x12, 14, 0x0a, 12, 0x08, 1,           /* input x: float */
    0x12, 8, 0x0a, 2, 0x08, 1, 0x0a, 2, 0x08, 6,                   /*   [1, 6] */
    0x62, 19, 0x0a, 1, 'y', 0x12, 14, 0x0a, 12, 0x08, 1,           /* output y: float */
    0x12, 8, 0x0a, 2, 0x08, 1, 0x0a, 2, 0x08, 6,                   /*   [1, 6] */
    0x42, 2, 0x10, 13,                                             /* opset_import */
};
/* clang-format on */
#define TRY_N 6
#define TRY_VALUES 24 /* bytes of choices that are written out */

static bool try_late(void *end)
{
    return odb_clock() > *(const double *)end;
}

const char *odb_doctor_state_name(enum odb_doctor_state state)
{
#define DOCTOR_NAME(id, name) name,
    static const char *const names[] = {ODB_DOCTOR_STATE_LIST(DOCTOR_NAME)};
#undef DOCTOR_NAME
    return names[state];
}

static enum odb_status try_right(const struct odb_tensor *y, const float *x, struct odb_error *err)
{
    const float *had = y && y->dtype == ODB_F32 && y->count == TRY_N ? y->data : NULL;
    for (size_t i = 0; i < TRY_N; i++)
        if (!had || !(had[i] == (x[i] > 0 ? x[i] : 0)))
            return odb_fail(err, ODB_E_EXECUTOR, "it runs the model, and %s is wrong",
                            had ? "a number" : "the type or the shape of the output");
    return ODB_OK;
}

static enum odb_status try_run(struct odb_target *target, struct odb_error *err)
{
    static const float x[TRY_N] = {1, -2, 3, 0.5F, 0, 1024};
    static const int node = 0;
    static const char *const y = "y";
    const struct odb_load load = {.bytes = try_model,
                                  .size = sizeof try_model,
                                  .dir = ".",
                                  .node_index = &node,
                                  .n_nodes = 1,
                                  .original_outputs = &y,
                                  .n_original_outputs = 1};
    struct odb_tensor *fed = NULL, *got = NULL;
    enum odb_status status = odb_target_load(target, &load, err);
    if (status == ODB_OK)
        status = odb_tensor_copy_of(&fed, ODB_F32, 2, (const int64_t[]){1, TRY_N}, x, err);
    if (status == ODB_OK)
        status = odb_target_run(target, &(struct odb_named){"x", fed}, 1, &y, 1, &got, err);
    if (status == ODB_OK)
        status = try_right(got, x, err);
    odb_tensor_unref(fed);
    odb_tensor_unref(got);
    return status;
}

/* Opens the target, and has it run the model, unless it is a recording, which runs none. */
static void try_open(struct odb_doctor_target *out)
{
    struct odb_target *target = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    double began = odb_clock(), end = began + ODB_DOCTOR_SECONDS;
    enum odb_status status = odb_target_open_until(&target, out->spec, try_late, &end, &err);
    if (target)
        odb_target_set_cancel(target, try_late, &end);
    if (status == ODB_OK && !odb_executor_recorded(out->spec))
        status = try_run(target, &err);
    out->seconds = odb_clock() - began;
    if (target && *odb_target_description(target))
        out->found = odb_xstrdup(odb_target_description(target));
    out->state = status == ODB_OK ? ODB_DOCTOR_WORKS : ODB_DOCTOR_FAILS;
    if (status == ODB_CANCELLED)
        out->why = odb_xasprintf("it did not end within %d s", ODB_DOCTOR_SECONDS);
    else if (status != ODB_OK)
        out->why = odb_xstrdup(odb_error_text(&err, text, sizeof text));
    odb_target_close(target);
}

/* A spec lacks what its kind needs, an argument or another spec: how it is written then, which is
 * the caller's. NULL: it lacks nothing. */
static char *try_lacks(const struct odb_spec *spec)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (const struct odb_executor_option *row = spec->row->options; row && row->key; row++) {
        bool there = !strcmp(row->key, ":")   ? spec->arg != NULL
                     : !strcmp(row->key, "@") ? spec->inner != NULL
                                              : odb_spec_option(spec, row->key) != NULL;
        if (!row->needed || there)
            continue;
        odb_buf_puts(&text, text.len ? "" : spec->kind);
        if (row->values && strlen(row->values) > TRY_VALUES) {
            odb_buf_puts(&text, ":...");
            continue;
        }
        odb_buf_puts(&text, strchr(":@", row->key[0]) ? "" : ",");
        odb_spec_put_row("", row, &text);
    }
    return text.len ? odb_buf_take(&text) : NULL;
}

enum odb_status odb_doctor_try(struct odb_doctor_target *out, const char *text,
                               struct odb_error *err)
{
    struct odb_spec *spec;
    char why[1024];
    *out = (struct odb_doctor_target){0};
    ODB_TRY(odb_spec_parse(&spec, text, err));
    enum odb_status status = ODB_OK;
    if (!spec->row) {
        odb_fail(err, ODB_E_USAGE, "there is no executor '%s'", spec->kind);
        status = odb_executor_likely(err, spec->kind, "`onnxdbg executors` lists them");
        odb_spec_free(spec);
        return status;
    }
    char *written = try_lacks(spec);
    out->spec = written ? written : odb_xstrdup(text);
    if (!odb_executor_available(spec->row, spec, why, sizeof why)) {
        out->state = ODB_DOCTOR_MISSING;
        out->why = odb_xstrdup(why);
        if (spec->row->get && !odb_executor_runtime(spec->row, spec).path) /* else that is wrong */
            out->get = odb_xstrdup(spec->row->get);
    } else if (written) {
        out->state = ODB_DOCTOR_YOURS;
    } else {
        try_open(out);
    }
    odb_spec_free(spec);
    return status;
}

void odb_doctor_target_dispose(struct odb_doctor_target *target)
{
    free(target->spec);
    free(target->found);
    free(target->why);
    free(target->get);
    *target = (struct odb_doctor_target){0};
}
