/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of a value on paper, without a terminal: what is drawn where for values of all shapes
 * and types.
 */
#include "ui/tensor/tensor_int.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h wants those first. */
#include <cmocka.h>

#include "base/buf.h"
#include "system/job.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"

struct scene {
    struct ui_app app;
    struct ui_tensor v;
};

static int scene_open(void **state)
{
    struct scene *s = odb_new(struct scene);
    struct odb_error err = ODB_ERROR_INIT;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_int_equal(ui_terminal_open_blind(&s->app.terminal, 24, 80, &err), ODB_OK);
    assert_int_equal(pipe2(s->app.wake, O_NONBLOCK | O_CLOEXEC), 0);
    s->v = (struct ui_tensor){.view.app = &s->app,
                              .value = 0,
                              .mode = UI_SIDES,
                              .axis = -1,
                              .marked = ODB_NOWHERE,
                              .tolerance = ODB_CRITERION_DEFAULT,
                              .rms = NAN};
    s->v.job = odb_job_new(ui_tensor__done, &s->app);
    *state = s;
    return 0;
}

static int scene_close(void **state)
{
    struct scene *s = *state;
    ui_tensor__close_looks(&s->v);
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(s->v.t[i]);
        ui_tensor__clear_text(&s->v.texts[i]);
    }
    ui_terminal_close(s->app.terminal);
    free(s->app.message);
    close(s->app.wake[0]);
    close(s->app.wake[1]);
    free(s);
    return 0;
}

/* Takes over the tensors. */
static void scene_show(struct scene *s, struct odb_tensor *ref, struct odb_tensor *target, int cols)
{
    struct odb_tensor *t[2] = {ref, target};
    s->v.page = UI_PAGE_ALL;
    s->v.axis = -1;
    ui_tensor__take(&s->v, t);
    ui_tensor__compute(&s->v);
    ui_tensor__layout(&s->v, cols);
    ui_tensor__compute(&s->v);
    ui_tensor__layout(&s->v, cols);
}

static void scene_turn(struct scene *s, enum ui_page page)
{
    s->v.view.height = 12;
    ui_tensor__turn(&s->v, page);
    s->v.view.height = 0;
}

/* Rows as text; nothing leaves its columns, because paper has no more. */
static char *scene_text(struct scene *s)
{
    struct odb_buf out = ODB_BUF_INIT;
    assert_true(ui_canvas_open(s->app.terminal, 1, s->v.cols));
    for (size_t row = 0; row < s->v.rows; row++) {
        struct ui_area area = ui_canvas_area(s->app.terminal);
        ui_tensor__draw_row(&s->v.view, row, &area);
        ui_canvas_line(s->app.terminal, 0, &out);
    }
    ui_canvas_close(s->app.terminal);
    return odb_buf_take(&out);
}

static void assert_drawn(struct scene *s, const char *wanted)
{
    char *text = scene_text(s);
    assert_string_equal(text ? text : "", wanted);
    free(text);
}

static void assert_has(struct scene *s, const char *line)
{
    char *text = scene_text(s);
    if (!text || !strstr(text, line))
        fail_msg("'%s' is not in\n%s", line, text);
    free(text);
}

static void assert_lacks(struct scene *s, const char *line)
{
    char *text = scene_text(s);
    if (text && strstr(text, line))
        fail_msg("'%s' is in\n%s", line, text);
    free(text);
}

/* --- tensors ---------------------------------------------------------------------------------- */

static struct odb_tensor *make(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    return t;
}

static struct odb_tensor *make_reals(enum odb_dtype dtype, int rank, const int64_t *dims,
                                     const double *v)
{
    struct odb_tensor *t = make(dtype, rank, dims);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

static struct odb_tensor *make_counted(enum odb_dtype dtype, int rank, const int64_t *dims,
                                       double step)
{
    struct odb_tensor *t = make(dtype, rank, dims);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, (double)i * step);
    return t;
}

#define DIMS(...)                                                                                  \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define REALS(...)                                                                                 \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static struct odb_tensor *make_strings(const char *const *words, size_t n)
{
    struct odb_str *strings = odb_new_n(struct odb_str, n);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    for (size_t i = 0; i < n; i++)
        strings[i] = (struct odb_str){(char *)(uintptr_t)words[i], strlen(words[i])};
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, DIMS((int64_t)n), strings, &err),
                     ODB_OK);
    free(strings);
    return t;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static void test_tensor_view__rank_0_is_one_cell(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_reals(ODB_F32, 0, NULL, REALS(1.5)),
               make_reals(ODB_F32, 0, NULL, REALS(1.25)), 80);
    scene_turn(s, UI_PAGE_NUMBERS);
    assert_drawn(s,
                 "─ numbers ─────────────────────────────────────── * over tolerance  ~ differs ─\n"
                 "       reference         target     difference\n"
                 "             1.5           1.25~         -0.25~\n");
}

static void test_tensor_view__rank_1_stands_upright(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_counted(ODB_F32, 1, DIMS(3), 0.5), make_counted(ODB_F32, 1, DIMS(3), 0.5),
               80);
    scene_turn(s, UI_PAGE_NUMBERS);
    assert_drawn(s,
                 "─ numbers ─────────────────────────────────────── * over tolerance  ~ differs ─\n"
                 "       reference         target     difference\n"
                 "  0            0              0              0\n"
                 "  1          0.5            0.5              0\n"
                 "  2            1              1              0\n");
}

static void test_tensor_view__rank_5_is_planes(void **state)
{
    struct scene *s = *state;
    const int64_t *dims = DIMS(2, 1, 2, 2, 3);
    scene_show(s, make_counted(ODB_F32, 5, dims, 1), make_counted(ODB_F32, 5, dims, 1.5), 80);
    assert_has(s, " 1 [1, 0, 1, 1, 2]           23        34.5        11.5         0.5\n");
    assert_has(s, "─ axis 2 ");
    ui_tensor__aim(&s->v); /* at the plane with the worst element */
    scene_turn(s, UI_PAGE_NUMBERS);
    assert_has(s, "─ numbers [1, 0, 1, :, :]  plane 3 of 4 ");
    assert_has(s, "  0 ref           18           19           20\n");
    odb_grid_step(&s->v.grids[0].at, -3);
    ui_tensor__layout(&s->v, 80);
    assert_drawn(s,
                 "─ numbers [0, 0, 0, :, :]  plane 0 of 4 ───────── * over tolerance  ~ differs ─\n"
                 "                   0            1            2\n"
                 "  0 ref            0            1            2\n"
                 "    tgt            0          1.5~           3~\n"
                 "    dif            0          0.5~           1~\n"
                 "  1 ref            3            4            5\n"
                 "    tgt          4.5~           6~         7.5~\n"
                 "    dif          1.5~           2~         2.5~\n");
}

static void test_tensor_view__without_elements_there_is_one_line(void **state)
{
    struct scene *s = *state;
    scene_show(s, make(ODB_F32, 2, DIMS(0, 3)), make(ODB_F32, 2, DIMS(0, 3)), 80);
    assert_drawn(s,
                 "─ numbers [:, :] ──────────────────────────────── * over tolerance  ~ differs ─\n"
                 " no elements\n");
}

static void test_tensor_view__columns_beyond_the_screen_are_scrolled_to(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_counted(ODB_F32, 2, DIMS(2, 1000), 1), NULL, 60);
    scene_turn(s, UI_PAGE_NUMBERS);
    assert_drawn(s, "─ numbers [:, :]  columns 0 to 3 of 1000 ──────────────────\n"
                    "               0            1            2            3\n"
                    "  0            0            1            2            3\n"
                    "  1         1000         1001         1002         1003\n");
    s->v.view.left = 998;
    assert_drawn(s, "─ numbers [:, :]  columns 998 to 999 of 1000 ──────────────\n"
                    "             998          999\n"
                    "  0          998          999\n"
                    "  1         1998         1999\n");
}

/* One grid for each, because no cell of one is a cell of the other. */
static void test_tensor_view__other_shapes_stand_apart(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_counted(ODB_F32, 1, DIMS(2), 1), make_counted(ODB_F32, 1, DIMS(3), 1), 80);
    assert_lacks(s, "distance");
    assert_lacks(s, "difference");
    scene_turn(s, UI_PAGE_NUMBERS);
    char *text = scene_text(s);
    assert_non_null(strstr(text, "reference"));
    assert_non_null(strstr(text, "target"));
    free(text);
}

/* --- types ------------------------------------------------------------------------------------ */

static void test_tensor_view__strings_are_quoted_and_escaped(void **state)
{
    struct scene *s = *state;
    static const char *const ref[] = {"one", "zwei", "\x1b[31m"}, *const target[] = {"one", "two",
                                                                                     ""};
    scene_show(s, make_strings(ref, 3), make_strings(target, 3), 80);
    assert_lacks(s, "statistics");
    assert_lacks(s, "values");
    assert_has(s, " differing    2\n");
    assert_has(s,
               "  0  'one'                                'one'\n"
               "  1  'zwei'                               'two'                            *\n"
               "  2  '\\x1b[31m'                           ''                               *\n");
}

static void test_tensor_view__bools_have_two_bars(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_reals(ODB_BOOL, 1, DIMS(3), REALS(0, 1, 1)),
               make_reals(ODB_BOOL, 1, DIMS(3), REALS(0, 0, 1)), 80);
    assert_has(s, "              0 ████████▓▓▓▓▓▓▓▓         1      +1\n");
    assert_has(s, "              1 ████████░░░░░░░░         2      -1\n");
    assert_has(s, "  1        True         False*           -1*\n");
}

/* A bar for each integer, where they are few. */
static void test_tensor_view__small_integers_have_bars_of_their_own(void **state)
{
    struct scene *s = *state;
    for (int span = 1; span < 8; span++) {
        struct odb_tensor *t = make(ODB_I4, 1, DIMS(3 * (span + 1)));
        for (size_t i = 0; i < t->count; i++)
            odb_store_i64(ODB_I4, t->data, i, (int64_t)i % (span + 1) - 4);
        scene_show(s, t, NULL, 60);
        char *text = scene_text(s), *at = strstr(text, "─ values");
        assert_non_null(at);
        for (int i = 0; i <= span; i++) {
            char label[16];
            at = strchr(at, '\n') + 1;
            snprintf(label, sizeof label, "%12d ", i - 4);
            assert_memory_equal(at, label, strlen(label));
            assert_memory_equal(strchr(at, '\n') - 2, " 3", 2);
        }
        free(text);
    }
}

static void test_tensor_view__float8_is_the_number_it_is(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_reals(ODB_F8E4M3FN, 1, DIMS(3), REALS(0.5, 448, NAN)),
               make_reals(ODB_F8E4M3FN, 1, DIMS(3), REALS(0.5625, 448, 1)), 80);
    assert_has(s, "max ulp      1\n");
    assert_has(s, " NaN in the reference alone  1\n");
    assert_has(s, "  0          0.5         0.5625~        0.0625~\n"
                  "  1          448            448              0\n"
                  "  2          nan              1*           nan*\n");
}

static void test_tensor_view__complex_numbers_have_both_parts(void **state)
{
    struct scene *s = *state;
    struct odb_tensor *ref = make(ODB_C64, 1, DIMS(2)), *target = make(ODB_C64, 1, DIMS(2));
    odb_store_f64(ODB_F32, ref->data, 0, 1);
    odb_store_f64(ODB_F32, target->data, 0, 1);
    odb_store_f64(ODB_F32, ref->data, 3, -2);
    odb_store_f64(ODB_F32, target->data, 3, -2.5);
    scene_show(s, ref, target, 100);
    assert_has(s, " 1 [1]                       0-2j               0-2.5j               0-0.5j\n");
}

static void test_tensor_view__nothing_but_nan_has_no_numbers(void **state)
{
    struct scene *s = *state;
    scene_show(s, make_reals(ODB_F32, 1, DIMS(2), REALS(NAN, NAN)),
               make_reals(ODB_F32, 1, DIMS(2), REALS(NAN, NAN)), 80);
    assert_has(s, " min                  -           -           -   differing    0\n");
    assert_has(s, " NaN on both sides  2\n");
    assert_lacks(s, "─ values");
    assert_lacks(s, "worst");
}

/* --- histograms ------------------------------------------------------------------------------- */

/* Below it is what is over it, wherever it stands. */
static void test_tensor_view__the_tolerance_stands_among_the_errors(void **state)
{
    struct scene *s = *state;
    struct odb_error err = ODB_ERROR_INIT;
    const double errors[] = {0, 1e-3, 1e-2, 1e-1};
    static const struct {
        const char *tolerance;
        int over; /* of the four */
    } cases[] = {{"allclose:0,1e-5", 3},
                 {"allclose:0,5e-3", 2},
                 {"allclose:0,5e-2", 1},
                 {"allclose:0,5e-1", 0},
                 {"decimal:2", 1}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        int over = 0;
        assert_int_equal(odb_criterion_parse(&s->v.tolerance, cases[i].tolerance, &err), ODB_OK);
        scene_show(s, make(ODB_F32, 1, DIMS(4)), make_reals(ODB_F32, 1, DIMS(4), errors), 40);
        char *text = scene_text(s), *line = strstr(text, "|difference|"), *limit = NULL;
        for (; (line = strchr(line, '\n')) && line[1] != '\n'; line++) {
            limit = limit ? limit : !strncmp(line + 11, "tolerance", 9) ? line : NULL;
            bool marked = line[1] == ' ' && strcspn(line + 1, "*") < strcspn(line + 1, "\n");
            assert_true(!marked || limit);
            over += marked;
        }
        assert_non_null(limit);
        assert_int_equal(over, cases[i].over);
        free(text);
    }
    assert_int_equal(odb_criterion_parse(&s->v.tolerance, "allclose:0,0", &err), ODB_OK);
    ui_tensor__layout(&s->v, 40);
    assert_has(s, "        0 tolerance ──");
    s->v.tolerance = ODB_CRITERION_DEFAULT; /* times a noise that nobody knows */
    ui_tensor__layout(&s->v, 40);
    assert_lacks(s, "tolerance ──");
}

/* --- any value, on any screen ----------------------------------------------------------------- */

/* Parts that stand side by side do not meet, all of them are within the columns, and every row
 * belongs to what the layout says. */
static void assert_placed(const struct scene *s, int cols)
{
    const struct ui_tensor *v = &s->v;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *a = &v->parts[i];
        assert_true(a->col >= 0 && a->width > 0 && a->col + a->width <= ODB_MAX(cols - 1, 1));
        assert_true(a->row + a->lines < v->rows);
        for (int k = 0; k < i; k++) {
            const struct ui_part *b = &v->parts[k];
            assert_true(a->row > b->row + b->lines || b->row > a->row + a->lines ||
                        a->col >= b->col + b->width || b->col >= a->col + a->width);
        }
    }
}

static void test_tensor_view__any_value_on_any_screen(void **state)
{
    struct scene *s = *state;
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_F8E5M2, ODB_I4,  ODB_U2,
                                           ODB_I64, ODB_U64, ODB_BOOL,   ODB_C64, ODB_F64};
    static const struct {
        int rank;
        int64_t dims[5];
    } shapes[] = {{0, {0}}, {1, {1}}, {1, {300}}, {2, {0, 3}}, {2, {3, 70}}, {5, {2, 1, 2, 3, 2}}};
    for (size_t t = 0; t < ODB_COUNT(types); t++)
        for (size_t k = 0; k < ODB_COUNT(shapes); k++)
            for (int cols = 1; cols < 220; cols += cols < 20 ? 6 : 43) {
                const int64_t *dims = shapes[k].dims;
                bool alone = cols % 2;
                s->app.terminal->rows = cols > 100 ? 60 : 24;
                s->v.mode = (cols / 43) % (UI_SIDES + 1);
                s->v.measure = (enum ui_measure)((cols / 6) % UI_MEASURES);
                s->v.format.kind = (enum odb_format_kind)((size_t)cols % ODB_FORMATS);
                scene_show(s, make_counted(types[t], shapes[k].rank, dims, 1),
                           alone ? NULL : make_counted(types[t], shapes[k].rank, dims, 2), cols);
                for (int page = 0; page < UI_PAGES; page++) {
                    scene_turn(s, (enum ui_page)page);
                    assert_placed(s, cols);
                    free(scene_text(s));
                }
            }
}

#define VIEW_TEST(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VIEW_TEST(test_tensor_view__rank_0_is_one_cell),
        VIEW_TEST(test_tensor_view__rank_1_stands_upright),
        VIEW_TEST(test_tensor_view__rank_5_is_planes),
        VIEW_TEST(test_tensor_view__without_elements_there_is_one_line),
        VIEW_TEST(test_tensor_view__columns_beyond_the_screen_are_scrolled_to),
        VIEW_TEST(test_tensor_view__other_shapes_stand_apart),
        VIEW_TEST(test_tensor_view__strings_are_quoted_and_escaped),
        VIEW_TEST(test_tensor_view__bools_have_two_bars),
        VIEW_TEST(test_tensor_view__small_integers_have_bars_of_their_own),
        VIEW_TEST(test_tensor_view__float8_is_the_number_it_is),
        VIEW_TEST(test_tensor_view__complex_numbers_have_both_parts),
        VIEW_TEST(test_tensor_view__nothing_but_nan_has_no_numbers),
        VIEW_TEST(test_tensor_view__the_tolerance_stands_among_the_errors),
        VIEW_TEST(test_tensor_view__any_value_on_any_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
