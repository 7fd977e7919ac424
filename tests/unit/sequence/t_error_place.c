/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/error_place.h"

#include <math.h>

#include "sequence/plan/padding.h"
#include "tests/help/models.h"

#define ROWS 2
#define HEADS 3
#define PLACES 5
#define SIZE 4
#define COUNT (ROWS * HEADS * PLACES * SIZE)

static const int64_t dims[] = {ROWS, HEADS, PLACES, SIZE};
static const struct odb_plan_input cache = {.kind = ODB_CARRY_APPEND, .axis = 2};

static size_t at(size_t row, size_t head, size_t place, size_t k)
{
    return ((row * HEADS + head) * PLACES + place) * SIZE + k;
}

static void place_is(const float *target, const struct odb_plan_input *carry, const char *wanted)
{
    float reference[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        reference[i] = (float)(i % 17) + 1;
    struct odb_tensor *t = models_f32(4, dims, target), *b = models_f32(4, dims, reference);
    char *had = odb_error_place(t, b, 1e-3, carry, NULL);
    if (!had || !wanted)
        assert_ptr_equal(had, wanted);
    else
        assert_string_equal(had, wanted);
    free(had);
    odb_tensor_unref(t);
    odb_tensor_unref(b);
}

static void place_begin(float *target)
{
    for (size_t i = 0; i < COUNT; i++)
        target[i] = (float)(i % 17) + 1;
}

static void test_place__axes(void **state)
{
    float x[COUNT];
    (void)state;
    place_begin(x);
    place_is(x, &cache, NULL);
    x[at(1, 2, 3, 0)] += 1;
    x[at(1, 2, 3, 2)] += 1;
    place_is(x, &cache, "row 1, head 2, position 3");
    place_is(x, NULL, "row 1, place 2 of axis 1, place 3 of axis 2");
    x[at(1, 0, 3, 1)] -= 5;
    place_is(x, &cache, "row 1, position 3");
    x[at(0, 0, 1, 1)] = NAN;
    place_is(x, &cache, NULL);
}

/* Position 3 has what belongs to 2, and so on, in all rows. */
static void test_place__late(void **state)
{
    float x[COUNT], own[COUNT];
    (void)state;
    place_begin(own);
    place_begin(x);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t head = 0; head < HEADS; head++)
            for (size_t place = 3; place < PLACES; place++)
                for (size_t k = 0; k < SIZE; k++)
                    x[at(row, head, place, k)] = own[at(row, head, place - 1, k)];
    place_is(x, &cache, "written one place late");
}

/* Rows of a batch, of which some begin with padding. */
static void test_place__rows(void **state)
{
    static const int64_t shape[] = {4, 3}, masked[] = {4, 2};
    static const float whole[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const float full[8] = {1, 1, 1, 1, 1, 1, 1, 1}, some[8] = {1, 1, 0, 1, 1, 1, 0, 1};
    const struct {
        bool wrong[4];
        const float *mask;
        const char *wanted;
    } cases[] = {
        {{false, true, false, true}, NULL, "rows 1 and 3"},
        {{false, true, false, true}, some, "rows 1 and 3, padded"},
        {{false, true, true, true}, some, "rows 1, 2 and 3"},
        {{false, true, false, false}, some, "row 1"},
        {{false, true, false, true}, full, "rows 1 and 3"},
        {{true, true, true, true}, some, NULL},
    };
    (void)state;
    for (size_t k = 0; k < ODB_COUNT(cases); k++) {
        float x[12];
        for (size_t i = 0; i < ODB_COUNT(x); i++)
            x[i] = whole[i] + (cases[k].wrong[i / 3] ? 5 : 0);
        struct odb_tensor *t = models_f32(2, shape, x), *b = models_f32(2, shape, whole);
        struct odb_tensor *m = cases[k].mask ? models_f32(2, masked, cases[k].mask) : NULL;
        const struct odb_tensor *mask = odb_padding_is(m, 2) ? m : NULL;
        assert_true(!!mask == (cases[k].mask == some));
        char *had = odb_error_place(t, b, 1e-3, NULL, mask);
        if (!had || !cases[k].wanted)
            assert_ptr_equal(had, cases[k].wanted);
        else
            assert_string_equal(had, cases[k].wanted);
        free(had);
        odb_tensor_unref(t);
        odb_tensor_unref(b);
        odb_tensor_unref(m);
    }
}

/* What stands in places that the mask leaves out is taken over, on the axis that counts them. */
static void test_place__padding(void **state)
{
    static const int64_t shape[] = {2, 3, 2}, masked[] = {2, 5};
    static const float t[12] = {0}, of[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const float mask[10] = {1, 1, 1, 1, 1, 0, 0, 0, 1, 1};
    static const float wanted[12] = {0, 0, 0, 0, 0, 0, 7, 8, 9, 10, 0, 0};
    struct odb_tensor *a = models_f32(3, shape, t), *b = models_f32(3, shape, of), *out;
    struct odb_tensor *m = models_f32(2, masked, mask);
    struct odb_error err = ODB_ERROR_INIT;
    (void)state;
    assert_int_equal(odb_padding_take(&out, a, b, m, 1, 1, &err), ODB_OK);
    assert_memory_equal(out->data, wanted, sizeof wanted);
    odb_tensor_unref(out);
    assert_int_equal(odb_padding_take(&out, a, b, m, 1, 3, &err), ODB_OK); /* more than there are */
    assert_ptr_equal(out, a);
    odb_tensor_unref(out);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    odb_tensor_unref(m);
    static const float empty[10] = {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, other[10] = {1, 1, 2, 1, 0, 1};
    struct odb_tensor *none = models_f32(2, masked, empty), *no = models_f32(2, masked, other);
    assert_false(odb_padding_is(none, 5)); /* a row of nothing */
    assert_false(odb_padding_is(no, 5));
    odb_tensor_unref(none);
    odb_tensor_unref(no);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place__axes),
        cmocka_unit_test(test_place__late),
        cmocka_unit_test(test_place__rows),
        cmocka_unit_test(test_place__padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
