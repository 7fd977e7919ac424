/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/table/call.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "base/utf8.h"
#include "system/file.h"
#include "command/console/sessions.h"
#include "command/console/watch.h"
#include "run/feeds.h"
#include "inputs/inputs.h"
#include "probe/run_values.h"
#include "executor/executor.h"
#include "tensor/format/npy.h"
#include "model/read/load.h"
#include "model/write/external.h"
#include "model/read/pb.h"

void odb_call__print(struct odb_command_call *call, struct odb_buf *text)
{
    errno = 0;
    if (fwrite(odb_buf_text(text), 1, text->len, call->out) < text->len && !call->write_error)
        call->write_error = errno ? errno : EIO;
    odb_buf_dispose(text);
}

bool odb_call__json(const struct odb_command_call *call, bool *instead)
{
    const char *path = odb_call_option(call, ODB_OPTION_JSON_FILE);
    *instead = path && !strcmp(path, "-");
    return path != NULL;
}

enum odb_status odb_call__publish(struct odb_command_call *call, struct odb_buf *json,
                                  struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_JSON_FILE);
    enum odb_status status = ODB_OK;
    if (strcmp(path, "-"))
        status = odb_file_write(path, json->data, json->len, err);
    else
        odb_call__print(call, json);
    odb_buf_dispose(json);
    return status;
}

bool odb_call__same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool call_has_weights(const struct odb_model *model, const char *path)
{
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++) {
        char *file = odb_xasprintf("%s/%s", model->dir && *model->dir ? model->dir : ".", files[i]);
        found = odb_call__same_file(file, path);
        free(file);
    }
    free((void *)files);
    return found;
}

enum odb_status odb_call__spare_model(const struct odb_command_call *call, const char *path,
                                      struct odb_error *err)
{
    if (!call->model)
        return ODB_OK;
    if (odb_call__same_file(call->model->path, path))
        odb_fail(err, ODB_E_USAGE, "%s is the model itself, which would be lost", path);
    else if (call_has_weights(call->model, path))
        odb_fail(err, ODB_E_USAGE, "%s holds weights of the model, which would be lost", path);
    else
        return ODB_OK;
    return odb_error_remedy(err, "write to another file");
}

void odb_call__put_line(struct odb_buf *out, const char *text, int width)
{
    const char *p = text;
    for (int column = 0; *p;) {
        uint32_t c;
        size_t n = odb_utf8_read(p, strnlen(p, ODB_UTF8_MAX), &c);
        column += n ? ODB_MAX(wcwidth((wchar_t)c), 0) : 1;
        if (width > 0 && column > width)
            break;
        p += n ? n : 1;
    }
    odb_buf_add(out, text, (size_t)(p - text));
    odb_buf_putc(out, '\n');
}

void odb_call__warn(struct odb_command_call *call, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    fprintf(call->log, "onnxdbg: warning: %s\n", odb_buf_text(&shown));
    odb_buf_dispose(&shown);
}

static bool call_names_map_visit(const struct odb_spec *spec, void *payload)
{
    bool *names = payload;
    *names = odb_spec_option(spec, "map") != NULL;
    return !*names;
}

/* Whether a recording's spec names a map itself, behind a transport too. */
static bool call_names_map(const char *spec)
{
    bool names = false;
    return odb_spec_walk(spec, call_names_map_visit, &names, NULL) == ODB_OK && names;
}

/* What an option says, or the console where the command has no such option. */
static const char *call_setting(const struct odb_command_call *call, enum odb_option_id id)
{
    const char *value = odb_call_option(call, id);
    return value || !call->console ? value : odb_console_get(call->console, id);
}

/* The spec in the words of --map, where it is a recording's that names no map itself. */
static const char *call_mapped(struct odb_command_call *call, const char *spec)
{
    const char *map = call_setting(call, ODB_OPTION_MAP);
    struct odb_buf text = ODB_BUF_INIT;
    if (!spec || !map || !odb_executor_recorded(spec) || call_names_map(spec))
        return spec;
    odb_buf_printf(&text, "%s,map=", spec);
    for (const char *p = map; *p; p++)
        odb_buf_printf(&text, "%s%c", strchr(",=@\\", *p) ? "\\" : "", *p);
    odb_push(&call->texts, odb_buf_take(&text));
    return call->texts.items[call->texts.n - 1];
}

const char *odb_call__spec(struct odb_command_call *call, enum odb_option_id id)
{
    const char *spec = call_setting(call, id);
    char *named = spec ? odb_executor_named(call->console, spec) : NULL;
    if (named)
        odb_push(&call->texts, named);
    return call_mapped(call, named ? named : spec);
}

/* Which inputs were taken from a recording that is target, reference or golden. */
static void call_say_recorded(struct odb_command_call *call, const struct odb_feeds *feeds)
{
    struct odb_buf names = ODB_BUF_INIT;
    const char *source = NULL;
    for (size_t i = 0; i < feeds->n; i++) {
        const struct odb_feed *feed = &feeds->items[i];
        if (strncmp(feed->source, "recorded, ", 10) != 0)
            continue;
        source = feed->source + 10;
        odb_buf_puts(&names, names.len ? ", " : "");
        odb_buf_put_shown(&names, call->model->graph->values[feed->value].name);
    }
    if (source) {
        fprintf(call->log, "onnxdbg: inputs as recorded, from %s: %s\n", source,
                odb_buf_text(&names));
    }
    odb_buf_dispose(&names);
}

static void call_warn_lines(struct odb_command_call *call, const char *lines)
{
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        char *line = odb_xstrndup(lines, n);
        odb_call__warn(call, line);
        free(line);
        lines += n + (lines[n] == '\n');
    }
}

/* At a console there is no command line to add an option to, but one to type. */
static enum odb_status call_feeds_remedy(const struct odb_command_call *call, struct odb_error *err)
{
    struct odb_error first = *err;
    if (call->console && !strncmp(first.remedy, "add --", 6))
        return odb_error_remedy(err, "type `:bisect %.400s`", first.remedy + 4);
    return err->code;
}

size_t odb_call__recordings(struct odb_command_call *call, const char **list)
{
    static const enum odb_option_id sides[ODB_CALL_RECORDINGS] = {
        ODB_OPTION_TARGET, ODB_OPTION_REFERENCE, ODB_OPTION_GOLDEN};
    size_t n = 0;
    for (size_t i = 0; i < ODB_COUNT(sides); i++)
        if ((list[n] = odb_call__spec(call, sides[i])))
            n++;
    return n;
}

enum odb_status odb_call__make_feeds(struct odb_command_call *call, const char *from,
                                     uint32_t shift, struct odb_feeds **out, struct odb_error *err)
{
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    const char *recordings[ODB_CALL_RECORDINGS];
    options.inputs = odb_call_list(call, ODB_OPTION_INPUT, &options.n_inputs);
    options.dims = odb_call_list(call, ODB_OPTION_DIM, &options.n_dims);
    options.inputs_from = from;
    options.seed = (uint32_t)odb_call_int(call, ODB_OPTION_SEED, options.seed) + shift;
    options.recordings = recordings;
    options.n_recordings = odb_call__recordings(call, recordings);
    enum odb_status status = odb_feeds_make(out, call->model, &options, err);
    free((void *)options.inputs);
    free((void *)options.dims);
    return status == ODB_OK ? ODB_OK : call_feeds_remedy(call, err);
}

void odb_call__feed_tell(struct odb_command_call *call, const struct odb_feeds *feeds)
{
    call_say_recorded(call, feeds);
    call_warn_lines(call, feeds->warnings);
}

void odb_call__feed_take(struct odb_command_call *call, struct odb_feeds *feeds)
{
    odb_call__feed_tell(call, feeds);
    odb_session_feed_take(call->session, feeds);
}

enum odb_status odb_call__feeds(struct odb_command_call *call, const struct odb_feeds **out,
                                struct odb_error *err)
{
    struct odb_feeds *feeds;
    *out = call->session->feeds;
    if (*out)
        return ODB_OK;
    ODB_TRY(
        odb_call__make_feeds(call, odb_call_option(call, ODB_OPTION_INPUTS_FROM), 0, &feeds, err));
    odb_call__feed_take(call, feeds);
    *out = feeds;
    return odb_call__input_settings_keep(call, false, err);
}

enum odb_status odb_call__shapes(struct odb_command_call *call,
                                 void (*see)(void *payload, int value, const struct odb_tensor *t),
                                 void *payload, struct odb_shapes *out, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    *out = (struct odb_shapes){0};
    if (!odb_call_has(call, ODB_OPTION_MEASURE)) {
        odb_shapes_declared(out, call->model);
        return ODB_OK;
    }
    if (call->console) /* whose commands may run while another one does */
        return odb_fail(err, ODB_E_USAGE, "--run is for the shell's command line");
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_shapes_measure(out, call->model, feeds, see, payload, &hooks, err);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_call__tolerance(const struct odb_command_call *call, struct odb_criterion *out,
                                    struct odb_error *err)
{
    return odb_criterion_parse(out, odb_call_option(call, ODB_OPTION_TOL), err);
}

enum odb_status odb_call__real(const struct odb_command_call *call, enum odb_option_id id,
                               double *out, struct odb_error *err)
{
    const char *text = odb_call_option(call, id);
    char *end;
    if (!text)
        return ODB_OK;
    *out = strtod(text, &end);
    if (*text && !*end && *out >= 0)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "'%.40s' is no number that is not negative", text);
    return odb_error_at(err, "--%s", odb_option_row(id)->name);
}

const char *odb_call__target(struct odb_command_call *call)
{
    const char *spec = odb_call__spec(call, ODB_OPTION_TARGET);
    return spec ? spec : odb_call__default_target();
}

const char *odb_call__default_target(void)
{
    const struct odb_executor_ops *usual = odb_executor_usual();
    return usual ? usual->kind : "cpu:f16";
}

enum odb_status odb_call__search_options(struct odb_command_call *call,
                                         struct odb_bisect_options *out, struct odb_error *err)
{
    static const char *const names[] = {
#define CALL_STRATEGY(name, text, help) [ODB_STRATEGY_##name] = text,
        ODB_STRATEGY_LIST(CALL_STRATEGY)
#undef CALL_STRATEGY
    };
    const char *reference = odb_call__spec(call, ODB_OPTION_REFERENCE);
    const char *strategy = odb_call_option(call, ODB_OPTION_STRATEGY);
    *out = (struct odb_bisect_options){
        .reference = reference ? reference : "cpu",
        .golden = odb_call__spec(call, ODB_OPTION_GOLDEN),
        .target = odb_call__target(call),
        .expect = odb_call_option(call, ODB_OPTION_EXPECT),
        .seed = (uint64_t)odb_call_int(call, ODB_OPTION_SEED, 42),
        .repeat = (int)odb_call_int(call, ODB_OPTION_REPEAT, 0),
    };
    out->strict = odb_call_has(call, ODB_OPTION_STRICT);
    out->no_enter = odb_call_option(call, ODB_OPTION_NO_ENTER) != NULL;
    for (size_t i = 0; strategy && i < ODB_COUNT(names); i++)
        if (!strcmp(names[i], strategy))
            out->strategy = (enum odb_strategy)i;
    out->step = (size_t)odb_call_int(call, ODB_OPTION_STEP, 0);
    return odb_call__tolerance(call, &out->tolerance, err);
}

static enum odb_status call_no_value(const struct odb_graph *graph, const char *text,
                                     struct odb_error *err)
{
    struct odb_buf shown = ODB_BUF_INIT, near_shown = ODB_BUF_INIT;
    const char **names = odb_new_n(const char *, graph->n_values + 1);
    for (size_t i = 0; i < graph->n_values; i++)
        names[i] = graph->values[i].name;
    const char *near = odb_nearest(text, names, graph->n_values);
    odb_buf_put_shown(&shown, text);
    odb_fail(err, ODB_E_USAGE, "the model has no value '%s'", odb_buf_text(&shown));
    if (near && *near) {
        odb_buf_put_shown(&near_shown, near);
        odb_error_remedy(err, "did you mean '%s'?", odb_buf_text(&near_shown));
    } else {
        odb_error_remedy(err, "`onnxdbg nodes` lists the values");
    }
    free(names);
    odb_buf_dispose(&shown);
    odb_buf_dispose(&near_shown);
    return ODB_E_USAGE;
}

enum odb_status odb_call__find_value(const struct odb_graph *graph, const char *text, int *index,
                                     struct odb_error *err)
{
    const struct odb_value *value = *text ? odb_graph_value(graph, text) : NULL;
    char *end = NULL;
    if (value) {
        *index = value->index;
        return ODB_OK;
    }
    if (text[0] == '#' && text[1] >= '0' && text[1] <= '9') {
        unsigned long node = strtoul(text + 1, &end, 10), slot = 0;
        if (end[0] == ':' && end[1] >= '0' && end[1] <= '9')
            slot = strtoul(end + 1, &end, 10);
        if (!*end && node < graph->n_nodes && slot < (unsigned long)graph->nodes[node].n_out &&
            graph->nodes[node].out[slot] != ODB_NO_VALUE) {
            *index = graph->nodes[node].out[slot];
            return ODB_OK;
        }
    }
    return call_no_value(graph, text, err);
}

static bool call_names_node(const struct odb_graph *graph, const char *text)
{
    bool named = false;
    for (size_t n = 0; n < graph->n_nodes && *text && !named; n++)
        named = !strcmp(graph->nodes[n].name, text);
    return named;
}

enum odb_status odb_call__find_output(const struct odb_graph *graph, const char *text, int *index,
                                      struct odb_error *err)
{
    int node;
    if (odb_graph_value(graph, text) || !call_names_node(graph, text))
        return odb_call__find_value(graph, text, index, err);
    ODB_TRY(odb_graph_find_node(graph, text, &node, err));
    for (int o = 0; o < graph->nodes[node].n_out; o++)
        if (graph->nodes[node].out[o] != ODB_NO_VALUE) {
            *index = graph->nodes[node].out[o];
            return ODB_OK;
        }
    return odb_fail(err, ODB_E_USAGE, "node '%s' makes no value", text);
}

static bool call_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

/* The bytes do not say what they are: a sequence or an optional, whose one value looks like a
 * sequence of one, where they are no tensor. */
static enum odb_status call_read_pb(struct odb_tensor **out, const char *path,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_pb_read(out, ODB_TENSOR, path, &why);
    if (status == ODB_E_MODEL && odb_pb_read(out, ODB_SEQUENCE, path, NULL) == ODB_OK)
        return ODB_OK;
    if (status != ODB_OK && err)
        *err = why;
    return status;
}

enum odb_status odb_call__read_tensor(struct odb_tensor **out, const char *path,
                                      struct odb_error *err)
{
    if (call_ends_with(path, ".npy"))
        return odb_npy_read(out, path, err);
    if (call_ends_with(path, ".pb"))
        return call_read_pb(out, path, err);
    odb_fail(err, ODB_E_USAGE, "neither a .npy nor a .pb file");
    return odb_error_at(err, "%s", path);
}

const char *odb_call__runner(struct odb_command_call *call)
{
    const char *target = odb_call__spec(call, ODB_OPTION_TARGET);
    const char *reference = odb_call__spec(call, ODB_OPTION_REFERENCE);
    return target ? target : reference ? reference : "cpu";
}

enum odb_status odb_call__open_model(struct odb_command_call *call, const char *path,
                                     struct odb_error *err)
{
    const char *session = odb_call_option(call, ODB_OPTION_SESSION);
    bool takes = odb_command_takes(call->command, ODB_OPTION_SESSION);
    struct odb_model *model;
    char *of = NULL;
    bool stored = odb_stored_is(path);
    if (stored && (!takes || session)) {
        odb_fail(err, ODB_E_INPUT, "it is a session, and no model");
        odb_error_remedy(err, takes ? "leave --session out" : "name the model that it is about");
        return odb_error_at(err, "%s", path);
    }
    if (stored) {
        ODB_TRY(odb_sessions_model(&of, path, err));
        session = path;
    }
    if (session && !(call->command->flags & ODB_COMMAND_RECORDS) && access(session, R_OK) != 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "--session %s", session);
    }
    enum odb_status status = odb_call_read_model(&model, call, of ? of : path, err);
    free(of);
    ODB_TRY(status);
    ODB_TRY(odb_session_open_take(&call->session, model, session, err));
    call->model = call->session->model;
    if (stored || !(call->command->flags & ODB_COMMAND_RECORDS))
        return odb_call__input_settings_restore(call, err);
    return ODB_OK;
}

enum odb_status odb_call__open_source(struct odb_command_call *call, struct odb_error *err)
{
    const char *source = call->args[0];
    if (call->model || call_ends_with(source, ".npy") || call_ends_with(source, ".pb"))
        return ODB_OK;
    return odb_call__open_model(call, source, err);
}

enum odb_status odb_call_read_model(struct odb_model **out, const struct odb_command_call *call,
                                    const char *path, struct odb_error *err)
{
    bool all = odb_call_has(call, ODB_OPTION_FOLLOW_LINKS) ||
               (call->console && call->console->session->model->links == ODB_LINKS_ALL);
    return odb_model_open_linked(out, path, all ? ODB_LINKS_ALL : ODB_LINKS_NEAR, err);
}

/* At a console the reference runs once, with what is pinned, and keeps all values. */
static enum odb_status call_reference(struct odb_command_call *call, int value,
                                      struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_value *v = &call->model->graph->values[value];
    struct odb_bisect_options options;
    struct odb_trace *trace;
    struct odb_watch watch;
    *out = odb_session_reference(call->session, value);
    if (*out)
        return ODB_OK;
    ODB_TRY(odb_call__search_options(call, &options, err));
    options.hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_session_trace(call->session, &trace, &options, err);
    odb_watch_end(&watch);
    ODB_TRY(status);
    *out = odb_session_reference(call->session, value);
    if (*out)
        return ODB_OK;
    const char *why = v->producer == ODB_NO_NODE ? NULL : trace->why[v->producer];
    return odb_fail(err, ODB_E_OPERATOR, "the reference has no value for %s%s%s", v->name,
                    why ? ": " : "", why ? why : "");
}

/* A command of the shell runs what the one value needs. */
static enum odb_status call_compute(struct odb_command_call *call, int value,
                                    struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    if (call->console)
        return call_reference(call, value, out, err);
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_run_values(call->model, feeds, odb_call__runner(call), &value, 1,
                                            out, NULL, 0, &hooks, err);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_call__value(struct odb_command_call *call, const char *name,
                                struct odb_tensor **out, struct odb_error *err)
{
    int index;
    if (!call->model && name)
        return odb_fail(err, ODB_E_USAGE, "a tensor file holds one value, without a name");
    if (!call->model)
        return odb_call__read_tensor(out, call->args[0], err);
    if (!name) {
        odb_fail(err, ODB_E_USAGE, "no value is named");
        return odb_error_remedy(err, "name one; `onnxdbg nodes %s` lists them", call->args[0]);
    }
    ODB_TRY(odb_call__find_output(call->model->graph, name, &index, err));
    if (!call->model->graph->values[index].init)
        return call_compute(call, index, out, err);
    *out = odb_tensor_ref(call->model->graph->values[index].init);
    return ODB_OK;
}

enum odb_status odb_call__mark_nodes(const struct odb_graph *graph, const char *text, bool **marks,
                                     size_t *n, struct odb_error *err)
{
    int index;
    struct odb_error why = ODB_ERROR_INIT;
    bool *found = odb_new_n(bool, graph->n_nodes + 1);
    bool named = odb_graph_find_node(graph, text, &index, &why) == ODB_OK;
    *n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        found[i] = named ? (int)i == index : !strcasecmp(graph->nodes[i].op_type, text);
        *n += found[i];
    }
    *marks = found;
    if (*n)
        return ODB_OK;
    free(found);
    *marks = NULL;
    if (err)
        *err = why;
    return why.code;
}

const char *odb_call__type_text(const struct odb_tensor *t, char *buf, size_t size)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "sparse", "map"};
    char shape[256];
    if (t->kind == ODB_TENSOR)
        snprintf(buf, size, "%s %s", odb_dtype_info(t->dtype)->name,
                 odb_shape_text(t, shape, sizeof shape));
    else if (t->kind == ODB_SEQUENCE || t->kind == ODB_OPTIONAL)
        snprintf(buf, size, "%s of %zu", kinds[t->kind], t->n_items);
    else
        snprintf(buf, size, "%s", kinds[t->kind]);
    return buf;
}

void odb_call__put_metadata(const struct odb_metadata *metadata, struct odb_buf *out)
{
    for (size_t i = 0; i < metadata->n; i++) {
        char *value = odb_xstrdup(metadata->items[i][1]), *rest = value;
        odb_buf_puts(out, i ? "            " : "metadata    ");
        odb_buf_put_shown(out, metadata->items[i][0]);
        odb_buf_puts(out, " = ");
        odb_buf_put_shown(out, strsep(&rest, "\n"));
        while (rest) {
            odb_buf_puts(out, "\n              ");
            odb_buf_put_shown(out, strsep(&rest, "\n"));
        }
        odb_buf_putc(out, '\n');
        free(value);
    }
}
