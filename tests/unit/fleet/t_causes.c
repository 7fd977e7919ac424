/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a cause is called: the words that its members have in common; and names of models as people
 * see them.
 */
#include "fleet/causes.h"

#include <stdlib.h>

#include "tests/help/models.h"

/* A model with a culprit that a variant explains in these words; or one that is refused so. */
static void causes_add(struct odb_fleet *fleet, const char *text, const char *said)
{
    struct odb_fleet_model model = {.name = odb_xasprintf("m%zu", fleet->models.n),
                                    .path = odb_xstrdup("m.onnx"),
                                    .stage = ODB_FLEET_SEARCHED,
                                    .verdict = text ? ODB_FLEET_DIVERGES : ODB_FLEET_NONE,
                                    .said = said ? odb_xstrdup(said) : NULL};
    if (text)
        model.report = json_pack("{s:[{s:s,s:s,s:s,s:[{s:s,s:s,s:s}]}]}", "culprits", "op_type",
                                 "Clip", "domain", "", "kind", "introduced", "explanations",
                                 "variant", "input/max=missing", "fit", "exact", "text", text);
    odb_push(&fleet->models, model);
}

/* One cause of two members, with this title. */
static void causes_named(const char *a, const char *b, bool said, const char *title)
{
    struct odb_fleet fleet = {0};
    struct odb_causes causes;
    causes_add(&fleet, said ? NULL : a, said ? a : NULL);
    if (b)
        causes_add(&fleet, said ? NULL : b, said ? b : NULL);
    odb_causes_find(&causes, &fleet);
    assert_int_equal(causes.list.n, 1);
    assert_int_equal(causes.list.items[0].members.n, b ? 2 : 1);
    assert_string_equal(causes.list.items[0].title, title);
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&fleet);
}

static void test_causes__a_title_has_no_value_of_one_model(void **state)
{
    (void)state;
    causes_named("as if input max (Constant@43) were missing", NULL, false,
                 "Clip: as if input max were missing");
    causes_named("as if input max (a (b)) were missing", "as if input max (c) were missing", false,
                 "Clip: as if input max were missing");
    causes_named("as if input 2 (x were missing", NULL, false, "Clip: as if input 2");
}

static void test_causes__a_title_has_what_all_say(void **state)
{
    (void)state;
    causes_named("as if pads were ignored ([1, 1], its default)",
                 "as if pads were ignored ([1, 1], its default)", false,
                 "Clip: as if pads were ignored ([1, 1], its default)");
    causes_named("as if pads were ignored ([1, 1], its default)",
                 "as if pads were ignored ([1], its default)", false,
                 "Clip: as if pads were ignored");
    causes_named("as if it were 1", "otherwise", false, "Clip: input/max=missing");
}

static void test_causes__a_message_has_what_all_say(void **state)
{
    (void)state;
    causes_named("#30 '/a/Softmax' has no kernel", "#7 '/b/Softmax' has no kernel", true,
                 "… has no kernel");
    causes_named("#30 '/a/Softmax' has 3 kernels", "#7 '/b/Softmax' has 4 kernels", true,
                 "… has … kernels");
    causes_named("no kernel of version 9", "no kernel of version 9", true,
                 "no kernel of version 9");
}

static void test_causes__a_narrower_type_is_one_cause(void **state)
{
    struct odb_fleet fleet = {0};
    struct odb_causes causes;
    (void)state;
    for (int i = 0; i < 2; i++) {
        causes_add(&fleet, "as if its results were rounded to float16", NULL);
        json_t *report = fleet.models.items[i].report;
        json_object_set_new(report, "narrower", json_string("f16"));
        json_object_set_new(json_array_get(json_object_get(report, "culprits"), 0), "narrower",
                            json_true());
        json_object_set_new(json_array_get(json_object_get(report, "culprits"), 0), "op_type",
                            json_string(i ? "Conv" : "Relu"));
    }
    causes_add(&fleet, "as if its results were rounded to float16", NULL);
    odb_causes_find(&causes, &fleet);
    assert_int_equal(causes.list.n, 2);
    assert_string_equal(causes.list.items[0].title,
                        "computes in f16, which --expect f16 takes for right");
    assert_int_equal(causes.list.items[0].models, 2);
    assert_string_equal(causes.list.items[1].title,
                        "Clip: as if its results were rounded to float16");
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&fleet);
}

/* What a culprit does, or what is refused, as a report says it. */
static void causes_add_report(struct odb_fleet *fleet, const char *kind)
{
    json_t *node = json_pack("{s:s,s:s,s:s}", "op_type", "GRU", "domain", "", "kind", kind);
    causes_add(fleet, NULL, "'/GRU' (GRU): no kernel; try another");
    fleet->models.items[fleet->models.n - 1].report =
        *kind ? json_pack("{s:[o]}", "culprits", node)
              : json_pack("{s:{s:[o]}}", "pieces", "refused", node);
}

static void test_causes__a_refusal_is_one_cause_whoever_finds_it(void **state)
{
    static const char *const kinds[] = {"refused", "", "introduced"};
    struct odb_fleet fleet = {0};
    struct odb_causes causes;
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(kinds); i++)
        causes_add_report(&fleet, kinds[i]);
    odb_causes_find(&causes, &fleet);
    assert_int_equal(causes.list.n, 2);
    assert_string_equal(causes.list.items[0].title, "refuses GRU: no kernel");
    assert_int_equal(causes.list.items[0].models, 2);
    assert_string_equal(causes.list.items[1].title, "GRU: introduced, unexplained");
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&fleet);
}

/* A model that diverges, and of which operators are refused: its one message is of the first. */
static void test_causes__what_is_refused_has_no_other_ones_message(void **state)
{
    static const char *const titles[] = {"refuses Conv: unsupported kernel", "refuses Relu"};
    struct odb_fleet fleet = {0};
    struct odb_causes causes;
    (void)state;
    causes_add(&fleet, NULL, "#1 'c' (Conv): unsupported kernel; 2 of 3 nodes judged");
    fleet.models.items[0].verdict = ODB_FLEET_DIVERGES;
    fleet.models.items[0].report =
        json_pack("{s:{s:[{s:s,s:s},{s:s,s:s}]}}", "pieces", "refused", "op_type", "Conv", "domain",
                  "", "op_type", "Relu", "domain", "");
    odb_causes_find(&causes, &fleet);
    assert_int_equal(causes.list.n, ODB_COUNT(titles));
    for (size_t i = 0; i < ODB_COUNT(titles); i++) {
        assert_string_equal(causes.list.items[i].title, titles[i]);
        assert_int_equal(causes.list.items[i].verdict, ODB_FLEET_REFUSED);
    }
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&fleet);
}

/* A culprit that nothing explains, whose elements are wrong there. */
static void causes_add_where(struct odb_fleet *fleet, const char *where)
{
    causes_add(fleet, NULL, NULL);
    fleet->models.items[fleet->models.n - 1].verdict = ODB_FLEET_DIVERGES;
    fleet->models.items[fleet->models.n - 1].report =
        json_pack("{s:[{s:s,s:s,s:s,s:s}]}", "culprits", "op_type", "Conv", "domain", "", "kind",
                  "introduced", "wrong_where", where);
}

static void test_causes__what_nothing_explains_is_named_by_where_it_is_wrong(void **state)
{
    static const struct {
        const char *wheres[2], *title;
    } cases[] = {
        {{"6 of 9 elements: only at the border, 2 elements deep",
          "4 of 9 elements: only at the border, 1 element deep"},
         "Conv: wrong only at the border"},
        {{"6 of 9 elements: only at place 3 of axis 1 (4 places)",
          "6 of 9 elements: only at place 3 of axis 1 (8 places)"},
         "Conv: wrong only at place 3 of axis 1"},
        {{"6 of 9 elements: only at the border, 1 element deep", "every element"},
         "Conv: introduced, unexplained"},
        {{"6 of 9 elements: only at the border, 1 element deep",
          "6 of 9 elements: only where the reference is negative"},
         "Conv: introduced, unexplained"},
        {{"6 of 9 elements: in no simple pattern", "6 of 9 elements: in no simple pattern"},
         "Conv: introduced, unexplained"},
    };
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_fleet fleet = {0};
        struct odb_causes causes;
        causes_add_where(&fleet, cases[i].wheres[0]);
        causes_add_where(&fleet, cases[i].wheres[1]);
        odb_causes_find(&causes, &fleet);
        assert_int_equal(causes.list.n, 1);
        assert_string_equal(causes.list.items[0].title, cases[i].title);
        odb_causes_dispose(&causes);
        odb_fleet_dispose(&fleet);
    }
}

static void test_fleet__names_without_the_folder_of_all(void **state)
{
    static const char *const lists[][3] = {
        {"/zoo/a/x", "/zoo/a/y", "/zoo/b"}, {"a/x", "a/y", "a/z"}, {"/a", "/b", "/c"}};
    static const char *const shown[] = {"a/x", "a/x", "a"};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(lists); i++) {
        struct odb_fleet fleet = {0};
        for (size_t k = 0; k < 3; k++)
            odb_push(&fleet.models, (struct odb_fleet_model){.name = odb_xstrdup(lists[i][k])});
        odb_fleet_see(&fleet);
        assert_string_equal(odb_fleet_brief(&fleet, lists[i][0]), shown[i]);
        assert_string_equal(odb_fleet_brief(&fleet, "/elsewhere/x"),
                            i == 2 ? "elsewhere/x" : "/elsewhere/x");
        odb_fleet_dispose(&fleet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes__a_title_has_no_value_of_one_model),
        cmocka_unit_test(test_causes__a_title_has_what_all_say),
        cmocka_unit_test(test_causes__a_message_has_what_all_say),
        cmocka_unit_test(test_causes__a_narrower_type_is_one_cause),
        cmocka_unit_test(test_causes__a_refusal_is_one_cause_whoever_finds_it),
        cmocka_unit_test(test_causes__what_is_refused_has_no_other_ones_message),
        cmocka_unit_test(test_causes__what_nothing_explains_is_named_by_where_it_is_wrong),
        cmocka_unit_test(test_fleet__names_without_the_folder_of_all),
    };
    return cmocka_run_group_tests_name("causes", tests, NULL, NULL);
}
