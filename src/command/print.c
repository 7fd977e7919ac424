/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/print.h"

#include <stdlib.h>
#include <string.h>

#include "command/call.h"

/* The value that text names, and where its slice begins; a name may itself hold brackets. */
static char *print_split(const struct odb_graph *graph, const char *text, const char **slice)
{
    const char *open = strrchr(text, '[');
    size_t n = strlen(text);
    *slice = NULL;
    if ((graph && odb_graph_value(graph, text)) || !open || text[n - 1] != ']')
        return odb_xstrdup(text);
    *slice = open;
    return odb_xstrndup(text, (size_t)(open - text));
}

static enum odb_status print_part(const char *label, const struct odb_tensor *t, const char *slice,
                                  struct odb_buf *out, struct odb_error *err)
{
    struct odb_tensor *part;
    if (slice)
        ODB_TRY(odb_slice(&part, t, slice, err));
    else
        part = odb_tensor_ref(t);
    if (label)
        odb_buf_printf(out, "%s\n", label);
    odb_print_tensor(out, part, NULL);
    odb_buf_putc(out, '\n');
    odb_tensor_unref(part);
    return ODB_OK;
}

static enum odb_status print_save(const struct odb_command_call *call, const struct odb_tensor *t,
                                  const char *slice, const char *name, const char *path,
                                  struct odb_error *err)
{
    struct odb_tensor *part = NULL;
    ODB_TRY(odb_call__spare_model(call, path, err));
    if (slice)
        ODB_TRY(odb_slice(&part, t, slice, err));
    enum odb_status status = odb_call__write_tensor(part ? part : t, name, path, err);
    odb_tensor_unref(part);
    return status;
}

/* What the target gave, where a console's session has it. */
static struct odb_tensor *print_target(const struct odb_command_call *call, const char *name)
{
    int index;
    if (!call->console || !name ||
        odb_call__find_value(call->model->graph, name, &index, NULL) != ODB_OK)
        return NULL;
    return odb_session_target(call->session, index);
}

enum odb_status odb_command__print(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 1), *slice = NULL;
    const char *save = odb_call_option(call, ODB_OPTION_SAVE);
    struct odb_tensor *t = NULL, *target = NULL;
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status;
    char *name = NULL;
    ODB_TRY(odb_call__open_source(call, err));
    if (text)
        name = print_split(call->model ? call->model->graph : NULL, text, &slice);
    ODB_TRY_OUT(odb_call__value(call, name && *name ? name : NULL, &t, err));
    if (save) {
        status = print_save(call, t, slice, name ? name : "", save, err);
        goto out;
    }
    target = print_target(call, name);
    ODB_TRY_OUT(print_part(target ? "reference" : NULL, t, slice, &out, err));
    if (target)
        ODB_TRY_OUT(print_part("target", target, slice, &out, err));
    odb_call__print(call, &out);
out:
    odb_buf_dispose(&out);
    odb_tensor_unref(target);
    odb_tensor_unref(t);
    free(name);
    return status;
}
