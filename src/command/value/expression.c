/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/value/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/value/names.h"
#include "command/value/value_pair.h"
#include "model/model.h"
#include "report/json.h"
#include "tensor/stats.h"
#include "tensor/tensor_print.h"

static const char *const expression_sides[] = {[ODB_SIDE_REFERENCE] = "ref",
                                               [ODB_SIDE_TARGET] = "target",
                                               [ODB_SIDE_GOLDEN] = "golden",
                                               [ODB_SIDE_DIFFERENCE] = "diff"};

/* --- numbers ---------------------------------------------------------------------------------- */

static double expression_max(const struct odb_stats *s)
{
    return s->max;
}

static double expression_min(const struct odb_stats *s)
{
    return s->min;
}

static double expression_mean(const struct odb_stats *s)
{
    return s->mean;
}

static double expression_median(const struct odb_stats *s)
{
    return s->median;
}

static double expression_std(const struct odb_stats *s)
{
    return s->std;
}

static double expression_rms(const struct odb_stats *s)
{
    return s->rms;
}

static double expression_nan(const struct odb_stats *s)
{
    return (double)s->nan;
}

static double expression_inf(const struct odb_stats *s)
{
    return (double)(s->pos_inf + s->neg_inf);
}

static double expression_zeros(const struct odb_stats *s)
{
    return (double)s->zeros;
}

/* What a number is: one of the elements, in their type; made of them, a double; or how many. */
enum expression_kind { EXPRESSION_ELEMENT, EXPRESSION_DOUBLE, EXPRESSION_COUNT };

/* finite: it is of the finite elements, and where there are none it is not known. of NULL: what the
 * type and the shape are. */
static const struct {
    const char *name;
    bool finite;
    enum expression_kind kind;
    double (*of)(const struct odb_stats *s);
} expression_functions[] = {
    {"max", true, EXPRESSION_ELEMENT, expression_max},
    {"min", true, EXPRESSION_ELEMENT, expression_min},
    {"mean", true, EXPRESSION_DOUBLE, expression_mean},
    {"median", true, EXPRESSION_DOUBLE, expression_median},
    {"std", true, EXPRESSION_DOUBLE, expression_std},
    {"rms", true, EXPRESSION_DOUBLE, expression_rms},
    {"nan", false, EXPRESSION_COUNT, expression_nan},
    {"inf", false, EXPRESSION_COUNT, expression_inf},
    {"zeros", false, EXPRESSION_COUNT, expression_zeros},
    {"shape", false, EXPRESSION_COUNT, NULL},
};

const char *odb_expression_function(size_t i)
{
    size_t n = ODB_COUNT(expression_functions);
    if (i < n)
        return expression_functions[i].name;
    return i - n + 1 < ODB_COUNT(expression_sides) ? expression_sides[i - n + 1] : NULL;
}

/* --- taking it apart -------------------------------------------------------------------------- */

/* Whether text is WORD(…) and takes what is in the parentheses; the name may hold some, too. */
static bool expression_call(const char *word, const char *begin, const char *end,
                            const char **inner, const char **close)
{
    size_t n = strlen(word);
    if ((size_t)(end - begin) < n + 2 || strncmp(begin, word, n) || begin[n] != '(')
        return false;
    int depth = 0;
    for (const char *p = begin + n; p < end; p++) {
        depth += (*p == '(') - (*p == ')');
        if (!depth) {
            *inner = begin + n + 1;
            *close = p;
            return p + 1 == end || p[1] == '[';
        }
    }
    return false;
}

/* NAME or NAME[SLICE]; a name may itself hold brackets. */
static void expression_name(struct odb_expression *out, const char *begin, const char *end,
                            const struct odb_graph *graph)
{
    char *text = odb_xstrndup(begin, (size_t)(end - begin));
    char *open = strrchr(text, '[');
    size_t n = strlen(text);
    bool whole = (graph && odb_graph_value(graph, text)) || !open || text[n - 1] != ']';
    if (!whole && !out->slice)
        out->slice = odb_xstrdup(open);
    if (!whole)
        *open = '\0';
    out->name = text;
}

void odb_expression_parse(struct odb_expression *out, const char *text,
                          const struct odb_graph *graph)
{
    const char *begin = text, *end = text + strlen(text), *inner, *close;
    *out = (struct odb_expression){.function = -1};
    bool named = graph && odb_graph_value(graph, text);
    for (size_t i = 0; i < ODB_COUNT(expression_functions) && !named && out->function < 0; i++)
        if (expression_call(expression_functions[i].name, begin, end, &inner, &close) &&
            close + 1 == end) {
            out->function = (int)i;
            begin = inner;
            end = close;
        }
    for (size_t i = 1; i < ODB_COUNT(expression_sides) && !named && !out->side; i++)
        if (expression_call(expression_sides[i], begin, end, &inner, &close)) {
            out->side = (enum odb_side)i;
            if (close + 1 < end)
                out->slice = odb_xstrndup(close + 1, (size_t)(end - close - 1));
            begin = inner;
            end = close;
        }
    expression_name(out, begin, end, graph);
}

void odb_expression_dispose(struct odb_expression *expression)
{
    free(expression->name);
    free(expression->slice);
    *expression = (struct odb_expression){0};
}

/* --- saying it -------------------------------------------------------------------------------- */

/* The type that a number is written in, and whose bits /x shows. Integers that a double does not
 * hold are not taken for ones that it does. */
static enum odb_dtype expression_dtype(int function, const struct odb_tensor *t, double v)
{
    enum expression_kind kind = expression_functions[function].kind;
    bool real = kind == EXPRESSION_DOUBLE || t->dtype == ODB_C64 || t->dtype == ODB_C128;
    bool exact = fabs(v) < 0x1p53;
    if (real || (!odb_dtype_is_float(t->dtype) && !exact))
        return ODB_F64;
    return kind == EXPRESSION_COUNT ? ODB_I64 : t->dtype;
}

static enum odb_status expression_put_number(int function, const struct odb_tensor *t,
                                             const struct odb_print_opts *opts, struct odb_buf *out,
                                             struct odb_error *err)
{
    char type[320];
    struct odb_stats s;
    bool finite = expression_functions[function].finite;
    if (!expression_functions[function].of) {
        odb_buf_puts(out, odb_call__type_text(t, type, sizeof type));
    } else if (t->kind != ODB_TENSOR || !t->data || odb_stats(&s, t, NULL, NULL) != ODB_OK) {
        odb_buf_puts(out, "not a number");
    } else if (finite && s.count == s.nan + s.pos_inf + s.neg_inf) {
        odb_buf_puts(out, "nothing is finite");
    } else {
        double v = expression_functions[function].of(&s);
        struct odb_tensor *one;
        ODB_TRY(odb_tensor_new(&one, expression_dtype(function, t, v), 0, NULL, err));
        odb_store_f64(one->dtype, one->data, 0, v);
        if (opts->notation)
            odb_print_tensor(out, one, opts);
        else
            odb_print_element(out, one, 0);
        odb_tensor_unref(one);
    }
    return ODB_OK;
}

static enum odb_status expression_put_part(const struct odb_expression *e, char notation,
                                           const char *label, const struct odb_tensor *t,
                                           struct odb_buf *out, struct odb_error *err)
{
    struct odb_print_opts opts = ODB_PRINT_OPTS;
    struct odb_tensor *part;
    opts.notation = notation;
    if (e->slice)
        ODB_TRY(odb_slice(&part, t, e->slice, err));
    else
        part = odb_tensor_ref(t);
    if (label)
        odb_buf_printf(out, e->function < 0 ? "%s\n" : "%s ", label);
    enum odb_status status = ODB_OK;
    if (e->function < 0)
        odb_print_tensor(out, part, &opts);
    else
        status = expression_put_number(e->function, part, &opts, out, err);
    odb_buf_putc(out, '\n');
    odb_tensor_unref(part);
    return status;
}

static enum odb_status expression_missing(const struct odb_expression *e, struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "%s of %s%s is not known yet",
             e->side == ODB_SIDE_DIFFERENCE ? "the difference"
             : e->side == ODB_SIDE_GOLDEN   ? "golden"
             : e->side == ODB_SIDE_TARGET   ? "what the target gives"
                                            : "the value",
             e->name, e->side == ODB_SIDE_DIFFERENCE ? ", or has none," : "");
    return odb_error_remedy(err, "`run` or `bisect` makes it known");
}

static enum odb_status expression_put_sides(const struct odb_expression *e, char notation,
                                            const struct odb_value_pair *value, struct odb_buf *out,
                                            struct odb_error *err)
{
    const struct odb_tensor *reference = value->side[ODB_SIDE_REFERENCE];
    const struct odb_tensor *target = value->side[ODB_SIDE_TARGET];
    if (e->side != ODB_SIDE_BOTH) { /* of a file or at the shell there is one side only */
        const struct odb_tensor *t = value->side[e->side];
        return t ? expression_put_part(e, notation, NULL, t, out, err) : expression_missing(e, err);
    }
    if (!reference && !target)
        return expression_missing(e, err);
    if (reference)
        ODB_TRY(expression_put_part(e, notation, target ? "reference" : NULL, reference, out, err));
    return target ? expression_put_part(e, notation, "target", target, out, err) : ODB_OK;
}

/* *out is to be disposed of also after failure. */
static enum odb_status expression_find(struct odb_value_pair *out, struct odb_command_call *call,
                                       const struct odb_expression *e, bool at_hand,
                                       struct odb_error *err)
{
    bool target = e->side == ODB_SIDE_TARGET || e->side == ODB_SIDE_DIFFERENCE;
    ODB_TRY(odb_value_pair_find(out, call, e->name && *e->name ? e->name : NULL,
                                at_hand  ? ODB_VALUE_PAIR_AT_HAND
                                : target ? ODB_VALUE_PAIR_TARGET
                                         : ODB_VALUE_PAIR_REFERENCE,
                                err));
    return e->side == ODB_SIDE_DIFFERENCE ? odb_value_pair_subtract(out, err) : ODB_OK;
}

enum odb_status odb_expression_put(struct odb_command_call *call, const struct odb_expression *e,
                                   char notation, bool at_hand, struct odb_buf *out,
                                   struct odb_error *err)
{
    struct odb_value_pair value;
    enum odb_status status = expression_find(&value, call, e, at_hand, err);
    if (status == ODB_OK)
        status = expression_put_sides(e, notation, &value, out, err);
    odb_value_pair_dispose(&value);
    return status;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

/* More than this is for a file. */
#define EXPRESSION_ELEMENTS ((size_t)1 << 20)

static size_t expression_count(const struct odb_tensor *t)
{
    size_t n = t->kind == ODB_TENSOR ? t->count : 0;
    for (size_t i = 0; i < t->n_items; i++)
        n += expression_count(t->items[i]);
    return n;
}

static json_t *expression_number_json(int function, const struct odb_tensor *t)
{
    struct odb_stats s;
    if (!expression_functions[function].of)
        return odb_json_shape(t);
    if (t->kind != ODB_TENSOR || !t->data || odb_stats(&s, t, NULL, NULL) != ODB_OK ||
        (expression_functions[function].finite && s.count == s.nan + s.pos_inf + s.neg_inf))
        return json_null();
    double v = expression_functions[function].of(&s);
    return expression_functions[function].kind == EXPRESSION_COUNT ? json_integer((json_int_t)v)
                                                                   : odb_json_real(v);
}

static enum odb_status expression_side_json(const struct odb_expression *e,
                                            const struct odb_tensor *t, json_t *json,
                                            struct odb_error *err)
{
    struct odb_tensor *part = odb_tensor_ref((struct odb_tensor *)(uintptr_t)t);
    enum odb_status status = ODB_OK;
    if (e->slice) {
        odb_tensor_unref(part);
        ODB_TRY(odb_slice(&part, t, e->slice, err));
    }
    size_t n = expression_count(part);
    if (e->function >= 0) {
        json_object_set_new(json, "number", expression_number_json(e->function, part));
    } else if (n > EXPRESSION_ELEMENTS) {
        odb_fail(err, ODB_E_USAGE, "%zu elements are too many for JSON, which takes %zu", n,
                 EXPRESSION_ELEMENTS);
        status = odb_error_remedy(err, "name a slice, or write them with --save FILE.npy");
    } else {
        json_object_update_new(json, odb_json_tensor(NULL, part, NULL));
        json_object_set_new(json, "elements", odb_json_elements(part));
    }
    odb_tensor_unref(part);
    return status;
}

enum odb_status odb_expression_json(struct odb_command_call *call, const struct odb_expression *e,
                                    bool at_hand, json_t **out, struct odb_error *err)
{
    static const char *const names[] = {[ODB_SIDE_REFERENCE] = "reference",
                                        [ODB_SIDE_TARGET] = "target",
                                        [ODB_SIDE_GOLDEN] = "golden",
                                        [ODB_SIDE_DIFFERENCE] = "difference"};
    struct odb_value_pair value;
    json_t *sides = json_array();
    enum odb_status status;
    ODB_TRY_OUT(expression_find(&value, call, e, at_hand, err));
    for (size_t side = ODB_SIDE_REFERENCE; side < ODB_COUNT(names); side++) {
        bool shown = e->side == ODB_SIDE_BOTH ? side <= ODB_SIDE_TARGET : side == (size_t)e->side;
        if (!shown || !value.side[side])
            continue;
        json_t *json = json_pack("{s:s}", "side", names[side]);
        json_array_append_new(sides, json);
        ODB_TRY_OUT(expression_side_json(e, value.side[side], json, err));
    }
    if (!json_array_size(sides))
        ODB_TRY_OUT(expression_missing(e, err));
    *out = json_pack("{s:o,s:o,s:o,s:O}", "name", odb_json_text(e->name), "slice",
                     odb_json_text(e->slice), "function",
                     odb_json_text(e->function < 0 ? NULL : expression_functions[e->function].name),
                     "sides", sides);
out:
    json_decref(sides);
    odb_value_pair_dispose(&value);
    return status;
}

const char *odb_call__notation(const char *text, char *notation)
{
    *notation = 0;
    if (text[0] != '/' || !text[1] || !strchr("xfe", text[1]) || (text[2] && text[2] != ' '))
        return text;
    *notation = text[1];
    return text + 2 + strspn(text + 2, " ");
}
