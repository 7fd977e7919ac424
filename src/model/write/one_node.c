/* SPDX-License-Identifier: MIT */
#include "model/write/one_node.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/read/load.h"
#include "model/write/build.h"

#define ONE_OPSET 21 /* of ai.onnx, for a node of another domain */

static void one_strings(struct odb_builder *b, const struct odb_attr *attr)
{
    struct odb_buf words = ODB_BUF_INIT;
    for (size_t i = 0; i < attr->n; i++)
        odb_buf_printf(&words, "%s%.*s", i ? " " : "", (int)attr->strings[i].len,
                       attr->strings[i].data);
    odb_build_attr_strings(b, attr->name, odb_buf_text(&words));
    odb_buf_dispose(&words);
}

static void one_attr(struct odb_builder *b, const struct odb_attr *attr)
{
    char *text = attr->type == ODB_ATTR_STRING
                     ? odb_xasprintf("%.*s", (int)attr->s.len, attr->s.data)
                     : NULL;
    if (attr->type == ODB_ATTR_INT)
        odb_build_attr_int(b, attr->name, attr->i);
    else if (attr->type == ODB_ATTR_FLOAT)
        odb_build_attr_float(b, attr->name, attr->f);
    else if (attr->type == ODB_ATTR_STRING)
        odb_build_attr_string(b, attr->name, text);
    else if (attr->type == ODB_ATTR_INTS)
        odb_build_attr_ints(b, attr->name, attr->n, attr->ints);
    else if (attr->type == ODB_ATTR_FLOATS)
        odb_build_attr_floats(b, attr->name, attr->n, attr->floats);
    else
        one_strings(b, attr);
    free(text);
}

static enum odb_status one_check(const struct odb_one_node *node, struct odb_error *err)
{
    for (size_t i = 0; i < node->n_in + node->n_out; i++) {
        const struct odb_tensor *t = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        if (t && t->kind != ODB_TENSOR)
            return odb_fail(err, ODB_UNSUPPORTED, "a call is made of plain tensors only");
    }
    return ODB_OK;
}

/* Outputs are called :y0, :y1 and so on, as no file is, of which inputs may have their names. */
static void one_build(struct odb_builder *b, const struct odb_one_node *node)
{
    struct odb_buf in = ODB_BUF_INIT, out = ODB_BUF_INIT, op = ODB_BUF_INIT;
    char name[32];
    for (size_t i = 0; i < node->n_in; i++) {
        const struct odb_tensor *t = node->in[i];
        odb_buf_printf(&in, "%s%s", i ? " " : "", t ? node->in_names[i] : "-");
        if (t)
            odb_build_input(b, node->in_names[i], t->dtype, t->rank, t->dims);
    }
    for (size_t o = 0; o < node->n_out; o++)
        odb_buf_printf(&out, "%s:y%zu", o ? " " : "", o);
    odb_buf_printf(&op, "%s%s%s", node->domain, node->domain[0] ? "::" : "", node->op);
    odb_build_node(b, odb_buf_text(&op), node->op, odb_buf_text(&in), odb_buf_text(&out));
    for (size_t a = 0; a < node->n_attrs; a++)
        one_attr(b, &node->attrs[a]);
    for (size_t o = 0; o < node->n_out; o++) {
        snprintf(name, sizeof name, ":y%zu", o);
        if (node->out[o])
            odb_build_output(b, name);
    }
    odb_buf_dispose(&in);
    odb_buf_dispose(&out);
    odb_buf_dispose(&op);
}

enum odb_status odb_model_of_one_node(struct odb_model **out, const struct odb_one_node *node,
                                      struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    ODB_TRY(one_check(node, err));
    bool own = node->domain[0] != '\0';
    struct odb_builder *b = odb_build_new(node->op, own ? ONE_OPSET : node->opset);
    if (own)
        odb_build_opset(b, node->domain, node->opset);
    one_build(b, node);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    enum odb_status status =
        odb_model_open_bytes(out, bytes.data, bytes.len, NULL, ".", node->op, err);
    odb_buf_dispose(&bytes);
    return status;
}
