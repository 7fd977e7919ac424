/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/tensor_print.h"
#include "tensor/random.h"

static struct odb_error err;

/* Every element is its own index. */
static struct odb_tensor *numbered(int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_I64, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(ODB_I64, t->data, i, (int64_t)i);
    return t;
}

#define NUMBERED(...) numbered((int)ODB_COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

static void test_grid__low_ranks(void **state)
{
    char text[64];
    struct odb_grid g;
    struct odb_tensor *t = numbered(0, NULL);
    odb_grid_init(&g, t);
    assert_true(g.rows == 1 && g.cols == 1 && g.planes == 1);
    assert_true(g.row_axis == -1 && g.col_axis == -1);
    assert_int_equal(odb_grid_cell(&g, 0, 0), 0);
    assert_false(odb_grid_step(&g, 1));
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[]");
    assert_string_equal(odb_index_text(t, 0, text, sizeof text), "[]");
    odb_tensor_unref(t);

    t = NUMBERED(5);
    odb_grid_init(&g, t);
    assert_true(g.rows == 5 && g.cols == 1 && g.planes == 1);
    assert_true(g.row_axis == 0 && g.col_axis == -1);
    assert_int_equal(odb_grid_cell(&g, 3, 0), 3);
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[:]");
    assert_string_equal(odb_index_text(t, 3, text, sizeof text), "[3]");
    odb_tensor_unref(t);

    t = NUMBERED(2, 3);
    odb_grid_init(&g, t);
    assert_true(g.rows == 2 && g.cols == 3 && g.planes == 1);
    assert_true(g.row_axis == 0 && g.col_axis == 1);
    assert_int_equal(odb_grid_cell(&g, 1, 2), 5);
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[:, :]");
    odb_tensor_unref(t);
}

static void test_grid__steps_stay_inside(void **state)
{
    char text[64];
    struct odb_grid g;
    struct odb_tensor *t = NUMBERED(4, 3, 2, 5);
    odb_grid_init(&g, t);
    assert_int_equal(g.planes, 12);
    assert_false(odb_grid_step(&g, -1));
    assert_true(odb_grid_step(&g, 10));
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[3, 1, :, :]");
    assert_true(odb_grid_step(&g, INT64_MAX));
    assert_int_equal(g.plane, 11);
    assert_false(odb_grid_step(&g, 1));
    assert_true(odb_grid_step(&g, INT64_MIN));
    assert_int_equal(g.plane, 0);

    assert_true(odb_grid_step_axis(&g, 0, 2));
    assert_true(odb_grid_step_axis(&g, 1, 5));
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[2, 2, :, :]");
    assert_false(odb_grid_step_axis(&g, 1, 1));
    assert_true(odb_grid_step_axis(&g, 0, INT64_MIN));
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[0, 2, :, :]");
    assert_false(odb_grid_step_axis(&g, 2, 1)); /* an axis of the plane */
    assert_false(odb_grid_step_axis(&g, -1, 1));
    assert_false(odb_grid_step_axis(&g, 7, 1));
    odb_tensor_unref(t);
}

static void grid_is_empty(int rank, const int64_t *dims, size_t rows, size_t cols,
                          const char *expected)
{
    char text[64];
    struct odb_grid g;
    struct odb_tensor *t = numbered(rank, dims);
    odb_grid_init(&g, t);
    assert_int_equal(g.rows, rows);
    assert_int_equal(g.cols, cols);
    assert_int_equal(g.planes, 0);
    assert_false(odb_grid_step(&g, 1));
    assert_false(odb_grid_step_axis(&g, 0, 1));
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), expected);
    struct odb_tensor *slice = NULL;
    assert_int_equal(odb_slice(&slice, t, text, &err), ODB_OK);
    assert_int_equal(slice->count, 0);
    odb_tensor_unref(slice);
    odb_tensor_unref(t);
}

static void test_grid__empty(void **state)
{
    const int64_t huge = 1 << 10; /* the four: all that there may be beside a 0 */
    grid_is_empty(1, (int64_t[]){0}, 0, 1, "[:]");
    grid_is_empty(2, (int64_t[]){3, 0}, 3, 0, "[:, :]");
    grid_is_empty(3, (int64_t[]){0, 3, 4}, 3, 4, "[:, :, :]");
    grid_is_empty(4, (int64_t[]){2, 3, 0, 4}, 0, 4, "[:, :, :, :]");
    grid_is_empty(5, (int64_t[]){huge, huge, 0, huge, huge}, (size_t)huge, (size_t)huge,
                  "[:, :, :, :, :]");
}

static void test_grid__containers_have_no_cells(void **state)
{
    char text[64];
    struct odb_grid g;
    struct odb_tensor *item = NUMBERED(2, 3), *t = NULL;
    assert_int_equal(odb_tensor_new_container(&t, ODB_SEQUENCE, &item, 1, &err), ODB_OK);
    odb_grid_init(&g, t);
    assert_true(g.rows == 0 && g.cols == 0 && g.planes == 0);
    assert_string_equal(odb_grid_plane_text(&g, text, sizeof text), "[]");
    assert_string_equal(odb_index_text(t, 1, text, sizeof text), "[]");
    odb_tensor_unref(t);
    odb_tensor_unref(item);
}

static void test_grid__texts_are_cut_to_the_buffer(void **state)
{
    char text[64], whole[64];
    struct odb_grid g;
    struct odb_tensor *t = NUMBERED(12, 13, 2, 2);
    odb_grid_init(&g, t);
    odb_grid_step(&g, 155);
    odb_grid_plane_text(&g, whole, sizeof whole);
    assert_string_equal(whole, "[11, 12, :, :]");
    for (size_t size = 1; size <= strlen(whole) + 1; size++) {
        memset(text, 'x', sizeof text);
        odb_grid_plane_text(&g, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, whole, size - 1);
        assert_int_equal(text[size], 'x');
    }
    text[0] = 'x';
    odb_grid_plane_text(&g, text, 0);
    assert_int_equal(text[0], 'x');
    odb_tensor_unref(t);
}

/* --- random shapes, element by element -------------------------------------------------------- */

static int64_t roll(struct odb_pcg64 *random, int64_t below)
{
    return odb_pcg64_integers(random, 0, below - 1);
}

static void advance(int64_t *index, const struct odb_tensor *t)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        if (++index[d] < t->dims[d])
            return;
        index[d] = 0;
    }
}

static void check_text(const struct odb_tensor *t, const int64_t *index, size_t at)
{
    char text[256], expected[256];
    size_t len = (size_t)snprintf(expected, sizeof expected, "[");
    for (int d = 0; d < t->rank; d++)
        len += (size_t)snprintf(expected + len, sizeof expected - len, "%s%lld", d ? ", " : "",
                                (long long)index[d]);
    snprintf(expected + len, sizeof expected - len, "]");
    assert_string_equal(odb_index_text(t, at, text, sizeof text), expected);
}

/* The plane's text, given to odb_slice(), gives the plane's cells. */
static void check_plane(const struct odb_grid *g)
{
    char text[256];
    struct odb_tensor *slice = NULL;
    odb_grid_plane_text(g, text, sizeof text);
    assert_int_equal(odb_slice(&slice, g->t, text, &err), ODB_OK);
    assert_int_equal(slice->count, g->rows * g->cols);
    for (size_t row = 0; row < g->rows; row++)
        for (size_t col = 0; col < g->cols; col++)
            assert_int_equal(odb_tensor_i64(slice, row * g->cols + col),
                             odb_grid_cell(g, row, col));
    odb_tensor_unref(slice);
}

static void check_elements(struct odb_grid *g)
{
    const struct odb_tensor *t = g->t;
    int64_t index[ODB_MAX_RANK] = {0};
    for (size_t i = 0; i < t->count; i++, advance(index, t)) {
        size_t plane, row, col;
        odb_grid_at(g, i, &plane, &row, &col);
        assert_true(plane < g->planes && row < g->rows && col < g->cols);
        assert_int_equal(row, g->row_axis < 0 ? 0 : index[g->row_axis]);
        assert_int_equal(col, g->col_axis < 0 ? 0 : index[g->col_axis]);
        if (row == 0 && col == 0) { /* get there axis by axis */
            for (int d = 0; d < g->row_axis && g->col_axis >= 0; d++) {
                odb_grid_step_axis(g, d, INT64_MIN);
                odb_grid_step_axis(g, d, index[d]);
            }
            assert_int_equal(g->plane, plane);
            check_plane(g);
        }
        assert_int_equal(odb_grid_cell(g, row, col), i);
        check_text(t, index, i);
    }
}

static void test_grid__random_shapes(void **state)
{
    struct odb_pcg64 random;
    odb_pcg64_seed(&random, 42);
    for (int round = 0; round < 300; round++) {
        int64_t dims[ODB_MAX_RANK];
        int rank = (int)roll(&random, 8);
        for (int d = 0; d < rank; d++)
            dims[d] = roll(&random, 25) ? 1 + roll(&random, 4) : 0;
        struct odb_tensor *t = numbered(rank, dims);
        struct odb_grid g;
        odb_grid_init(&g, t);
        assert_int_equal(g.planes * g.rows * g.cols, t->count);
        check_elements(&g);
        odb_tensor_unref(t);
    }
}

static void test_grid__index_text_is_an_element(void **state)
{
    struct odb_tensor *t = NUMBERED(2, 3, 4);
    size_t at;
    const struct {
        const char *text;
        size_t at;
    } good[] = {{"[0, 0, 0]", 0}, {"1,2,3", 23},  {"[1,-1,0]", 20},       {"-1,-1,-1", 23},
                {"[17]", 17},     {"[0 1 2]", 6}, {" [ 1 , 0 , 0 ] ", 12}};
    static const char *const bad[] = {"",        "[]",        "[0,1]", "[0,0,0,0]",
                                      "[2,0,0]", "[0,-4,0]",  "[24]",  "[0,x,0]",
                                      "[-25]",   "[0,0,0] 1", "0.5",   "99999999999999999999"};
    for (size_t i = 0; i < ODB_COUNT(good); i++) {
        assert_int_equal(odb_index_parse(&at, t, good[i].text, &err), ODB_OK);
        assert_int_equal(at, good[i].at);
    }
    for (size_t i = 0; i < ODB_COUNT(bad); i++)
        assert_int_equal(odb_index_parse(&at, t, bad[i], &err), ODB_E_USAGE);
    odb_tensor_unref(t);

    t = numbered(0, NULL);
    assert_int_equal(odb_index_parse(&at, t, "[]", &err), ODB_OK);
    assert_int_equal(at, 0);
    odb_tensor_unref(t);
    t = NUMBERED(0, 3);
    assert_int_equal(odb_index_parse(&at, t, "[0,0]", &err), ODB_E_USAGE);
    odb_tensor_unref(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid__low_ranks),
        cmocka_unit_test(test_grid__index_text_is_an_element),
        cmocka_unit_test(test_grid__steps_stay_inside),
        cmocka_unit_test(test_grid__empty),
        cmocka_unit_test(test_grid__containers_have_no_cells),
        cmocka_unit_test(test_grid__texts_are_cut_to_the_buffer),
        cmocka_unit_test(test_grid__random_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
