/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/value/node_words.h"

#include "kernels/core/kern.h"
#include "meaning/meaning.h"
#include "model/formal.h"
#include "model/text/model_text.h"
#include "report/json.h"

static json_t *words_or_null(const char *text)
{
    return odb_json_text(*text ? text : NULL);
}

static json_t *words_attr(const char *name, enum odb_attr_type type, const char *text,
                          bool is_default)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", odb_json_text(name));
    json_object_set_new(object, "type", odb_json_text(odb_attr_type_text(type)));
    json_object_set_new(object, "text", odb_json_text(text));
    json_object_set_new(object, "default", json_boolean(is_default));
    return object;
}

json_t *odb_node_words_attrs(const struct odb_node *node, const struct odb_op *op, bool meanings)
{
    json_t *attrs = json_array(), *object;
    char meaning[ODB_MEANING];
    size_t at;
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < node->attrs.n; i++) {
        const struct odb_attr *attr = &node->attrs.items[i];
        odb_buf_clear(&text);
        odb_attr_text(attr, &text);
        json_array_append_new(attrs,
                              words_attr(attr->name, attr->type, odb_buf_text(&text), false));
    }
    for (const struct odb_attr_spec *spec = op ? op->attrs : NULL; spec && spec->name; spec++)
        if (spec->def && !odb_attrs_find(&node->attrs, spec->name))
            json_array_append_new(attrs, words_attr(spec->name, spec->type, spec->def, true));
    json_array_foreach(attrs, at, object) {
        const char *name = json_string_value(json_object_get(object, "name"));
        if (meanings)
            json_object_set_new(object, "meaning",
                                words_or_null(odb_meaning_of_attr(node, name, meaning)));
    }
    odb_buf_dispose(&text);
    return attrs;
}

json_t *odb_node_words_names(const struct odb_node *node, bool input)
{
    json_t *names = json_array();
    char name[ODB_FORMAL_NAME];
    for (int i = 0; i < (input ? node->n_in : node->n_out); i++)
        json_array_append_new(names, words_or_null(odb_formal_name(node, input, i, name)));
    return names;
}

json_t *odb_node_words_meanings(const struct odb_node *node, bool input)
{
    json_t *meanings = json_array();
    char meaning[ODB_MEANING];
    for (int i = 0; i < (input ? node->n_in : node->n_out); i++)
        json_array_append_new(meanings,
                              words_or_null(odb_meaning_of_port(node, input, i, meaning)));
    return meanings;
}
