/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a model is fed. Files come first, because their shapes bind symbolic dimensions; then the
 * options that bind what is left; then the one stream of random numbers that runs over all inputs
 * in order, whether they need it or not.
 */
#include "inputs/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/file.h"
#include "base/mem.h"
#include "tensor/format/pyjson.h"
#include "dump/dump_info.h"
#include "run/feeds.h"
#include "inputs/input_int.h"
#include "probe/run_values.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tensor/random.h"

/* One input on its way. */
struct inputs_port {
    const struct odb_value *value;
    struct odb_tensor *tensor; /* ref; NULL: to be generated */
    char source[256];
    int rank;                   /* -1: not declared */
    int64_t dims[ODB_MAX_RANK]; /* -1: not bound */
    bool generated;             /* it was not given */
    bool range;                 /* lo, hi, seed below */
    double lo, hi;
    uint64_t seed;
};

/* A symbolic dimension with its number, and which input or option gave it. */
struct inputs_binding {
    const char *param; /* borrowed: model */
    int64_t n;
    char *from; /* owned */
};

struct inputs_work {
    const struct odb_model *model;
    const struct odb_input_options *options;
    struct inputs_port *ports; /* owned */
    size_t n;
    ODB_VEC(struct inputs_binding) bound;
    struct odb_buf warnings;
};

static enum odb_status inputs_usage(struct odb_error *err, const char *option, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    odb_error_at(err, "%s %s", option, odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    return ODB_E_USAGE;
}

/* --- names ----------------------------------------------------------------------------------- */

static struct inputs_port *inputs_find(struct inputs_work *work, const char *name, size_t len)
{
    for (size_t i = 0; i < work->n; i++) {
        const char *own = work->ports[i].value->name;
        if (strlen(own) == len && !memcmp(own, name, len))
            return &work->ports[i];
    }
    return NULL;
}

/* "no input 'x'", and which there are. */
static enum odb_status inputs_unknown(const struct inputs_work *work, const char *name, size_t len,
                                      struct odb_error *err)
{
    const struct odb_graph *graph = work->model->graph;
    struct odb_buf list = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    char *own = odb_xstrndup(name, len);
    const struct odb_value *value = odb_graph_value(graph, own);
    odb_buf_put_shown(&shown, own);
    for (size_t i = 0; i < work->n && i < 16; i++) {
        odb_buf_puts(&list, i ? ", " : "");
        odb_buf_put_shown(&list, work->ports[i].value->name);
    }
    if (value && value->is_input)
        odb_fail(err, ODB_E_USAGE, "'%s' has a weight as its value and is not fed",
                 odb_buf_text(&shown));
    else if (value && value->producer != ODB_NO_NODE)
        odb_fail(err, ODB_E_USAGE, "'%s' is no input: node #%d computes it", odb_buf_text(&shown),
                 value->producer);
    else
        odb_fail(err, ODB_E_USAGE, "the model has no input '%s'", odb_buf_text(&shown));
    if (value && value->producer != ODB_NO_NODE)
        odb_error_remedy(err,
                         "feed it to what lies behind it: onnxdbg extract MODEL --inputs %s "
                         "--input %s=FILE -o BEHIND.onnx makes that a model",
                         odb_buf_text(&shown), odb_buf_text(&shown));
    else if (work->n)
        odb_error_remedy(err, "its inputs are %s", odb_buf_text(&list));
    else
        odb_error_remedy(err, "it has no inputs");
    odb_buf_dispose(&list);
    odb_buf_dispose(&shown);
    free(own);
    return ODB_E_USAGE;
}

/* --- dimensions ------------------------------------------------------------------------------ */

/* The symbol of a dimension. Some exporters write "?" for every dimension they do not know: that is
 * no name, and two of them need not be equal. */
static const char *inputs_symbol(const struct odb_dim *dim)
{
    return dim->param && strcmp(dim->param, "?") != 0 ? dim->param : NULL;
}

const char *odb_input_dim_name(const struct odb_dim *dim)
{
    static const char *const none[] = {"", "?", "None", "none", "-1", "*"};
    for (size_t i = 0; i < ODB_COUNT(none) && dim->param; i++)
        if (!strcmp(dim->param, none[i]))
            return NULL;
    return dim->param;
}

static enum odb_status inputs_bind(struct inputs_work *work, const char *param, int64_t n,
                                   const char *from, struct odb_error *err)
{
    for (size_t i = 0; i < work->bound.n; i++) {
        const struct inputs_binding *old = &work->bound.items[i];
        if (strcmp(old->param, param))
            continue;
        if (old->n == n)
            return ODB_OK;
        return odb_fail(err, ODB_E_USAGE, "dimension '%s' is %lld by %s and %lld by %s", param,
                        (long long)old->n, old->from, (long long)n, from);
    }
    odb_push(&work->bound, (struct inputs_binding){param, n, odb_xstrdup(from)});
    return ODB_OK;
}

static const char *inputs_param(const struct inputs_work *work, const char *name, size_t len)
{
    for (size_t i = 0; i < work->n; i++) {
        const struct odb_type *type = &work->ports[i].value->type;
        for (int k = 0; k < type->rank; k++) {
            const char *param = inputs_symbol(&type->dims[k]);
            if (param && strlen(param) == len && !memcmp(param, name, len))
                return param;
        }
    }
    return NULL;
}

static enum odb_status inputs_unknown_dim(const struct inputs_work *work, const char *name,
                                          size_t len, struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    char *own = odb_xstrndup(name, len);
    odb_buf_put_shown(&shown, own);
    for (size_t i = 0; i < work->n; i++) {
        const struct odb_type *type = &work->ports[i].value->type;
        for (int k = 0; k < type->rank; k++) {
            const char *param = inputs_symbol(&type->dims[k]);
            if (!param || list.len > 300 || strstr(odb_buf_text(&list), param))
                continue;
            odb_buf_puts(&list, list.len ? ", " : "");
            odb_buf_put_shown(&list, param);
        }
    }
    odb_fail(err, ODB_E_USAGE, "no input has a dimension '%s'", odb_buf_text(&shown));
    if (list.len)
        odb_error_remedy(err, "there are %s", odb_buf_text(&list));
    else
        odb_error_remedy(err, "no dimension has a name; write INPUT[AXIS]=N");
    odb_buf_dispose(&list);
    odb_buf_dispose(&shown);
    free(own);
    return ODB_E_USAGE;
}

/* "INPUT[AXIS]" of len bytes: the port and the axis. False where it is none. */
static bool inputs_axis(struct inputs_work *work, const char *text, size_t len,
                        struct inputs_port **port, int *axis)
{
    size_t open = len;
    if (len < 4 || text[len - 1] != ']')
        return false;
    while (open > 0 && text[open - 1] != '[')
        open--;
    if (open < 2 || open > len - 2 || text[open] < '0' || text[open] > '9')
        return false;
    char *end;
    long n = strtol(text + open, &end, 10);
    *port = inputs_find(work, text, open - 1);
    *axis = (int)n;
    return *port && end == text + len - 1 && n < ODB_MAX_RANK;
}

static enum odb_status inputs_bind_axis(struct inputs_work *work, struct inputs_port *port,
                                        int axis, int64_t n, const char *from,
                                        struct odb_error *err)
{
    const struct odb_type *type = &port->value->type;
    if (type->rank >= 0 && axis >= type->rank)
        return odb_fail(err, ODB_E_USAGE, "'%s' has only %d dimensions", port->value->name,
                        type->rank);
    if (type->rank >= 0 && odb_input_dim_name(&type->dims[axis]))
        ODB_TRY(inputs_bind(work, type->dims[axis].param, n, from, err));
    if (type->rank < 0 && axis >= port->rank) {
        for (int k = ODB_MAX(port->rank, 0); k <= axis; k++)
            port->dims[k] = -1;
        port->rank = axis + 1;
    }
    if (port->dims[axis] >= 0 && port->dims[axis] != n)
        return odb_fail(err, ODB_E_USAGE, "dimension %d of '%s' is %lld already", axis,
                        port->value->name, (long long)port->dims[axis]);
    port->dims[axis] = n;
    return ODB_OK;
}

static enum odb_status inputs_dim(struct inputs_work *work, const char *text, struct odb_error *err)
{
    const char *equals = strrchr(text, '='), *param;
    struct inputs_port *port;
    char *end, from[300];
    int axis;
    if (!equals || equals == text)
        return odb_fail(err, ODB_E_USAGE, "this is not NAME=N or INPUT[AXIS]=N");
    errno = 0;
    long long n = strtoll(equals + 1, &end, 10);
    if (end == equals + 1 || *end || n < 0 || errno)
        return odb_fail(err, ODB_E_USAGE, "'%s' is no size of a dimension", equals + 1);
    size_t len = (size_t)(equals - text);
    snprintf(from, sizeof from, "--dim %.200s", text);
    if ((param = inputs_param(work, text, len)))
        return inputs_bind(work, param, n, from, err);
    if (inputs_axis(work, text, len, &port, &axis))
        return inputs_bind_axis(work, port, axis, n, from, err);
    return inputs_unknown_dim(work, text, len, err);
}

/* --- values from files ----------------------------------------------------------------------- */

/* Type, rank and shape against the declaration; symbolic dimensions are bound. */
static enum odb_status inputs_accept(struct inputs_work *work, struct inputs_port *port,
                                     struct odb_error *err)
{
    const struct odb_type *type = &port->value->type;
    const struct odb_tensor *t = port->tensor;
    char shape[300], from[600];
    if (!type->known)
        return ODB_OK;
    if (t->kind != type->kind && type->kind != ODB_OPTIONAL) /* of which the value itself will do */
        return odb_fail(err, ODB_E_INPUT, "the value is not of the kind declared, %s", type->shown);
    if (type->kind != ODB_TENSOR)
        return ODB_OK;
    if (t->dtype != type->dtype) {
        odb_fail(err, ODB_E_INPUT, "the values are %s, the model declares %s",
                 odb_dtype_info(t->dtype)->name, type->shown);
        return odb_error_remedy(err, "convert the file to %s", odb_dtype_info(type->dtype)->name);
    }
    odb_shape_text(t, shape, sizeof shape);
    bool fits = type->rank < 0 || type->rank == t->rank;
    for (int k = 0; fits && k < type->rank; k++)
        fits = type->dims[k].value < 0 || type->dims[k].value == t->dims[k];
    if (!fits)
        return odb_fail(err, ODB_E_INPUT, "the shape is %s, the model declares %s", shape,
                        type->shown);
    snprintf(from, sizeof from, "input '%.200s' of shape %.300s", port->value->name, shape);
    for (int k = 0; k < type->rank; k++)
        if (odb_input_dim_name(&type->dims[k]))
            ODB_TRY(inputs_bind(work, type->dims[k].param, t->dims[k], from, err));
    port->rank = t->rank;
    memcpy(port->dims, t->dims, sizeof port->dims);
    return ODB_OK;
}

static enum odb_status inputs_from_file(struct inputs_port *port, const char *path,
                                        struct odb_error *err)
{
    const struct odb_input_form form = {&port->value->type, port->rank, port->dims};
    return odb_input_read(&port->tensor, port->source, sizeof port->source, &form, path, err);
}

static enum odb_status inputs_set_range(struct inputs_port *port, double lo, double hi,
                                        uint64_t seed, struct odb_error *err)
{
    enum odb_dtype dtype = port->value->type.dtype;
    bool whole = dtype == ODB_BOOL || odb_dtype_is_integer(dtype);
    if (!(lo <= hi) || hi - lo > 1e300)
        return odb_fail(err, ODB_E_USAGE, "the range is empty or not finite");
    if (whole && (lo < -0x1p63 || hi >= 0x1p63))
        return odb_fail(err, ODB_E_USAGE, "the range of integers ends within 64 bits");
    port->range = true;
    port->lo = lo;
    port->hi = hi;
    port->seed = seed;
    return ODB_OK;
}

/* range(lo,hi[,seed]) */
static enum odb_status inputs_from_range(struct inputs_port *port, const char *text, uint64_t seed,
                                         struct odb_error *err)
{
    const char *p = text + strlen("range(");
    char *end;
    double lo = strtod(p, &end), hi = 0;
    bool good = end > p && *end == ',';
    if (good) {
        hi = strtod(p = end + 1, &end);
        good = end > p && (*end == ',' || *end == ')');
    }
    if (good && *end == ',') {
        seed = strtoull(p = end + 1, &end, 10);
        good = end > p;
    }
    if (!good || strcmp(end, ")"))
        return odb_fail(err, ODB_E_USAGE,
                        "a range is written range(LOW,HIGH) or "
                        "range(LOW,HIGH,SEED)");
    return inputs_set_range(port, lo, hi, seed, err);
}

/* NAME=FILE, NAME=image(…), NAME=range(…), NAME:FILE. Names may hold the separator, and so may
 * files: the last place that leaves an input's name before it is the one that is meant. */
static enum odb_status inputs_given(struct inputs_work *work, const char *text,
                                    struct odb_error *err)
{
    struct inputs_port *port = NULL;
    const char *what = NULL, *separator = strpbrk(text, "=:");
    for (int k = 0; k < 2 && !port; k++)
        for (size_t at = strlen(text); at-- > 0 && !port;)
            if (text[at] == "=:"[k]) {
                port = inputs_find(work, text, at);
                what = text + at + 1;
            }
    if (!separator)
        return odb_fail(err, ODB_E_USAGE, "this is not NAME=FILE or NAME=range(lo,hi[,seed])");
    if (!port) {
        size_t n = strcspn(text, "("); /* what stands behind has separators of its own */
        const char *equals = memrchr(text, '=', n), *colon = memrchr(text, ':', n);
        separator = equals ? equals : colon ? colon : separator;
        return inputs_unknown(work, text, (size_t)(separator - text), err);
    }
    if (port->tensor || port->range)
        return odb_fail(err, ODB_E_USAGE, "'%s' is given twice", port->value->name);
    if (!strncmp(what, "range(", 6))
        return inputs_from_range(port, what, work->options->seed, err);
    ODB_TRY(inputs_from_file(port, what, err));
    return inputs_accept(work, port, err);
}

/* An input that a picture could be: of one, three or four channels. */
static bool inputs_takes_picture(const struct inputs_port *port)
{
    const struct odb_type *type = &port->value->type;
    if (port->tensor || port->range || !type->known || type->kind != ODB_TENSOR || type->rank != 4)
        return false;
    for (int axis = 1; axis < 4; axis += 2) {
        int64_t n = type->dims[axis].value;
        if (n == 1 || n == 3 || n == 4 || n < 0)
            return odb_dtype_is_float(type->dtype) || odb_dtype_is_integer(type->dtype);
    }
    return false;
}

/* FILE.png, or image(FILE.png,...): for the only input that it can be. */
static enum odb_status inputs_from_picture(struct inputs_work *work, const char *text,
                                           struct odb_error *err)
{
    struct inputs_port *port = NULL;
    size_t n = 0;
    for (size_t i = 0; i < work->n; i++)
        if (inputs_takes_picture(&work->ports[i])) {
            port = &work->ports[i];
            n++;
        }
    if (n != 1) {
        odb_fail(err, ODB_E_USAGE, "%zu inputs could be a picture", n);
        odb_error_remedy(err, "say which one it is: --input NAME=%.200s", text);
        return odb_error_at(err, "%s", text);
    }
    ODB_TRY(inputs_from_file(port, text, err));
    return inputs_accept(work, port, err);
}

/* The first of a folder of pictures; found stays false where it holds none. */
static enum odb_status inputs_from_pictures(struct inputs_work *work, const char *text, bool *found,
                                            struct odb_error *err)
{
    size_t n;
    char **sets = odb_input_sets(text, &n);
    const char *first = n ? strrchr(sets[0], '/') : NULL;
    *found = first && (odb_input__pictures(text) || odb_input__is_image(first));
    enum odb_status status = *found ? inputs_from_picture(work, sets[0], err) : ODB_OK;
    for (size_t i = 0; i < n; i++)
        free(sets[i]);
    free(sets);
    return status;
}

static bool inputs_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static enum odb_status inputs_from_folder(struct inputs_work *work, const char *dir,
                                          struct odb_error *err)
{
    char *first = odb_xasprintf("%s/input_0.pb", dir);
    bool is_set = inputs_exists(first);
    enum odb_status status = ODB_OK;
    size_t found = 0;
    free(first);
    for (size_t i = 0; i < work->n && status == ODB_OK; i++) {
        struct inputs_port *port = &work->ports[i];
        char *name = odb_feed_file(work->model->graph, work->ports[i].value->index);
        char *path = is_set ? odb_xasprintf("%s/input_%zu.pb", dir, i)
                            : odb_xasprintf("%s/%s.npy", dir, name);
        bool there = inputs_exists(path);
        if (!is_set && !there) { /* what NumPy has no type for */
            free(path);
            path = odb_xasprintf("%s/%s.pb", dir, name);
            there = inputs_exists(path);
        }
        found += there;
        if (there && !port->tensor && !port->range) {
            status = inputs_from_file(port, path, err);
            if (status == ODB_OK && (status = inputs_accept(work, port, err)) != ODB_OK)
                odb_error_at(err, "%s", path);
        }
        free(path);
        free(name);
    }
    bool pictures = false;
    if (status == ODB_OK && work->n && !found) { /* a dump has them in a folder of their own */
        char *inner = odb_xasprintf("%s/inputs", dir);
        bool dump = inputs_exists(inner);
        if (dump)
            status = inputs_from_folder(work, inner, err);
        free(inner);
        if (dump)
            return status;
    }
    if (status == ODB_OK && work->n && !found)
        status = inputs_from_pictures(work, dir, &pictures, err);
    if (status == ODB_OK && work->n && !found && !pictures) {
        odb_fail(err, ODB_E_INPUT,
                 "the folder holds no input_0.pb, no NAME.npy or NAME.pb of any input, and no "
                 "picture");
        return odb_error_at(err, "%s", dir);
    }
    return status;
}

static bool inputs_in_npz(const struct odb_npz *npz, const char *name)
{
    for (size_t i = 0; i < odb_npz_count(npz); i++)
        if (!strcmp(odb_npz_name(npz, i), name))
            return true;
    return false;
}

static enum odb_status inputs_from_npz(struct inputs_work *work, const char *path,
                                       struct odb_error *err)
{
    struct odb_npz *npz;
    ODB_TRY(odb_npz_open(&npz, path, err));
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < work->n && status == ODB_OK; i++) {
        struct inputs_port *port = &work->ports[i];
        if (port->tensor || port->range || !inputs_in_npz(npz, port->value->name))
            continue;
        status = odb_npz_read(&port->tensor, npz, port->value->name, err);
        snprintf(port->source, sizeof port->source, "file %.240s", path);
        if (status == ODB_OK && (status = inputs_accept(work, port, err)) != ODB_OK)
            odb_error_at(err, "%s: %s", path, port->value->name);
    }
    odb_npz_close(npz);
    return status;
}

static enum odb_status inputs_as_dumped(struct inputs_work *work, struct inputs_port *port,
                                        const json_t *list, struct odb_error *err)
{
    struct odb_dump_input before;
    ODB_TRY(odb_dump_info_input(&before, list, port->value->name, err));
    if (before.ranged)
        ODB_TRY(inputs_set_range(port, before.lo, before.hi, before.seed, err));
    for (int k = 0; k < before.rank; k++)
        ODB_TRY(inputs_bind_axis(work, port, k, before.dims[k], "the dump", err));
    return ODB_OK;
}

/* What a dump generated is generated again: same ranges, seeds and shapes. */
static enum odb_status inputs_from_dump(struct inputs_work *work, const char *path,
                                        struct odb_error *err)
{
    json_t *info = NULL;
    enum odb_status status = odb_pyjson_load(&info, path, err);
    if (status != ODB_OK)
        return status;
    for (size_t i = 0; i < work->n && status == ODB_OK; i++)
        if (!work->ports[i].tensor && !work->ports[i].range)
            status =
                inputs_as_dumped(work, &work->ports[i], json_object_get(info, "input_info"), err);
    json_decref(info);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", path);
}

static enum odb_status inputs_from(struct inputs_work *work, const char *path,
                                   struct odb_error *err)
{
    struct stat info;
    bool folder = false;
    if (odb_input__pictures(path)) {
        enum odb_status status = inputs_from_pictures(work, path, &folder, err);
        return folder || status != ODB_OK ? status : inputs_from_picture(work, path, err);
    }
    if (stat(path, &info) != 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", path);
    }
    if (S_ISDIR(info.st_mode))
        return inputs_from_folder(work, path, err);
    if (odb_input__is_image(path))
        return inputs_from_picture(work, path, err);
    if (odb_ends_with(path, ".npz"))
        return inputs_from_npz(work, path, err);
    if (odb_ends_with(path, ".json"))
        return inputs_from_dump(work, path, err);
    odb_fail(err, ODB_E_USAGE, "inputs are not read from this kind of file");
    odb_error_remedy(err,
                     "give a test_data_set folder, a folder of NAME.npy or of pictures, an .npz "
                     "file, a picture, or a dump_info.json");
    return odb_error_at(err, "%s", path);
}

/* --- generated values ------------------------------------------------------------------------ */

/* Every unbound dimension of every input that is to be generated, as one message. */
static enum odb_status inputs_check_bound(struct inputs_work *work, struct odb_error *err)
{
    struct odb_buf options = ODB_BUF_INIT, first = ODB_BUF_INIT;
    for (size_t i = 0; i < work->n; i++) {
        struct inputs_port *port = &work->ports[i];
        const struct odb_type *type = &port->value->type;
        if (port->tensor || type->kind != ODB_TENSOR)
            continue;
        for (int k = 0; k < ODB_MAX(port->rank, 1); k++) {
            struct odb_buf one = ODB_BUF_INIT;
            if (port->rank == 0 || (port->rank > 0 && port->dims[k] >= 0))
                continue;
            odb_buf_puts(&one, " --dim ");
            if (type->rank >= 0 && inputs_symbol(&type->dims[k])) {
                odb_buf_put_shown(&one, inputs_symbol(&type->dims[k]));
            } else {
                odb_buf_put_shown(&one, port->value->name);
                odb_buf_printf(&one, "[%d]", k);
            }
            odb_buf_puts(&one, "=1");
            if (!first.len)
                odb_buf_put_shown(&first, port->value->name);
            if (!strstr(odb_buf_text(&options), odb_buf_text(&one)) && options.len < 400)
                odb_buf_puts(&options, odb_buf_text(&one));
            odb_buf_dispose(&one);
        }
    }
    enum odb_status status = ODB_OK;
    if (options.len) {
        status = odb_fail(err, ODB_E_USAGE, "the shape of input '%s' is not fixed",
                          odb_buf_text(&first));
        odb_error_remedy(err, "add%s", odb_buf_text(&options));
    }
    odb_buf_dispose(&options);
    odb_buf_dispose(&first);
    return status;
}

static void inputs_apply_bindings(struct inputs_work *work)
{
    for (size_t i = 0; i < work->n; i++) {
        struct inputs_port *port = &work->ports[i];
        const struct odb_type *type = &port->value->type;
        for (int k = 0; k < type->rank; k++)
            for (size_t b = 0; b < work->bound.n && inputs_symbol(&type->dims[k]); b++)
                if (!strcmp(work->bound.items[b].param, inputs_symbol(&type->dims[k])))
                    port->dims[k] = work->bound.items[b].n;
    }
}

/* Draws count numbers for a type from the common stream; t NULL: only advances it. */
static void inputs_draw(struct odb_mt19937 *stream, enum odb_dtype dtype, size_t count,
                        struct odb_tensor *t)
{
    bool real = odb_dtype_is_float(dtype) || odb_dtype_info(dtype)->class_ == ODB_CLASS_COMPLEX;
    for (size_t i = 0; i < count && dtype != ODB_STRING; i++) {
        double v =
            real ? odb_mt19937_uniform(stream, -1, 1) : (double)odb_mt19937_randint(stream, 0, 2);
        if (t)
            odb_store_f64(dtype, t->data, i, v);
    }
}

/* A fresh generator per input, the ends of an integer range both included. */
static void inputs_draw_range(const struct inputs_port *port, struct odb_tensor *t)
{
    struct odb_pcg64 stream;
    odb_pcg64_seed(&stream, port->seed);
    bool integer = odb_dtype_is_integer(t->dtype) || t->dtype == ODB_BOOL;
    for (size_t i = 0; i < t->count; i++)
        if (integer)
            odb_store_i64(t->dtype, t->data, i,
                          odb_pcg64_integers(&stream, (int64_t)port->lo, (int64_t)port->hi));
        else
            odb_store_f64(t->dtype, t->data, i, odb_pcg64_uniform(&stream, port->lo, port->hi));
}

/* The range that dump_tools has for the type, where none was given. */
static void inputs_dumped_range(struct inputs_port *port, const struct odb_input_options *options)
{
    enum odb_dtype dtype = port->value->type.dtype;
    if (!options->dumped || port->range || dtype == ODB_STRING)
        return;
    bool integer = odb_dtype_is_integer(dtype);
    port->range = true;
    port->lo = integer ? ODB_DUMPED_INT_MIN : ODB_DUMPED_FLOAT_MIN;
    port->hi = integer ? ODB_DUMPED_INT_MAX : ODB_DUMPED_FLOAT_MAX;
    if (integer && odb_dtype_info(dtype)->bits < 8) /* what such a type holds */
        port->hi = (1 << (odb_dtype_info(dtype)->bits - 1)) - 1;
    port->seed = options->seed;
}

static void inputs_say_source(struct inputs_port *port, uint32_t seed)
{
    enum odb_dtype dtype = port->value->type.dtype;
    if (port->range)
        snprintf(port->source, sizeof port->source, "generated range(%g, %g) seed %llu", port->lo,
                 port->hi, (unsigned long long)port->seed);
    else if (dtype == ODB_STRING)
        snprintf(port->source, sizeof port->source, "generated empty strings");
    else
        snprintf(port->source, sizeof port->source, "generated %s seed %u",
                 odb_dtype_is_integer(dtype) || dtype == ODB_BOOL ? "randint(0, 2)"
                                                                  : "uniform [-1, 1)",
                 seed);
}

static enum odb_status inputs_generate(struct inputs_work *work, struct odb_error *err)
{
    struct odb_mt19937 stream;
    bool any_given = false;
    for (size_t i = 0; i < work->n; i++)
        any_given |=
            work->ports[i].tensor || (work->ports[i].range && !work->options->ranges_chosen);
    odb_mt19937_seed(&stream, work->options->seed);
    for (size_t i = 0; i < work->n; i++) {
        struct inputs_port *port = &work->ports[i];
        const struct odb_type *type = &port->value->type;
        if (port->tensor) {
            inputs_draw(&stream, port->tensor->dtype, port->tensor->count, NULL);
            continue;
        }
        port->generated = true;
        if (type->kind == ODB_OPTIONAL) {
            ODB_TRY(odb_tensor_new_container(&port->tensor, ODB_OPTIONAL, NULL, 0, err));
            port->tensor->dtype = type->dtype;
            snprintf(port->source, sizeof port->source, "left out");
            continue;
        }
        if (type->kind != ODB_TENSOR || !odb_dtype_info(type->dtype)->name) {
            odb_fail(err, ODB_E_USAGE, "input '%s' (%s) cannot be generated", port->value->name,
                     type->known ? type->shown : "no type declared");
            return odb_error_remedy(err, "add --input %s=FILE.pb", port->value->name);
        }
        bool given = port->range;
        inputs_dumped_range(port, work->options);
        if (port->range && type->dtype == ODB_STRING)
            return odb_fail(err, ODB_E_USAGE, "input '%s' holds strings, which have no range",
                            port->value->name);
        ODB_TRY(odb_tensor_new(&port->tensor, type->dtype, port->rank, port->dims, err));
        inputs_draw(&stream, type->dtype, port->tensor->count, port->tensor);
        if (port->range)
            inputs_draw_range(port, port->tensor);
        if (!given && any_given)
            odb_buf_printf(&work->warnings, "input '%s' was not given and is generated\n",
                           port->value->name);
        inputs_say_source(port, work->options->seed);
    }
    return ODB_OK;
}

/* --- recorded -------------------------------------------------------------------------------- */

static bool inputs_channels_last(const struct inputs_port *port, const struct odb_tensor *t)
{
    const struct odb_type *type = &port->value->type;
    bool last = type->known && type->rank == 4 && t->rank == 4 && t->kind == ODB_TENSOR &&
                type->dims[1].value == t->dims[3];
    for (int d = 2; d < 4 && last; d++)
        last = type->dims[d].value < 0 || type->dims[d].value == t->dims[d - 1];
    return last;
}

static enum odb_status inputs_recalled(struct inputs_work *work, const char *spec,
                                       struct odb_tensor **had, struct odb_error *err)
{
    for (size_t i = 0; i < work->n; i++) {
        struct inputs_port *port = &work->ports[i];
        if (!had[i] || port->tensor || port->range)
            continue;
        port->tensor = odb_tensor_ref(had[i]);
        snprintf(port->source, sizeof port->source, "recorded, %.240s", spec);
        if (inputs_accept(work, port, err) != ODB_OK) {
            odb_error_remedy(err, "give the input that the model takes: --input %s=FILE%s",
                             port->value->name,
                             inputs_channels_last(port, had[i])
                                 ? ", or say that the recording has channels last: --layout NHWC"
                                 : "");
            return odb_error_at(err, "input '%s' of %s", port->value->name, spec);
        }
    }
    return ODB_OK;
}

static enum odb_status inputs_recall(struct inputs_work *work, struct odb_error *err)
{
    const struct odb_input_options *options = work->options;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, work->n + 1);
    int *values = odb_new_n(int, work->n + 1);
    enum odb_status status = ODB_OK;
    odb_graph_feeds(work->model->graph, values);
    for (size_t r = 0; r < options->n_recordings && status == ODB_OK; r++) {
        status = odb_recall(work->model, options->recordings[r], values, work->n, had, err);
        if (status == ODB_OK)
            status = inputs_recalled(work, options->recordings[r], had, err);
        for (size_t i = 0; i < work->n; i++)
            odb_tensor_unref(had[i]);
        memset(had, 0, work->n * sizeof *had);
    }
    free(values);
    free(had);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static void inputs_begin(struct inputs_work *work)
{
    const struct odb_graph *graph = work->model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    work->n = odb_graph_feeds(graph, feeds);
    work->ports = odb_new_n(struct inputs_port, work->n + 1);
    for (size_t i = 0; i < work->n; i++) {
        struct inputs_port *port = &work->ports[i];
        port->value = &graph->values[feeds[i]];
        port->rank = port->value->type.known ? port->value->type.rank : -1;
        for (int k = 0; k < port->rank && k < ODB_MAX_RANK; k++)
            port->dims[k] = port->value->type.dims[k].value;
    }
    free(feeds);
}

/* What the options say by themselves. */
static enum odb_status inputs_read(struct inputs_work *work, struct odb_error *err)
{
    const struct odb_input_options *options = work->options;
    for (size_t i = 0; i < work->n; i++)
        if (work->ports[i].rank > ODB_MAX_RANK)
            return odb_fail(err, ODB_E_MODEL, "input '%s' has %d dimensions, more than %d",
                            work->ports[i].value->name, work->ports[i].rank, ODB_MAX_RANK);
    for (size_t i = 0; i < options->n_dims; i++)
        if (inputs_dim(work, options->dims[i], err) != ODB_OK)
            return inputs_usage(err, "--dim", options->dims[i]);
    inputs_apply_bindings(work); /* pictures are made as large as that */
    for (size_t i = 0; i < options->n_inputs; i++) {
        enum odb_status status = inputs_given(work, options->inputs[i], err);
        if (status != ODB_OK) {
            inputs_usage(err, "--input", options->inputs[i]);
            return status;
        }
    }
    return options->inputs_from ? inputs_from(work, options->inputs_from, err) : ODB_OK;
}

static enum odb_status inputs_collect(struct inputs_work *work, struct odb_error *err)
{
    ODB_TRY(inputs_read(work, err));
    ODB_TRY(inputs_recall(work, err));
    inputs_apply_bindings(work);
    ODB_TRY(inputs_check_bound(work, err));
    return inputs_generate(work, err);
}

static void inputs_end(struct inputs_work *work)
{
    for (size_t i = 0; i < work->n; i++)
        odb_tensor_unref(work->ports[i].tensor);
    for (size_t i = 0; i < work->bound.n; i++)
        free(work->bound.items[i].from);
    free(work->bound.items);
    free(work->ports);
    odb_buf_dispose(&work->warnings);
}

enum odb_status odb_feeds_make(struct odb_feeds **out, const struct odb_model *model,
                               const struct odb_input_options *options, struct odb_error *err)
{
    struct inputs_work work = {.model = model, .options = options, .warnings = ODB_BUF_INIT};
    inputs_begin(&work);
    enum odb_status status = inputs_collect(&work, err);
    if (status == ODB_OK) {
        struct odb_feeds *feeds = odb_new(struct odb_feeds);
        *feeds = (struct odb_feeds){.items = odb_new_n(struct odb_feed, work.n + 1),
                                    .n = work.n,
                                    .warnings = odb_buf_take(&work.warnings),
                                    .step = ODB_NO_STEP};
        for (size_t i = 0; i < work.n; i++) {
            struct odb_feed *feed = &feeds->items[i];
            feed->value = work.ports[i].value->index;
            feed->tensor = odb_tensor_ref(work.ports[i].tensor);
            memcpy(feed->source, work.ports[i].source, sizeof feed->source);
            feed->generated = work.ports[i].generated;
            feed->ranged = work.ports[i].range;
            feed->lo = work.ports[i].lo;
            feed->hi = work.ports[i].hi;
            feed->seed = work.ports[i].seed;
        }
        *out = feeds;
    }
    inputs_end(&work);
    return status;
}

enum odb_status odb_feeds_check(const struct odb_model *model,
                                const struct odb_input_options *options, struct odb_error *err)
{
    struct inputs_work work = {.model = model, .options = options, .warnings = ODB_BUF_INIT};
    inputs_begin(&work);
    enum odb_status status = inputs_read(&work, err);
    inputs_end(&work);
    return status;
}

enum odb_status odb_inputs_known(struct odb_input_known **out, size_t *n,
                                 const struct odb_model *model,
                                 const struct odb_input_options *options, struct odb_error *err)
{
    struct inputs_work work = {.model = model, .options = options, .warnings = ODB_BUF_INIT};
    inputs_begin(&work);
    enum odb_status status = inputs_read(&work, err);
    if (status == ODB_OK)
        status = inputs_recall(&work, err);
    if (status == ODB_OK) {
        inputs_apply_bindings(&work);
        *out = odb_new_n(struct odb_input_known, work.n + 1);
        *n = work.n;
        for (size_t i = 0; i < work.n; i++) {
            const struct inputs_port *port = &work.ports[i];
            struct odb_input_known *known = &(*out)[i];
            known->value = port->value;
            known->given = port->tensor != NULL;
            known->ranged = port->range;
            known->rank = port->rank;
            memcpy(known->dims, port->dims, sizeof known->dims);
        }
    }
    inputs_end(&work);
    return status;
}
