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

enum odb_status odb_command__print(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 1), *slice = NULL;
    const char *save = odb_call_option(call, ODB_OPTION_SAVE);
    struct odb_tensor *t = NULL, *part = NULL;
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status;
    char *name = NULL;
    ODB_TRY(odb_call__open_source(call, err));
    if (text)
        name = print_split(call->model ? call->model->graph : NULL, text, &slice);
    ODB_TRY_OUT(odb_call__value(call, name && *name ? name : NULL, &t, err));
    if (slice)
        ODB_TRY_OUT(odb_slice(&part, t, slice, err));
    else
        part = odb_tensor_ref(t);
    if (save) {
        ODB_TRY_OUT(odb_call__spare_model(call, save, err));
        status = odb_call__write_tensor(part, name ? name : "", save, err);
    } else {
        odb_print_tensor(&out, part, NULL);
        odb_buf_putc(&out, '\n');
        odb_call__print(call, &out);
    }
out:
    odb_tensor_unref(part);
    odb_tensor_unref(t);
    free(name);
    return status;
}
