/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Moving and finding in lists, of which no terminal is needed to know the rows.
 */
#include <pthread.h>

#include "tests/help/models.h"

#include "command/call/parse.h"
#include "command/table/command_find.h"
#include "command/table/quoting.h"
#include "session/session_state.h"
#include "ui/list/list.h"
#include "ui/view/app.h"

static size_t list_n; /* rows, each of which is called by its number */

static size_t list_rows(const struct ui_view *view)
{
    return list_n;
}

static bool list_matches(const struct ui_view *view, size_t row, const char *text)
{
    return row == strtoul(text, NULL, 10);
}

static const struct ui_view_ops list_ops = {.rows = list_rows, .matches = list_matches};

struct scene {
    struct odb_session session;
    struct ui_app app;
    struct ui_view view;
};

static void scene_open(struct scene *s, size_t rows)
{
    *s = (struct scene){.view = {.ops = &list_ops, .height = 10}};
    pthread_mutex_init(&s->session.lock, NULL);
    s->app.session = &s->session;
    s->view.app = &s->app;
    list_n = rows;
}

static void scene_act(struct scene *s, const char *line)
{
    const struct odb_command *command;
    struct odb_command_call call;
    char **argv;
    int argc;
    MODELS_OK(odb_words_split(&argv, &argc, line, &why));
    MODELS_OK(odb_command_find(&command, argv[0], true, &why));
    MODELS_OK(odb_call_parse(&call, command, NULL, argc - 1, argv + 1, &why));
    assert_int_equal(ui_list_act(&s->view, &call, NULL), UI_DONE);
    odb_call_dispose(&call);
    free(argv);
}

static void test_list__no_rows(void **state)
{
    static const char *const lines[] = {"down 5", "up",        "page-down", "page-up", "top",
                                        "bottom", "right 100", "left",      NULL};
    struct scene s;
    scene_open(&s, 0);
    for (size_t i = 0; lines[i]; i++)
        scene_act(&s, lines[i]);
    assert_int_equal(s.view.selected, 0);
    for (int direction = -1; direction <= 1; direction += 2) {
        assert_false(ui_list_find(&s.view, "1", direction, true));
        assert_false(ui_list_find(&s.view, "1", direction, false));
    }
}

static void test_list__finds_round_the_end(void **state)
{
    struct scene s;
    scene_open(&s, 50);
    ui_list_select(&s.view, 20);
    assert_true(ui_list_find(&s.view, "20", 1, true));
    assert_int_equal(s.view.selected, 20);
    assert_true(ui_list_find(&s.view, "3", 1, false));
    assert_int_equal(s.view.selected, 3);
    assert_true(ui_list_find(&s.view, "49", -1, false));
    assert_int_equal(s.view.selected, 49);
    assert_false(ui_list_find(&s.view, "50", 1, false));
    assert_false(ui_list_find(&s.view, "", 1, true));
    assert_int_equal(s.view.selected, 49);
}

static void test_list__largest_counts(void **state)
{
    struct scene s;
    scene_open(&s, 50);
    scene_act(&s, "down 1000000000");
    assert_int_equal(s.view.selected, 49);
    assert_int_equal(s.view.top, 40);
    scene_act(&s, "up 1000000000");
    assert_int_equal(s.view.selected, 0);
    assert_int_equal(s.view.top, 0);
    for (int i = 0; i < 3; i++)
        scene_act(&s, "right 1000000000");
    assert_true(s.view.left > 0);
    scene_act(&s, "left 1000000000");
    assert_int_equal(s.view.left, 0);
}

/* From the selected row on, as far as there is room. */
static void test_list__what_has_unfolded_is_seen(void **state)
{
    static const struct {
        size_t selected, last, top;
    } cases[] = {{9, 9, 0}, {9, 12, 3}, {3, 12, 3}, {3, 40, 3}, {0, 5, 0}, {49, 49, 40}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct scene s;
        scene_open(&s, 50);
        ui_list_select(&s.view, cases[i].selected);
        if (cases[i].selected < 10)
            s.view.top = 0;
        ui_list_reveal(&s.view, cases[i].last);
        assert_int_equal(s.view.top, cases[i].top);
        assert_int_equal(s.view.selected, cases[i].selected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list__no_rows),
        cmocka_unit_test(test_list__finds_round_the_end),
        cmocka_unit_test(test_list__largest_counts),
        cmocka_unit_test(test_list__what_has_unfolded_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
