/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/explained.h"

#include <math.h>

#include "base/mem.h"
#include "explain/measure/curve.h"
#include "report/json.h"

#define EXPLAINED_PIECES 64 /* of a curve that are written */

/* null: nothing is known that tells the members apart. */
static json_t *explained_next(const struct odb_explanation *one)
{
    if (!one->read && !one->inputs)
        return json_null();
    return json_pack("{s:o,s:o,s:i}", "read", odb_json_text(one->read), "inputs",
                     odb_json_text(one->inputs), "tells", (int)one->told);
}

static json_t *explained_one(const struct odb_explanation *one)
{
    return json_pack("{s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:i,s:i,s:i,s:o,s:o,s:o}", "variant",
                     odb_json_text(one->variant), "text", odb_json_text(one->text), "fit",
                     odb_fit_name(one->fit), "residual", odb_json_real(one->residual), "noise",
                     odb_json_real(one->noise), "of", odb_json_real(one->of), "left",
                     odb_json_real(one->left), "confirmed", (int)one->confirmed, "refuted",
                     (int)one->refuted, "apart", (int)one->apart, "members",
                     odb_json_texts(one->members.items, one->members.n), "members_text",
                     odb_json_texts(one->says.items, one->says.n), "next", explained_next(one));
}

static json_t *explained_point(const struct odb_curve_point *p)
{
    return json_pack("{s:o,s:o,s:o}", "x", odb_json_real(p->x), "y", odb_json_real(p->y),
                     "reference", odb_json_real(p->r));
}

static json_t *explained_piece(const struct odb_curve_piece *p)
{
    return json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:o}", "kind", odb_curve_kind_name(p->kind),
                     "values", (json_int_t)p->n, "from", odb_json_real(p->from), "to",
                     odb_json_real(p->to), "a", odb_json_real(p->a), "b", odb_json_real(p->b),
                     "farthest", explained_point(&p->most));
}

/* null: there is none. */
static json_t *explained_curve(const struct odb_curve *c)
{
    json_t *points = json_array(), *pieces = json_array(), *knots = json_array();
    for (size_t i = 0; c && i < c->points.n; i++)
        json_array_append_new(points, explained_point(&c->points.items[i]));
    for (size_t i = 0; c && i < c->odd.n; i++)
        json_array_append_new(points, explained_point(&c->odd.items[i]));
    for (size_t k = 0; c && k < c->pieces.n && k < EXPLAINED_PIECES; k++) {
        json_array_append_new(pieces, explained_piece(&c->pieces.items[k]));
        if (k)
            json_array_append_new(knots, odb_json_real(odb_curve_knot(c, k)));
    }
    json_t *json =
        c ? json_pack("{s:o,s:i,s:b,s:I,s:I,s:I,s:O,s:O,s:O}", "text", odb_json_text(c->text),
                      "input", c->input, "function", c->shape != ODB_CURVE_SEVERAL, "values",
                      (json_int_t)c->distinct, "several", (json_int_t)c->several, "piece_count",
                      (json_int_t)c->pieces.n, "pieces", pieces, "knots", knots, "points", points)
          : json_null();
    json_decref(points);
    json_decref(pieces);
    json_decref(knots);
    return json;
}

void odb_explained_json(const struct odb_explanations *all, json_t *object)
{
    json_t *list = all->tried ? json_array() : json_null();
    for (size_t i = 0; i < all->items.n && all->tried; i++)
        json_array_append_new(list, explained_one(&all->items.items[i]));
    json_object_set_new(object, "wrong_where", odb_json_text(all->where));
    json_object_set_new(object, "explanations", list);
    json_object_set_new(object, "curve", explained_curve(all->curve));
    json_object_set_new(object, "variants", json_integer((json_int_t)all->variants));
    json_object_set_new(object, "untried", json_integer((json_int_t)all->untried));
    json_object_set_new(object, "pairs", json_integer((json_int_t)all->pairs));
    json_object_set_new(object, "unfinished", json_boolean(all->unfinished));
    json_object_set_new(object, "recording", json_boolean(all->recorded));
}

static double explained_real(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    const char *text = json_string_value(v);
    return json_is_number(v)        ? json_number_value(v)
           : text && text[0] == 'i' ? INFINITY
           : text && text[0] == '-' ? -INFINITY
                                    : NAN;
}

static size_t explained_count(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (size_t)n : 0;
}

static char *explained_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? odb_xstrdup(text) : NULL;
}

static struct odb_curve_point explained_read_point(const json_t *json)
{
    return (struct odb_curve_point){explained_real(json, "x"), explained_real(json, "y"),
                                    explained_real(json, "reference")};
}

static struct odb_curve *explained_read_curve(const json_t *json)
{
    const json_t *item;
    size_t i;
    if (!json_is_object(json))
        return NULL;
    struct odb_curve *c = odb_new(struct odb_curve);
    char *text = explained_text(json, "text");
    c->text = text ? text : odb_xstrdup("");
    c->shape =
        json_is_false(json_object_get(json, "function")) ? ODB_CURVE_SEVERAL : ODB_CURVE_DRAWN;
    c->input = (int)explained_count(json, "input");
    c->distinct = explained_count(json, "values");
    c->several = explained_count(json, "several");
    json_array_foreach(json_object_get(json, "points"), i, item) {
        struct odb_curve_point p = explained_read_point(item);
        if (isfinite(p.x))
            odb_push(&c->points, p);
        else
            odb_push(&c->odd, p);
    }
    json_array_foreach(json_object_get(json, "pieces"), i, item) {
        struct odb_curve_piece piece = {
            .n = explained_count(item, "values"),
            .from = explained_real(item, "from"),
            .to = explained_real(item, "to"),
            .a = explained_real(item, "a"),
            .b = explained_real(item, "b"),
            .most = explained_read_point(json_object_get(item, "farthest"))};
        piece.kind = odb_curve_kind_parse(json_string_value(json_object_get(item, "kind")));
        odb_push(&c->pieces, piece);
    }
    return c;
}

void odb_explained_read(struct odb_explanations *out, const json_t *object)
{
    const json_t *list = json_object_get(object, "explanations"), *item, *member;
    size_t i, m;
    out->tried = json_is_array(list);
    out->where = explained_text(object, "wrong_where");
    odb_curve_free(out->curve);
    out->curve = explained_read_curve(json_object_get(object, "curve"));
    out->variants = explained_count(object, "variants");
    out->untried = explained_count(object, "untried");
    out->pairs = explained_count(object, "pairs");
    out->unfinished = json_is_true(json_object_get(object, "unfinished"));
    out->recorded = json_is_true(json_object_get(object, "recording"));
    json_array_foreach(list, i, item) {
        struct odb_explanation one = {.variant = explained_text(item, "variant"),
                                      .text = explained_text(item, "text"),
                                      .residual = explained_real(item, "residual"),
                                      .noise = explained_real(item, "noise"),
                                      .of = explained_real(item, "of"),
                                      .left = explained_real(item, "left"),
                                      .confirmed = explained_count(item, "confirmed"),
                                      .refuted = explained_count(item, "refuted")};
        bool whole = odb_fit_parse(&one.fit, json_string_value(json_object_get(item, "fit")));
        json_array_foreach(json_object_get(item, "members"), m, member) {
            if (json_is_string(member))
                odb_push(&one.members, odb_xstrdup(json_string_value(member)));
        }
        json_array_foreach(json_object_get(item, "members_text"), m, member) {
            if (json_is_string(member))
                odb_push(&one.says, odb_xstrdup(json_string_value(member)));
        }
        const json_t *next = json_object_get(item, "next");
        one.read = explained_text(next, "read");
        one.inputs = explained_text(next, "inputs");
        one.told = explained_count(next, "tells");
        one.variant = one.variant ? one.variant : odb_xstrdup("");
        one.text = one.text ? one.text : odb_xstrdup("");
        one.fit = whole ? one.fit : ODB_FIT_PARTLY;
        odb_push(&out->items, one);
    }
}
