/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is said of y(x), for functions that a target may have in place of the reference's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/measure/curve.h"

enum { POINTS = 4000 };

typedef double curve_fn(double x, size_t i);

static double relu(double x, size_t i)
{
    return (void)i, x > 0 ? x : 0;
}
static double sigmoid(double x, size_t i)
{
    return (void)i, 1 / (1 + exp(-x));
}
static double root(double x, size_t i)
{
    return (void)i, sqrt(x);
}
static double clamped(double x, size_t i)
{
    return fmin(relu(x, i), 3);
}
static double leaking(double x, size_t i)
{
    return (void)i, x > -1 ? relu(x, i) : 0.25 * x - 2;
}
static double moved(double x, size_t i)
{
    return x < 2 ? relu(x, i) : x + 0.5;
}
static double hundredth(double x, size_t i)
{
    return x < 0 ? 1.01 * sigmoid(x, i) : sigmoid(x, i);
}
static double one_wrong(double x, size_t i)
{
    return i == 17 ? 0.5 : relu(x, i);
}
/* Between multiples of 0.5, straight. */
static double straight(double x, size_t i)
{
    double low = floor(2 * x) / 2, t = (x - low) * 2;
    return sigmoid(low, i) * (1 - t) + sigmoid(low + 0.5, i) * t;
}
static double steps(double x, size_t i)
{
    return sigmoid(floor(4 * x) / 4, i);
}
/* Smooth, and nowhere the reference's. */
static double smooth(double x, size_t i)
{
    return (void)i, 0.5 + 0.5 * tanh(x) + 0.02;
}
static double not_below(double x, size_t i)
{
    return (void)i, x < 0 ? 0 : sqrt(x);
}
static double lanes(double x, size_t i)
{
    return relu(x, i) + (i % 4 == 0 ? 1 : 0);
}
static double nan_zero(double x, size_t i)
{
    return isnan(x) ? 0 : relu(x, i);
}

/* Numbers from -6 to 6 that look random; on a grid where it is not 0. */
static double number(size_t i, double grid)
{
    uint64_t seed = (i + 1) * 0x9e3779b97f4a7c15u;
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    double x = (double)(seed >> 12) / 0x1p51 * 6 - 6;
    return grid > 0 ? grid * nearbyint(x / grid) : x;
}

static struct odb_curve *curve_of(curve_fn *y, curve_fn *r, double grid, bool narrow)
{
    static struct odb_curve_point points[POINTS + 3];
    struct odb_curve_of of = {points, POINTS, 1, narrow ? 1e-2 : 1e-5, narrow ? 0x1p-10 : 0x1p-23};
    for (size_t i = 0; i < POINTS; i++) {
        double x = number(i, grid);
        points[i] = (struct odb_curve_point){x, y(x, i), r(x, i)};
        if (narrow)
            points[i].y = ldexp(nearbyint(ldexp(points[i].y, 9)), -9);
        else
            points[i].y = (double)(float)points[i].y;
    }
    return odb_curve_make(&of);
}

static const struct curve_case {
    curve_fn *y, *r;
    double grid;
    bool narrow; /* the target's numbers have nine bits behind the point */
    const char *text;
} curve_cases[] = {
    {clamped, relu, 0, false, "y(x): follows the reference for x < 3, is constant 3 for x >= 3"},
    {clamped, relu, 0, true, "y(x): follows the reference for x < 3, is constant 3 for x >= 3"},
    {leaking, relu, 0, false, "y(x): is 0.25 x - 2 for x < -1, follows the reference for x >= -1"},
    {moved, relu, 0, false, "y(x): follows the reference for x < 2, is x + 0.5 for x >= 2"},
    {hundredth, sigmoid, 0, false,
     "y(x): is 1.01 times the reference for x < 0, follows the reference for x >= 0"},
    {straight, sigmoid, 0, false, "y(x): is 23 straight pieces, most 0.5 wide, for all x from "},
    {steps, sigmoid, 0, false, "y(x): is 48 steps, each 0.25 wide, for all x from "},
    {smooth, sigmoid, 0, false, "y(x): lies above and below the reference by up to 0.17"},
    {not_below, root, 0, false, "y(x): is constant 0 for x < 0, follows the reference for x >= 0"},
    {lanes, relu, 0.0625, false,
     "y is not a function of x alone: 194 of 194 values of x have several"},
    {lanes, relu, 0, false, "y jumps between neighbouring x"},
};

static void test_curve__what_is_said(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof curve_cases / sizeof *curve_cases; k++) {
        const struct curve_case *one = &curve_cases[k];
        struct odb_curve *c = curve_of(one->y, one->r, one->grid, one->narrow);
        assert_non_null(c);
        if (strncmp(c->text, one->text, strlen(one->text)) != 0)
            print_message("case %zu: %s\n", k, c->text);
        assert_int_equal(strncmp(c->text, one->text, strlen(one->text)), 0);
        odb_curve_free(c);
    }
}

static void test_curve__one_number_alone(void **state)
{
    char text[100];
    (void)state;
    struct odb_curve *c = curve_of(one_wrong, relu, 0, false);
    double x = number(17, 0);
    snprintf(text, sizeof text, ", is 0.5, not %.6g, at x = %.6g, follows", relu(x, 0), x);
    if (!strstr(c->text, text))
        print_message("%s\n", c->text);
    assert_non_null(strstr(c->text, text));
    assert_int_equal(c->pieces.n, 3);
    odb_curve_free(c);
}

static void test_curve__numbers_that_are_none(void **state)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, NAN};
    struct odb_curve_point points[104];
    (void)state;
    for (size_t i = 0; i < 104; i++) {
        double x = i < 4 ? odd[i] : number(i, 0);
        points[i] = (struct odb_curve_point){x, nan_zero(x, i), isnan(x) ? NAN : relu(x, i)};
    }
    const struct odb_curve_of of = {points, 104, 1, 1e-5, 0x1p-23};
    struct odb_curve *c = odb_curve_make(&of);
    assert_int_equal(c->shape, ODB_CURVE_DRAWN);
    assert_int_equal(c->odd.n, 3);
    assert_non_null(strstr(c->text, "; 0 at x = nan, where the reference has nan"));
    assert_null(strstr(c->text, "x = inf"));
    odb_curve_free(c);
}

/* Few numbers, far apart: what lies between them is not made up. */
static void test_curve__a_gap_has_no_knot_of_its_own(void **state)
{
    struct odb_curve_point points[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        double x = (double)i - 1.75;
        points[i] = (struct odb_curve_point){x, clamped(x, i), relu(x, i)};
    }
    const struct odb_curve_of of = {points, 8, 1, 1e-5, 0x1p-23};
    struct odb_curve *c = odb_curve_make(&of);
    assert_string_equal(c->text,
                        "y(x): follows the reference for x <= 2.25, is constant 3 for x >= "
                        "3.25");
    odb_curve_free(c);
}

static void test_curve__it_is_drawn_in_its_room(void **state)
{
    struct odb_buf out = ODB_BUF_INIT;
    (void)state;
    struct odb_curve *c = curve_of(clamped, relu, 0, false);
    assert_true(c->points.n > 100 && c->points.n <= CURVE_POINTS);
    odb_curve_plot(c, 60, 12, &out);
    size_t rows = 0;
    for (const char *line = odb_buf_text(&out), *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_true(end - line <= 60);
        rows++;
    }
    assert_int_equal(rows, 12);
    assert_non_null(strchr(odb_buf_text(&out), '*'));
    assert_non_null(strstr(odb_buf_text(&out), ".."));
    odb_buf_dispose(&out);
    odb_curve_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve__what_is_said),
        cmocka_unit_test(test_curve__one_number_alone),
        cmocka_unit_test(test_curve__numbers_that_are_none),
        cmocka_unit_test(test_curve__a_gap_has_no_knot_of_its_own),
        cmocka_unit_test(test_curve__it_is_drawn_in_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
