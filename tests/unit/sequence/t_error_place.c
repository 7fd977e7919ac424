/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/error_place.h"

#include <math.h>

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
    char *had = odb_error_place(t, b, 1e-3, carry);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place__axes),
        cmocka_unit_test(test_place__late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
