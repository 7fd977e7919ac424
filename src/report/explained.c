/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/explained.h"

#include <math.h>

#include "base/mem.h"
#include "report/json.h"

static json_t *explained_one(const struct odb_explanation *one)
{
    return json_pack("{s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:i,s:i,s:i,s:o}", "variant",
                     odb_json_text(one->variant), "text", odb_json_text(one->text), "fit",
                     odb_fit_name(one->fit), "residual", odb_json_real(one->residual), "noise",
                     odb_json_real(one->noise), "of", odb_json_real(one->of), "left",
                     odb_json_real(one->left), "confirmed", (int)one->confirmed, "refuted",
                     (int)one->refuted, "apart", (int)one->apart, "members",
                     odb_json_texts(one->members.items, one->members.n));
}

void odb_explained_json(const struct odb_explanations *all, json_t *object)
{
    json_t *list = all->tried ? json_array() : json_null();
    for (size_t i = 0; i < all->items.n && all->tried; i++)
        json_array_append_new(list, explained_one(&all->items.items[i]));
    json_object_set_new(object, "wrong_where", odb_json_text(all->where));
    json_object_set_new(object, "explanations", list);
    json_object_set_new(object, "recording", json_boolean(all->recorded));
}

static double explained_real(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    const char *text = json_string_value(v);
    return json_is_number(v) ? json_number_value(v) : text && text[0] == 'i' ? INFINITY : NAN;
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

void odb_explained_read(struct odb_explanations *out, const json_t *object)
{
    const json_t *list = json_object_get(object, "explanations"), *item, *member;
    size_t i, m;
    out->tried = json_is_array(list);
    out->where = explained_text(object, "wrong_where");
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
        one.variant = one.variant ? one.variant : odb_xstrdup("");
        one.text = one.text ? one.text : odb_xstrdup("");
        one.fit = whole ? one.fit : ODB_FIT_PARTLY;
        odb_push(&out->items, one);
    }
}
