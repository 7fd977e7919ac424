/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gather and scatter against loops over coordinates, and each other's inverse where they are.
 */
#include "tests/help/op_call.h"

static int64_t offset(const struct odb_tensor *t, const int64_t *at)
{
    int64_t o = 0;

    for (int d = 0; d < t->rank; d++)
        o = o * t->dims[d] + at[d];
    return o;
}

static void unravel(const struct odb_tensor *t, size_t i, int64_t *at)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = (int64_t)(i % (size_t)t->dims[d]);
        i /= (size_t)t->dims[d];
    }
}

/* Indices in [-limit, limit). */
static struct odb_tensor *any_indices(struct op_call *c, int rank, const int64_t *dims,
                                      int64_t limit, uint64_t *seed)
{
    enum odb_dtype type = op_random(seed, 2) ? ODB_I64 : ODB_I32;
    struct odb_tensor *t = op_new(c, type, rank, dims);

    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(type, t->data, i, op_random(seed, 2 * limit) - limit);
    return t;
}

static int64_t wrapped(const struct odb_tensor *indices, size_t i, int64_t limit)
{
    int64_t index = odb_tensor_i64(indices, i);

    return index < 0 ? index + limit : index;
}

static int any_shape(uint64_t *seed, int least, int most, int64_t *dims)
{
    int rank = least + (int)op_random(seed, most - least + 1);

    for (int d = 0; d < rank; d++)
        dims[d] = op_random(seed, 5) + 1;
    return rank;
}

static const enum odb_dtype types[] = {ODB_F32, ODB_U8, ODB_F64, ODB_I16, ODB_I4};

static void test_gather__random(void **state)
{
    uint64_t seed = 1;

    for (int round = 0; round < 300; round++) {
        struct op_call c = OP_CALL("Gather", 13);
        int64_t dims[4], index_dims[3];
        int rank = any_shape(&seed, 1, 4, dims), n = any_shape(&seed, 0, 2, index_dims);
        int axis = (int)op_random(&seed, rank);
        op_int(&c, "axis", axis - (round % 2 ? rank : 0));
        const struct odb_tensor *x = op_count(&c, types[round % 5], rank, dims, 0);
        const struct odb_tensor *indices = any_indices(&c, n, index_dims, dims[axis], &seed);
        assert_int_equal(op_run(&c), ODB_OK);
        assert_int_equal(c.out[0]->rank, rank - 1 + n);
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t at[8], from[4];
            unravel(c.out[0], i, at);
            memcpy(from, at, sizeof from);
            from[axis] = wrapped(indices, (size_t)offset(indices, at + axis), dims[axis]);
            for (int d = axis + 1; d < rank; d++)
                from[d] = at[d - 1 + n];
            assert_int_equal(odb_tensor_i64(c.out[0], i),
                             odb_tensor_i64(x, (size_t)offset(x, from)));
        }
        op_free(&c);
    }
}

static void test_gather__elements_random(void **state)
{
    uint64_t seed = 2;

    for (int round = 0; round < 300; round++) {
        struct op_call c = OP_CALL("GatherElements", 13);
        int64_t dims[4], index_dims[4];
        int rank = any_shape(&seed, 1, 4, dims), axis = (int)op_random(&seed, rank);
        for (int d = 0; d < rank; d++)
            index_dims[d] = d == axis ? op_random(&seed, 7) : op_random(&seed, dims[d]) + 1;
        op_int(&c, "axis", axis);
        const struct odb_tensor *x = op_count(&c, types[round % 5], rank, dims, 0);
        const struct odb_tensor *indices = any_indices(&c, rank, index_dims, dims[axis], &seed);
        assert_int_equal(op_run(&c), ODB_OK);
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t at[4];
            unravel(c.out[0], i, at);
            at[axis] = wrapped(indices, i, dims[axis]);
            assert_int_equal(odb_tensor_i64(c.out[0], i), odb_tensor_i64(x, (size_t)offset(x, at)));
        }
        op_free(&c);
    }
}

static void test_gather__nd_random(void **state)
{
    uint64_t seed = 3;

    for (int round = 0; round < 300; round++) {
        struct op_call c = OP_CALL("GatherND", 13);
        int64_t dims[5], index_dims[6];
        int rank = any_shape(&seed, 1, 4, dims), batch = (int)op_random(&seed, rank);
        int depth = (int)op_random(&seed, rank - batch) + 1, extra = (int)op_random(&seed, 2);
        memcpy(index_dims, dims, sizeof dims);
        index_dims[batch] = 3;
        index_dims[batch + extra] = depth;
        op_int(&c, "batch_dims", batch);
        const struct odb_tensor *x = op_count(&c, types[round % 5], rank, dims, 0);
        struct odb_tensor *indices = op_new(&c, ODB_I64, batch + extra + 1, index_dims);
        for (size_t i = 0; i < indices->count; i++)
            ((odb_i64 *)indices->data)[i] =
                op_random(&seed, dims[batch + (int)(i % (size_t)depth)]);
        assert_int_equal(op_run(&c), ODB_OK);
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t at[8], from[8], tuple[8];
            unravel(c.out[0], i, at);
            memcpy(from, at, sizeof from);
            memcpy(tuple, at, sizeof tuple);
            for (int d = 0; d < depth; d++) {
                tuple[batch + extra] = d;
                from[batch + d] = odb_tensor_i64(indices, (size_t)offset(indices, tuple));
            }
            for (int d = batch + depth; d < rank; d++)
                from[d] = at[d - depth + extra];
            assert_int_equal(odb_tensor_i64(c.out[0], i),
                             odb_tensor_i64(x, (size_t)offset(x, from)));
        }
        op_free(&c);
    }
}

static void test_gather__strings_outlive_their_source(void **state)
{
    struct op_call c = OP_CALL("Gather", 13);
    struct odb_tensor *x = op_new(&c, ODB_STRING, 1, OP_DIMS(3));

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(odb_tensor_set_string(x, i, &"abc"[i], 1, NULL), ODB_OK);
    op_list(&c, 2, OP_DIMS(-1, 1));
    assert_int_equal(op_run(&c), ODB_OK);
    odb_tensor_unref(c.in[0]);
    c.in[0] = NULL;
    const struct odb_str *out = c.out[0]->data;
    assert_memory_equal(out[0].data, "c", 1);
    assert_memory_equal(out[1].data, "b", 1);
    op_free(&c);
}

static void test_gather__empty(void **state)
{
    struct op_call c = OP_CALL("Gather", 13);

    op_new(&c, ODB_F32, 2, OP_DIMS(0, 3));
    op_list(&c, 0, OP_DIMS(0));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 0, 3);
    op_free(&c);
}

static void test_gather__refuses(void **state)
{
    struct op_call c = OP_CALL("Gather", 13), e = OP_CALL("GatherElements", 13);
    struct op_call n = OP_CALL("GatherND", 13);

    op_new(&c, ODB_F32, 1, OP_DIMS(3));
    op_list(&c, 2, OP_DIMS(0, 3));
    op_expect_refused(&c, "index 3 (element 1 of the indices) is outside 3 elements");
    ((odb_i64 *)c.in[1]->data)[1] = INT64_MIN;
    op_expect_refused(&c, "outside 3 elements");
    op_int(&c, "axis", 1);
    op_expect_refused(&c, "axis 1 does not fit a tensor of rank 1");
    op_free(&c);
    op_new(&e, ODB_F32, 2, OP_DIMS(2, 2));
    op_new(&e, ODB_I64, 2, OP_DIMS(2, 3));
    op_expect_refused(&e, "(2, 3) do not fit data of shape (2, 2) on axis 0");
    op_free(&e);
    op_new(&n, ODB_F32, 1, OP_DIMS(2));
    op_new(&n, ODB_I64, 1, OP_DIMS(2));
    op_expect_refused(&n, "do not fit data");
    op_free(&n);
}

/* Scattering what was gathered gives the data back where all of it was named. */
static void test_scatter__elements_undo_gather(void **state)
{
    uint64_t seed = 4;

    for (int round = 0; round < 100; round++) {
        struct op_call g = OP_CALL("GatherElements", 13), s = OP_CALL("ScatterElements", 18);
        int64_t dims[4];
        int rank = any_shape(&seed, 1, 4, dims), axis = (int)op_random(&seed, rank);
        op_int(&g, "axis", axis);
        op_int(&s, "axis", axis);
        op_count(&g, types[round % 5], rank, dims, 1);
        struct odb_tensor *indices = op_new(&g, ODB_I64, rank, dims);
        for (size_t i = 0; i < indices->count; i++) {
            int64_t at[4];
            unravel(indices, i, at);
            ((odb_i64 *)indices->data)[i] = dims[axis] - 1 - at[axis];
        }
        assert_int_equal(op_run(&g), ODB_OK);
        op_new(&s, types[round % 5], rank, dims);
        op_take(&s, odb_tensor_ref(indices));
        op_take(&s, odb_tensor_ref(g.out[0]));
        assert_int_equal(op_run(&s), ODB_OK);
        assert_true(odb_tensor_identical(s.out[0], g.in[0]));
        op_free(&g);
        op_free(&s);
    }
}

static void test_scatter__reductions(void **state)
{
    static const struct {
        enum odb_dtype type;
        const char *how;
        double want[2];
    } cases[] = {{ODB_F32, "add", {16, 5}}, {ODB_F32, "mul", {56, 5}}, {ODB_F32, "max", {8, 5}},
                 {ODB_F32, "min", {1, 5}},  {ODB_U8, "add", {16, 5}},  {ODB_I64, "mul", {56, 5}},
                 {ODB_F16, "add", {16, 5}}, {ODB_I4, "add", {0, 5}}, /* 16 modulo 16 */
                 {ODB_BOOL, "add", {1, 1}}, {ODB_BOOL, "mul", {1, 1}}, {ODB_U64, "max", {8, 5}},
                 {ODB_F64, "none", {8, 5}}};

    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct op_call c = OP_CALL("ScatterND", 18);
        op_text(&c, "reduction", cases[i].how);
        op_in(&c, cases[i].type, 1, OP_DIMS(2), (double[]){1, 5});
        op_new(&c, ODB_I64, 2, OP_DIMS(2, 1));
        op_in(&c, cases[i].type, 1, OP_DIMS(2), (double[]){7, 8});
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect(&c, 0, cases[i].want[0], cases[i].want[1]);
        op_free(&c);
    }
}

static void test_scatter__large_unsigned(void **state)
{
    struct op_call c = OP_CALL("ScatterElements", 18);

    op_text(&c, "reduction", "max");
    struct odb_tensor *x = op_new(&c, ODB_U64, 1, OP_DIMS(1));
    op_new(&c, ODB_I64, 1, OP_DIMS(1));
    struct odb_tensor *updates = op_new(&c, ODB_U64, 1, OP_DIMS(1));
    *(odb_u64 *)x->data = 1;
    *(odb_u64 *)updates->data = UINT64_MAX;
    assert_int_equal(op_run(&c), ODB_OK);
    assert_true(*(odb_u64 *)c.out[0]->data == UINT64_MAX);
    op_free(&c);
}

static void test_scatter__refuses(void **state)
{
    struct op_call c = OP_CALL("ScatterND", 16), e = OP_CALL("ScatterElements", 16);

    op_text(&c, "reduction", "max"); /* came with opset 18 */
    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_new(&c, ODB_I64, 2, OP_DIMS(1, 1));
    op_new(&c, ODB_F32, 2, OP_DIMS(1, 2));
    op_expect_refused(&c, "unknown reduction \"max\"");
    c.n_attrs = 0;
    op_expect_refused(&c, "updates have shape (1, 2), not (1, 3)");
    op_free(&c);
    op_new(&e, ODB_F32, 1, OP_DIMS(2));
    op_in(&e, ODB_I64, 1, OP_DIMS(1), (double[]){-3});
    op_new(&e, ODB_F32, 1, OP_DIMS(1));
    op_expect_refused(&e, "index -3 (element 0 of the indices) is outside 2 elements");
    op_free(&e);
}

static void test_scatter__deprecated(void **state)
{
    assert_non_null(odb_op_find("", "Scatter", 10));
    assert_null(odb_op_find("", "Scatter", 11));
}

static void test_scatter__cache(void **state)
{
    struct op_call c = OP_CALL("TensorScatter", 24);

    op_new(&c, ODB_F32, 3, OP_DIMS(2, 3, 1));
    op_count(&c, ODB_F32, 3, OP_DIMS(2, 2, 1), 1);
    op_list(&c, 2, OP_DIMS(1, 0));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 1, 2, 3, 4, 0);
    ((odb_i64 *)c.in[2]->data)[0] = 2;
    op_expect_refused(&c, "2 steps written at 2 do not fit a cache of 3");
    op_text(&c, "mode", "circular");
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 2, 0, 1, 3, 4, 0);
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather__random),
        cmocka_unit_test(test_gather__elements_random),
        cmocka_unit_test(test_gather__nd_random),
        cmocka_unit_test(test_gather__strings_outlive_their_source),
        cmocka_unit_test(test_gather__empty),
        cmocka_unit_test(test_gather__refuses),
        cmocka_unit_test(test_scatter__elements_undo_gather),
        cmocka_unit_test(test_scatter__reductions),
        cmocka_unit_test(test_scatter__large_unsigned),
        cmocka_unit_test(test_scatter__refuses),
        cmocka_unit_test(test_scatter__deprecated),
        cmocka_unit_test(test_scatter__cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
