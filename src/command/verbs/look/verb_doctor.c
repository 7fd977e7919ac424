/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/trust_store.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "doctor/doctor.h"
#include "executor/executor.h"
#include "report/json.h"
#include "system/file.h"

#define DOCTOR_LEFT 20 /* columns before what is said */

static json_t *doctor_json_target(const struct odb_doctor_target *target)
{
    return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o}", "spec", odb_json_text(target->spec), "state",
                     odb_doctor_state_name(target->state), "found", odb_json_text(target->found),
                     "why", odb_json_text(target->why), "get", odb_json_text(target->get),
                     "seconds", odb_json_real(target->seconds));
}

static void doctor_put_target(const struct odb_doctor_target *target, struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT;
    if (target->state == ODB_DOCTOR_YOURS)
        odb_buf_printf(&line, "%s: name yours, and it is tried", target->spec);
    else if (target->why)
        odb_buf_put_shown(&line, target->why);
    else {
        odb_buf_put_shown(&line, target->found ? target->found : "");
        odb_buf_printf(&line, "%s%.2g s", target->found ? "; " : "", target->seconds);
    }
    size_t kind = strcspn(target->spec, ":,@");
    odb_buf_printf(out, "%-10.*s %-8s ", (int)kind, target->spec,
                   odb_doctor_state_name(target->state));
    odb_help_wrap(out, odb_buf_text(&line), DOCTOR_LEFT, DOCTOR_LEFT);
    if (target->get)
        odb_buf_printf(out, "%*sget it: %s\n", DOCTOR_LEFT, "", target->get);
    odb_buf_dispose(&line);
}

/* Tries one, says what came of it, and whether it works. */
static enum odb_status doctor_try(const char *spec, json_t *list, struct odb_buf *out, bool *works,
                                  struct odb_error *err)
{
    struct odb_doctor_target target;
    ODB_TRY(odb_doctor_try(&target, spec, err));
    *works = target.state == ODB_DOCTOR_WORKS;
    json_array_append_new(list, doctor_json_target(&target));
    doctor_put_target(&target, out);
    odb_doctor_target_dispose(&target);
    return ODB_OK;
}

/* All kinds; of these the reference alone has to work everywhere. */
static enum odb_status doctor_all(struct odb_command_call *call, json_t *list, struct odb_buf *out,
                                  struct odb_error *err)
{
    size_t n;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++) {
        bool works = false;
        ODB_TRY(doctor_try(rows[i]->kind, list, out, &works, err));
        call->found |= rows[i]->reference && !works;
        if (!odb_call_has(call, ODB_OPTION_JSON))
            odb_call__print(call, out); /* a trial may take long */
    }
    return ODB_OK;
}

static void doctor_machine(struct odb_command_call *call, json_t *list, struct odb_buf *out)
{
    struct odb_doctor_items items;
    char *keys = odb_file_home("XDG_CONFIG_HOME", ".config", "onnxdbgrc");
    char *trust = odb_trust_path();
    odb_doctor_machine(&items, fileno(call->out));
    odb_doctor_file(&items, "settings", keys);
    odb_doctor_file(&items, "trust store", trust);
    odb_buf_putc(out, '\n');
    for (size_t i = 0; i < items.list.n; i++) {
        const struct odb_doctor_item *item = &items.list.items[i];
        odb_buf_printf(out, "%-*s", DOCTOR_LEFT, item->what);
        odb_help_wrap(out, item->text, DOCTOR_LEFT, DOCTOR_LEFT);
        if (item->way) {
            odb_buf_printf(out, "%*s", DOCTOR_LEFT, "");
            odb_help_wrap(out, item->way, DOCTOR_LEFT, DOCTOR_LEFT);
        }
        json_array_append_new(list, json_pack("{s:s,s:b,s:o,s:o}", "what", item->what, "fine",
                                              (int)item->fine, "text", odb_json_text(item->text),
                                              "way", odb_json_text(item->way)));
    }
    odb_doctor_items_dispose(&items);
    free(keys);
    free(trust);
}

enum odb_status odb_command__doctor(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    json_t *targets = json_array(), *machine = json_array();
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < call->n_args && status == ODB_OK; i++) {
        bool works = false;
        status = doctor_try(odb_call_arg(call, i), targets, &out, &works, err);
        call->found |= !works;
    }
    if (!call->n_args) {
        status = doctor_all(call, targets, &out, err);
        if (status == ODB_OK)
            doctor_machine(call, machine, &out);
    }
    if (odb_call_has(call, ODB_OPTION_JSON)) {
        odb_buf_clear(&out);
        odb_json_put(json_pack("{s:O,s:O}", "targets", targets, "machine", machine), &out);
    }
    if (status == ODB_OK)
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    json_decref(targets);
    json_decref(machine);
    return status;
}
