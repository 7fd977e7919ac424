/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations as JSON, and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/mem.h"
#include "explain/measure/curve.h"
#include "report/explained.h"

static void test_explained__a_curve_comes_back(void **state)
{
    const double odd[] = {NAN, -INFINITY};
    struct odb_curve_point points[42];
    (void)state;
    for (size_t i = 0; i < 42; i++) {
        double x = i < 2 ? odd[i] : (double)i / 2 - 10;
        points[i] = (struct odb_curve_point){x, fmin(x, 3), x};
    }
    const struct odb_curve_of of = {points, 42, 1, 1e-5, 0x1p-23};
    struct odb_explanations all = {.tried = true, .curve = odb_curve_make(&of)}, back = {0};
    json_t *json = json_object();
    odb_explained_json(&all, json);
    odb_explained_read(&back, json);
    assert_non_null(back.curve);
    assert_string_equal(back.curve->text, all.curve->text);
    assert_int_equal(back.curve->points.n, all.curve->points.n);
    assert_int_equal(back.curve->odd.n, 2);
    assert_true(isinf(back.curve->odd.items[1].x) && back.curve->odd.items[1].x < 0);
    assert_int_equal(back.curve->pieces.n, 2);
    assert_int_equal(back.curve->pieces.items[1].kind, ODB_CURVE_CONSTANT);
    assert_true(back.curve->pieces.items[1].b == 3);
    assert_true(odb_curve_knot(back.curve, 1) == odb_curve_knot(all.curve, 1));
    json_decref(json);
    odb_explanations_dispose(&all);
    odb_explanations_dispose(&back);
}

static void test_explained__no_curve_is_none(void **state)
{
    struct odb_explanations all = {.tried = true}, back = {0};
    json_t *json = json_object();
    (void)state;
    odb_explained_json(&all, json);
    assert_true(json_is_null(json_object_get(json, "curve")));
    odb_explained_read(&back, json);
    assert_null(back.curve);
    assert_true(back.tried);
    json_decref(json);
    odb_explanations_dispose(&back);
}

static void test_explained__members_come_back_with_their_words(void **state)
{
    struct odb_explanation one = {.variant = odb_xstrdup("a"), .text = odb_xstrdup("as if a")};
    struct odb_explanations all = {.tried = true, .unfinished = true}, back = {0};
    json_t *json = json_object();
    (void)state;
    one.fit = ODB_FIT_CLASS;
    odb_push(&one.members, odb_xstrdup("b"));
    odb_push(&one.says, odb_xstrdup("as if b"));
    odb_push(&all.items, one);
    odb_explained_json(&all, json);
    odb_explained_read(&back, json);
    assert_int_equal(back.items.n, 1);
    assert_string_equal(back.items.items[0].members.items[0], "b");
    assert_string_equal(back.items.items[0].says.items[0], "as if b");
    assert_true(back.unfinished);
    json_decref(json);
    odb_explanations_dispose(&all);
    odb_explanations_dispose(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explained__a_curve_comes_back),
        cmocka_unit_test(test_explained__no_curve_is_none),
        cmocka_unit_test(test_explained__members_come_back_with_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
