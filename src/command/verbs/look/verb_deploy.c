/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "deploy/deploy.h"
#include "doctor/doctor.h"
#include "executor/spec.h"
#include "report/json.h"

#define DEPLOY_LEFT 8 /* columns before what is said */
#define DEPLOY_USUAL ".local/bin/onnxdbg-serve"
#define DEPLOY_SERVE "ONNXDBG_REMOTE_SERVE"

/* One deployment, from the place to the trial. */
struct deploying {
    const char *place; /* borrowed: "ssh:board", "via:podman exec -i NAME" */
    struct odb_link link;
    struct odb_deploy_facts host, brought;
    struct odb_deploy_build build;
    struct odb_doctor_target trial;
    bool same;  /* it was there already */
    char *spec; /* owned: the place with the path, as it is put before ",SPEC" */
    char *next; /* owned: the command that is next */
};

static void deploying_dispose(struct deploying *d)
{
    odb_link_dispose(&d->link);
    odb_deploy_facts_dispose(&d->host);
    odb_deploy_facts_dispose(&d->brought);
    odb_deploy_build_dispose(&d->build);
    odb_doctor_target_dispose(&d->trial);
    free(d->spec);
    free(d->next);
}

static bool deploying_by_ssh(const struct deploying *d)
{
    return !strncmp(d->place, "ssh:", 4);
}

/* The link to a place: HOST, ssh:HOST or via:COMMAND. */
static enum odb_status deploying_parse(struct deploying *d, const char *arg, char **place,
                                       struct odb_error *err)
{
    bool named = !strncmp(arg, "ssh:", 4) || !strncmp(arg, "via:", 4);
    struct odb_spec *spec;
    d->place = *place = odb_xasprintf("%s%s", named ? "" : "ssh:", arg);
    char *text = odb_xasprintf("%s,cpu", d->place);
    enum odb_status status = odb_spec_parse(&spec, text, err);
    free(text);
    if (status != ODB_OK)
        return status;
    const char *wrong = odb_link_count(spec) > 1 ? "one place at a time"
                        : strcmp(spec->inner ? spec->inner : "", "cpu") != 0 ? "a place has no SPEC"
                        : strstr(spec->arg ? spec->arg : "", "onnxdbg-serve")
                            ? "the command is named without onnxdbg-serve"
                            : NULL;
    if (wrong) {
        odb_fail(err, ODB_E_USAGE, "%s", wrong);
        odb_error_at(err, "%s", arg);
        status = odb_error_remedy(err, "write HOST, HOST:PORT or via:COMMAND");
    } else
        status = odb_link_parse(&d->link, spec, err);
    odb_spec_free(spec);
    return status;
}

/* --- the trial -------------------------------------------------------------------------------- */

/* How it is named from now on: over ssh by a variable, unless it is found there without one. */
static void deploying_name(struct deploying *d, bool usual)
{
    const char *path = odb_deploy_fact(&d->host, "path");
    const char *found = odb_deploy_fact(&d->host, "found");
    bool ssh = deploying_by_ssh(d), plain = !ssh || !strcmp(found, path) || (usual && !found[0]);
    const char *which = strstr(odb_deploy_fact(&d->brought, "executors"), "ort ") ? "ort" : "cpu";
    d->spec = ssh ? odb_xstrdup(d->place) : odb_xasprintf("%s %s", d->place, path);
    d->next = odb_xasprintf("%s%s%sonnxdbg bisect MODEL --target %s%s,%s%s",
                            plain ? "" : DEPLOY_SERVE "=", plain ? "" : path, plain ? "" : " ",
                            ssh ? "" : "'", d->spec, which, ssh ? "" : "'");
}

/* The child that was brought, and no other, runs a model of one node. */
static enum odb_status deploying_try(struct deploying *d, struct odb_error *err)
{
    const char *had = getenv(DEPLOY_SERVE);
    char *before = had ? odb_xstrdup(had) : NULL;
    char *spec = odb_xasprintf("%s,cpu", d->spec);
    if (deploying_by_ssh(d))
        setenv(DEPLOY_SERVE, odb_deploy_fact(&d->host, "path"), 1);
    enum odb_status status = odb_doctor_try(&d->trial, spec, err);
    if (before)
        setenv(DEPLOY_SERVE, before, 1);
    else
        unsetenv(DEPLOY_SERVE);
    free(before);
    free(spec);
    return status;
}

/* --- what is said ----------------------------------------------------------------------------- */

static void deploying_line(struct odb_buf *out, const char *head, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    odb_buf_printf(out, "%-*s", DEPLOY_LEFT, head);
    odb_help_wrap(out, odb_buf_text(&shown), DEPLOY_LEFT, DEPLOY_LEFT);
    odb_buf_dispose(&shown);
}

static void deploying_put_host(const struct deploying *d, struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT;
    int libc = odb_deploy_libc(odb_deploy_fact(&d->host, "libc"));
    const char *page = odb_deploy_fact(&d->host, "page");
    const char *room = odb_deploy_fact(&d->host, "free");
    odb_buf_puts(&line, odb_deploy_fact(&d->host, "machine"));
    if (libc)
        odb_buf_printf(&line, ", glibc 2.%d", libc);
    if (page[0])
        odb_buf_printf(&line, ", pages of %s bytes", page);
    if (room[0]) {
        odb_buf_puts(&line, ", ");
        odb_buf_put_bytes(&line, (size_t)(strtod(room, NULL) * 1024));
        odb_buf_printf(&line, " free in %s", odb_deploy_fact(&d->host, "folder"));
    }
    const char *before = odb_deploy_fact(&d->host, "version");
    odb_buf_printf(&line, "; %s was there", before[0] ? before : "no onnxdbg-serve");
    deploying_line(out, "found", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

static void deploying_put(const struct deploying *d, struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT;
    bool works = d->trial.state == ODB_DOCTOR_WORKS;
    deploying_put_host(d, out);
    odb_buf_puts(&line, d->build.path);
    odb_buf_puts(&line, " (");
    odb_buf_put_bytes(&line, d->build.size);
    odb_buf_printf(&line, ", for glibc 2.%d or newer) to %s:%s", d->build.libc, d->link.where,
                   odb_deploy_fact(&d->host, "path"));
    deploying_line(out, d->same ? "there" : "sent", odb_buf_text(&line));
    odb_buf_clear(&line);
    if (works)
        odb_buf_printf(&line, "it ran a model of one node, %.2g s", d->trial.seconds);
    else
        odb_buf_puts(&line, d->trial.why ? d->trial.why : "it did not run a model of one node");
    if (odb_deploy_fact(&d->brought, "executors")[0])
        odb_buf_printf(&line, "; targets there: %s", odb_deploy_fact(&d->brought, "executors"));
    deploying_line(out, works ? "works" : "fails", odb_buf_text(&line));
    if (works)
        odb_buf_printf(out, "%-*s%s\n", DEPLOY_LEFT, "next", d->next);
    odb_buf_dispose(&line);
}

static json_t *deploying_text(const struct odb_deploy_facts *facts, const char *key)
{
    const char *value = odb_deploy_fact(facts, key);
    return odb_json_text(value[0] ? value : NULL);
}

static json_t *deploying_number(const char *text, json_int_t unit)
{
    return text[0] ? json_integer(strtoll(text, NULL, 10) * unit) : json_null();
}

static json_t *deploying_json(const struct deploying *d)
{
    bool works = d->trial.state == ODB_DOCTOR_WORKS;
    int libc = odb_deploy_libc(odb_deploy_fact(&d->host, "libc"));
    json_t *json = json_pack("{s:o,s:o,s:o,s:o,s:o}", "place", odb_json_text(d->place), "machine",
                             deploying_text(&d->host, "machine"), "page",
                             deploying_number(odb_deploy_fact(&d->host, "page"), 1), "free",
                             deploying_number(odb_deploy_fact(&d->host, "free"), 1024), "before",
                             deploying_text(&d->host, "version"));
    char text[32];
    snprintf(text, sizeof text, "2.%d", libc);
    json_object_set_new(json, "libc", odb_json_text(libc ? text : NULL));
    snprintf(text, sizeof text, "2.%d", d->build.libc);
    json_object_set_new(json, "needs", odb_json_text(text));
    json_object_set_new(json, "path", deploying_text(&d->host, "path"));
    json_object_set_new(json, "file", odb_json_text(d->build.path));
    json_object_set_new(json, "size", json_integer((json_int_t)d->build.size));
    json_object_set_new(json, "sent", json_boolean(!d->same));
    json_object_set_new(json, "works", json_boolean(works));
    json_object_set_new(json, "why", odb_json_text(d->trial.why));
    json_object_set_new(json, "seconds", odb_json_real(d->trial.seconds));
    json_object_set_new(json, "next", odb_json_text(works ? d->next : NULL));
    return json;
}

enum odb_status odb_command__deploy(struct odb_command_call *call, struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_DEPLOY_PATH);
    struct deploying d = {0};
    struct odb_buf out = ODB_BUF_INIT;
    char *place = NULL;
    enum odb_status status;
    ODB_TRY_OUT(deploying_parse(&d, odb_call_arg(call, 0), &place, err));
    ODB_TRY_OUT(odb_deploy_ask(&d.host, &d.link, path ? path : DEPLOY_USUAL, err));
    ODB_TRY_OUT(odb_deploy_find(&d.build, &d.link, &d.host, err));
    ODB_TRY_OUT(odb_deploy_check(&d.link, &d.host, &d.build, &d.same, err));
    if (!d.same)
        ODB_TRY_OUT(odb_deploy_put(&d.brought, &d.link, &d.host, &d.build, err));
    deploying_name(&d, !path || !strcmp(path, DEPLOY_USUAL));
    ODB_TRY_OUT(deploying_try(&d, err));
    call->found = d.trial.state != ODB_DOCTOR_WORKS;
    if (odb_call_has(call, ODB_OPTION_JSON))
        odb_json_put(deploying_json(&d), &out);
    else
        deploying_put(&d, &out);
    odb_call__print(call, &out);
out:
    odb_buf_dispose(&out);
    deploying_dispose(&d);
    free(place);
    return status;
}
