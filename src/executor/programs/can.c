/* SPDX-License-Identifier: MIT */
#include "executor/programs/can.h"

#include <string.h>

#include "base/mem.h"
#include "executor/spec.h"

/* A value as an option has it: a list of names has ';' between them. */
static void can_put_value(struct odb_buf *out, const json_t *value)
{
    size_t i;
    const json_t *item;
    if (json_is_string(value))
        odb_spec_put_word(out, json_string_value(value));
    else if (json_is_boolean(value))
        odb_buf_puts(out, json_is_true(value) ? "yes" : "no");
    else if (json_is_integer(value))
        odb_buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        odb_buf_printf(out, "%.17g", json_real_value(value));
    json_array_foreach(value, i, item) {
        odb_buf_puts(out, i ? ";" : "");
        can_put_value(out, json_is_string(item) ? item : NULL);
    }
}

void odb_can_put(const json_t *can, struct odb_buf *options)
{
    static const char *const keys[] = {"max_outputs", "taps",   "cut",     "compile",
                                       "run",         "refeed", "layouts", "types"};
    for (size_t i = 0; i < ODB_COUNT(keys); i++) {
        const json_t *value = json_object_get(can, keys[i]);
        if (!json_is_string(value) && !json_is_number(value) && !json_is_array(value) &&
            !json_is_boolean(value))
            continue;
        odb_buf_printf(options, "%s%s=", options->len ? "," : "", keys[i]);
        can_put_value(options, value);
    }
}

bool odb_can_verb(const json_t *can, const char *verb)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(can, "verbs"), i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), verb))
            return true;
    return false;
}

char *odb_can_text(const json_t *can)
{
    char *text = can ? json_dumps(can, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    return text ? text : odb_xstrdup("");
}
