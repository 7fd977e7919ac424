/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Moves against one oracle: for every output coordinate, a function says which input coordinate
 * it comes from. Shapes, types and parameters are random but repeatable.
 */
#include <stdio.h>

#include "tests/help/op_call.h"

static const enum odb_dtype types[] = {ODB_F32, ODB_I64, ODB_U8,     ODB_F16, ODB_C128,
                                       ODB_I4,  ODB_U2,  ODB_STRING, ODB_BOOL};

static struct odb_tensor *any_tensor(enum odb_dtype dtype, int rank, const int64_t *dims,
                                     uint64_t *seed)
{
    struct odb_tensor *t = NULL;

    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++) {
        char text[32];
        if (dtype == ODB_STRING) {
            int n = snprintf(text, sizeof text, "s%lld", (long long)op_random(seed, 1000));
            assert_int_equal(odb_tensor_set_string(t, i, text, (size_t)n, NULL), ODB_OK);
        } else if (dtype == ODB_C128) {
            ((odb_f64 *)t->data)[2 * i] = (double)op_random(seed, 1000);
            ((odb_f64 *)t->data)[2 * i + 1] = (double)op_random(seed, 1000);
        } else {
            odb_store_i64(dtype, t->data, i, op_random(seed, dtype == ODB_BOOL ? 2 : 100));
        }
    }
    return t;
}

static bool same_cell(const struct odb_tensor *a, size_t i, const struct odb_tensor *b, size_t j)
{
    if (a->dtype == ODB_STRING) {
        const struct odb_str *x = (const struct odb_str *)a->data + i;
        const struct odb_str *y = (const struct odb_str *)b->data + j;
        return x->len == y->len && (x->len == 0 || memcmp(x->data, y->data, x->len) == 0);
    }
    if (a->dtype == ODB_C128)
        return memcmp((char *)a->data + 16 * i, (char *)b->data + 16 * j, 16) == 0;
    return odb_tensor_i64(a, i) == odb_tensor_i64(b, j);
}

static void unravel(const struct odb_tensor *t, size_t i, int64_t *at)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = (int64_t)(i % (size_t)t->dims[d]);
        i /= (size_t)t->dims[d];
    }
}

/* From an output coordinate to that of the input; false: a cell of zeros (or `fill`). */
typedef bool (*origin_fn)(const void *arg, const struct odb_tensor *x, const int64_t *out,
                          int64_t *in);

static void check_moved(const struct op_call *c, origin_fn origin, const void *arg,
                        const struct odb_tensor *fill)
{
    const struct odb_tensor *x = c->in[0], *y = c->out[0];

    assert_int_equal(y->dtype, x->dtype);
    for (size_t i = 0; i < y->count; i++) {
        int64_t out[ODB_MAX_RANK], in[ODB_MAX_RANK];
        size_t from = 0;
        unravel(y, i, out);
        if (!origin(arg, x, out, in)) {
            assert_true(same_cell(y, i, fill, 0));
            continue;
        }
        for (int d = 0; d < x->rank; d++)
            from = from * (size_t)x->dims[d] + (size_t)in[d];
        assert_true(same_cell(y, i, x, from));
    }
}

static int any_dims(uint64_t *seed, int most, int64_t longest, int64_t *dims)
{
    int rank = (int)op_random(seed, most) + 1;

    for (int d = 0; d < rank; d++)
        dims[d] = op_random(seed, 12) == 0 ? op_random(seed, 2) : op_random(seed, longest) + 1;
    return rank;
}

static bool from_perm(const void *arg, const struct odb_tensor *x, const int64_t *out, int64_t *in)
{
    const int64_t *perm = arg;

    for (int d = 0; d < x->rank; d++)
        in[perm[d]] = out[d];
    return true;
}

static void test_move__transpose_random(void **state)
{
    uint64_t seed = 1;

    for (int round = 0; round < 400; round++) {
        struct op_call c = OP_CALL("Transpose", 13);
        int64_t dims[ODB_MAX_RANK], perm[ODB_MAX_RANK];
        int rank = any_dims(&seed, 6, round % 10 == 0 ? 9 : 5, dims);
        for (int d = 0; d < rank; d++) {
            int64_t j = op_random(&seed, d + 1);
            perm[d] = perm[j];
            perm[j] = d;
        }
        op_ints(&c, "perm", (size_t)rank, perm);
        op_take(&c, any_tensor(types[(size_t)round % ODB_COUNT(types)], rank, dims, &seed));
        assert_int_equal(op_run(&c), ODB_OK);
        check_moved(&c, from_perm, perm, NULL);
        op_free(&c);
    }
}

static void test_move__transpose_large(void **state)
{
    static const int64_t cases[][8] = {{70, 130, 1, 1, 1, 0, 2, 3}, /* plain, not whole tiles */
                                       {2, 65, 12, 33, 0, 2, 3, 1}, /* keys of attention */
                                       {2, 65, 12, 33, 0, 2, 1, 3},
                                       {1, 3, 120, 90, 0, 2, 3, 1}, /* channels last */
                                       {1, 120, 90, 3, 0, 3, 1, 2}};
    const enum odb_dtype sizes[] = {ODB_U8, ODB_F16, ODB_F32, ODB_I64, ODB_C128};
    uint64_t seed = 2;

    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        for (size_t t = 0; t < ODB_COUNT(sizes); t++) {
            struct op_call c = OP_CALL("Transpose", 13);
            op_ints(&c, "perm", 4, cases[i] + 4);
            op_take(&c, any_tensor(sizes[t], 4, cases[i], &seed));
            assert_int_equal(op_run(&c), ODB_OK);
            check_moved(&c, from_perm, cases[i] + 4, NULL);
            op_free(&c);
        }
}

static void test_move__transpose_refuses(void **state)
{
    struct op_call c = OP_CALL("Transpose", 13);

    op_ints(&c, "perm", 2, OP_DIMS(0, 0));
    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_expect_refused(&c, "perm[1] = 0");
    c.attrs[0].n = 1;
    op_expect_refused(&c, "perm has 1 entries for a tensor of rank 2");
    op_free(&c);
}

struct slice {
    int64_t starts[ODB_MAX_RANK], ends[ODB_MAX_RANK], steps[ODB_MAX_RANK];
};

/* Start and end clamped, then start + i * step. Unlike Python's, a start before the first element
 * is the first element when stepping back: the specification clamps it to [0, dim - 1]. */
static int64_t slice_start(const struct slice *s, int d, int64_t dim)
{
    int64_t start = s->starts[d] + (s->starts[d] < 0 ? dim : 0);

    if (s->steps[d] > 0)
        return start < 0 ? 0 : start > dim ? dim : start;
    start = start < 0 ? 0 : start;
    return start >= dim ? dim - 1 : start;
}

static bool from_slice(const void *arg, const struct odb_tensor *x, const int64_t *out, int64_t *in)
{
    const struct slice *s = arg;

    for (int d = 0; d < x->rank; d++) {
        int64_t start = slice_start(s, d, x->dims[d]);
        in[d] = start + out[d] * s->steps[d];
        assert_true(in[d] >= 0 && in[d] < x->dims[d]);
    }
    return true;
}

static void test_move__slice_random(void **state)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 0, -1};
    uint64_t seed = 3;

    for (int round = 0; round < 600; round++) {
        struct op_call c = OP_CALL("Slice", 13);
        int64_t dims[ODB_MAX_RANK];
        int rank = any_dims(&seed, 4, 7, dims);
        struct slice s;
        for (int d = 0; d < rank; d++) {
            s.starts[d] = op_random(&seed, 24) - 12;
            s.ends[d] =
                op_random(&seed, 3) ? op_random(&seed, 24) - 12 : extremes[op_random(&seed, 6)];
            s.steps[d] = op_random(&seed, 2) ? op_random(&seed, 3) + 1 : -op_random(&seed, 3) - 1;
            if (op_random(&seed, 20) == 0)
                s.steps[d] = extremes[op_random(&seed, 4)];
        }
        op_take(&c, any_tensor(types[(size_t)round % ODB_COUNT(types)], rank, dims, &seed));
        op_list(&c, rank, s.starts);
        op_list(&c, rank, s.ends);
        op_take(&c, NULL);
        op_list(&c, rank, s.steps);
        assert_int_equal(op_run(&c), ODB_OK);
        for (int d = 0; d < rank; d++) { /* as many as a plain loop would run */
            int64_t dim = dims[d], n = 0, at = slice_start(&s, d, dim);
            int64_t end = s.ends[d] + (s.ends[d] < 0 ? dim : 0);
            if (s.steps[d] > 0)
                end = end < 0 ? 0 : end > dim ? dim : end;
            else
                end = end < 0 ? -1 : end >= dim ? dim - 1 : end;
            for (__int128 i = at; s.steps[d] > 0 ? i < end : i > end; i += s.steps[d])
                n++;
            assert_int_equal(c.out[0]->dims[d], n);
        }
        check_moved(&c, from_slice, &s, NULL);
        op_free(&c);
    }
}

static void test_move__slice_axes_and_errors(void **state)
{
    struct op_call c = OP_CALL("Slice", 13), old = OP_CALL("Slice", 1);

    op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 0);
    op_list(&c, 1, OP_DIMS(1));
    op_list(&c, 1, OP_DIMS(INT64_MAX));
    op_list(&c, 1, OP_DIMS(-1));
    op_list(&c, 1, OP_DIMS(1));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 2, 4, 5);
    ((odb_i64 *)c.in[4]->data)[0] = 0;
    op_expect_refused(&c, "the step of axis 1 is 0");
    ((odb_i64 *)c.in[3]->data)[0] = 2;
    op_expect_refused(&c, "axis 2 does not fit");
    op_free(&c);
    op_ints(&old, "starts", 1, OP_DIMS(-1));
    op_ints(&old, "ends", 1, OP_DIMS(100));
    op_count(&old, ODB_F32, 2, OP_DIMS(2, 2), 0);
    assert_int_equal(op_run(&old), ODB_OK);
    op_expect(&old, 0, 2, 3);
    op_free(&old);
}

struct pads {
    int64_t begin[ODB_MAX_RANK], end[ODB_MAX_RANK];
    const char *mode;
};

static bool from_pads(const void *arg, const struct odb_tensor *x, const int64_t *out, int64_t *in)
{
    const struct pads *p = arg;

    for (int d = 0; d < x->rank; d++) {
        int64_t low = p->begin[d] < 0 ? -p->begin[d] : 0;
        int64_t high = x->dims[d] - (p->end[d] < 0 ? -p->end[d] : 0);
        int64_t at = out[d] - p->begin[d];
        if (at < low || at >= high) {
            if (p->mode[0] == 'c')
                return false;
            if (p->mode[0] == 'e')
                at = at < low ? low : high - 1;
            while (p->mode[0] == 'w' && (at < low || at >= high))
                at += at < low ? high - low : low - high;
            while (p->mode[0] == 'r' && (at < low || at >= high)) {
                at = at < low ? 2 * low - at : 2 * (high - 1) - at;
                if (high - low == 1)
                    at = low;
            }
        }
        in[d] = at;
    }
    return true;
}

static void test_move__pad_random(void **state)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    uint64_t seed = 4;

    for (int round = 0; round < 600; round++) {
        struct op_call c = OP_CALL("Pad", 19);
        struct odb_tensor *fill;
        int64_t dims[ODB_MAX_RANK], list[2 * ODB_MAX_RANK];
        struct pads p = {.mode = modes[round % 4]};
        int rank = (int)op_random(&seed, 4) + 1;
        for (int d = 0; d < rank; d++) {
            dims[d] = op_random(&seed, 5) + 1;
            list[d] = p.begin[d] = op_random(&seed, 9) - (dims[d] > 2);
            list[rank + d] = p.end[d] = op_random(&seed, 9) - (dims[d] > 2);
        }
        op_text(&c, "mode", p.mode);
        op_take(&c, any_tensor(types[(size_t)round % ODB_COUNT(types)], rank, dims, &seed));
        op_list(&c, 2 * rank, list);
        fill = op_take(&c, any_tensor(c.in[0]->dtype, 0, NULL, &seed));
        assert_int_equal(op_run(&c), ODB_OK);
        check_moved(&c, from_pads, &p, fill);
        op_free(&c);
    }
}

static void test_move__pad_axes_and_errors(void **state)
{
    struct op_call c = OP_CALL("Pad", 18), old = OP_CALL("Pad", 2);

    op_count(&c, ODB_F32, 2, OP_DIMS(1, 2), 1);
    op_list(&c, 2, OP_DIMS(1, 0));
    op_take(&c, NULL);
    op_list(&c, 1, OP_DIMS(-1));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 1, 2);
    ((odb_i64 *)c.in[1]->data)[0] = -3;
    op_expect_refused(&c, "pads -3 and 0 do not fit dimension 1 of 2");
    ((odb_i64 *)c.in[1]->data)[0] = INT64_MAX;
    op_expect_refused(&c, "do not fit");
    op_free(&c);
    op_ints(&old, "pads", 2, OP_DIMS(1, 1));
    op_float(&old, "value", 2.5f);
    op_count(&old, ODB_F16, 1, OP_DIMS(1), 1);
    assert_int_equal(op_run(&old), ODB_OK);
    op_expect(&old, 0, 2.5, 1, 2.5);
    op_free(&old);
}

static void test_move__pad_of_nothing(void **state)
{
    struct op_call c = OP_CALL("Pad", 13);

    op_new(&c, ODB_F32, 1, OP_DIMS(0));
    op_list(&c, 2, OP_DIMS(1, 1));
    op_in(&c, ODB_F32, 0, NULL, (double[]){7});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 7, 7);
    op_text(&c, "mode", "edge");
    op_expect_refused(&c, "nothing to pad axis 0 with");
    op_free(&c);
}

static void test_move__concat_undoes_split(void **state)
{
    uint64_t seed = 5;

    for (int round = 0; round < 100; round++) {
        struct op_call split = OP_CALL("Split", 13), concat = OP_CALL("Concat", 13);
        int64_t dims[ODB_MAX_RANK], parts[3];
        int rank = any_dims(&seed, 4, 5, dims), axis = (int)op_random(&seed, rank);
        dims[axis] = 0;
        for (int i = 0; i < 3; i++)
            dims[axis] += parts[i] = op_random(&seed, 4);
        op_int(&split, "axis", axis - rank);
        op_int(&concat, "axis", axis);
        op_take(&split, any_tensor(types[(size_t)round % ODB_COUNT(types)], rank, dims, &seed));
        op_list(&split, 3, parts);
        split.n_out = 3;
        assert_int_equal(op_run(&split), ODB_OK);
        for (int i = 0; i < 3; i++)
            op_take(&concat, odb_tensor_ref(split.out[i]));
        assert_int_equal(op_run(&concat), ODB_OK);
        assert_true(odb_tensor_identical(concat.out[0], split.in[0]));
        op_free(&split);
        op_free(&concat);
    }
}

static void test_move__concat_refuses(void **state)
{
    struct op_call c = OP_CALL("Concat", 13);

    op_int(&c, "axis", 0);
    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_new(&c, ODB_F32, 2, OP_DIMS(2, 4));
    op_expect_refused(&c, "input 1, float (2, 4), does not fit input 0, float (2, 3), on axis 0");
    op_free(&c);
}

static void test_move__split_shares(void **state)
{
    struct op_call c = OP_CALL("Split", 18), old = OP_CALL("Split", 11);

    op_int(&c, "num_outputs", 3);
    op_count(&c, ODB_F32, 1, OP_DIMS(7), 0);
    c.n_out = 3;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 1, 2);
    op_expect(&c, 2, 6);
    op_free(&c);
    op_count(&old, ODB_F32, 1, OP_DIMS(7), 0);
    old.n_out = 3;
    op_expect_refused(&old, "7 cannot be split into 3 parts");
    op_ints(&old, "split", 3, OP_DIMS(3, 3, 2));
    op_expect_refused(&old, "adds up to 8, but axis 0 has 7");
    op_free(&old);
}

static bool from_modulo(const void *arg, const struct odb_tensor *x, const int64_t *out,
                        int64_t *in)
{
    const struct odb_tensor *y = arg;

    for (int d = 0; d < x->rank; d++)
        in[d] = out[d + y->rank - x->rank] % x->dims[d];
    return true;
}

static void test_move__expand_and_tile_random(void **state)
{
    uint64_t seed = 6;

    for (int round = 0; round < 200; round++) {
        struct op_call tile = OP_CALL("Tile", 13), expand = OP_CALL("Expand", 13);
        enum odb_dtype type = types[(size_t)round % ODB_COUNT(types)];
        int64_t dims[ODB_MAX_RANK], repeats[ODB_MAX_RANK], shape[ODB_MAX_RANK + 1];
        int rank = any_dims(&seed, 4, 4, dims);
        for (int d = 0; d < rank; d++) {
            repeats[d] = op_random(&seed, 4);
            dims[d] = dims[d] > 2 ? 1 : dims[d];
            shape[d + 1] = dims[d] == 1 ? op_random(&seed, 4) : 1;
        }
        shape[0] = 2;
        op_take(&tile, any_tensor(type, rank, dims, &seed));
        op_list(&tile, rank, repeats);
        assert_int_equal(op_run(&tile), ODB_OK);
        check_moved(&tile, from_modulo, tile.out[0], NULL);
        op_take(&expand, odb_tensor_ref(tile.in[0]));
        op_list(&expand, rank + 1, shape);
        assert_int_equal(op_run(&expand), ODB_OK);
        check_moved(&expand, from_modulo, expand.out[0], NULL);
        op_free(&tile);
        op_free(&expand);
    }
}

static void test_move__tile_too_large(void **state)
{
    struct op_call c = OP_CALL("Tile", 13);

    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_list(&c, 2, OP_DIMS(INT64_MAX, 1));
    op_expect_refused(&c, "dimension 0 of 2 cannot be repeated 9223372036854775807 times");
    ((odb_i64 *)c.in[1]->data)[0] = (int64_t)1 << 60;
    assert_int_equal(op_run(&c), ODB_E_NOMEM);
    op_free(&c);
}

static void test_move__expand_refuses(void **state)
{
    struct op_call c = OP_CALL("Expand", 13);

    op_new(&c, ODB_F32, 1, OP_DIMS(3));
    op_list(&c, 2, OP_DIMS(2, 4));
    op_expect_refused(&c, "(3,) and (2, 4)");
    op_free(&c);
}

static void test_move__depth_and_space(void **state)
{
    static const char *const modes[] = {"DCR", "CRD"};

    for (int m = 0; m < 2; m++) {
        struct op_call c = OP_CALL("DepthToSpace", 13), back = OP_CALL("SpaceToDepth", 13);
        op_int(&c, "blocksize", 2);
        op_int(&back, "blocksize", 2);
        op_text(&c, "mode", modes[m]);
        op_count(&c, ODB_U8, 4, OP_DIMS(2, 8, 2, 3), 0);
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect_shape(&c, 4, 2, 2, 4, 6);
        assert_int_equal(odb_tensor_i64(c.out[0], 1), m == 0 ? 12 : 6); /* the block's next x */
        op_take(&back, odb_tensor_ref(c.out[0]));
        assert_int_equal(op_run(&back), ODB_OK);
        if (m == 0)
            assert_true(odb_tensor_identical(back.out[0], c.in[0]));
        c.attrs[0].i = 3;
        op_expect_refused(&c, "8 channels are no multiple of blocksize 3 squared");
        op_free(&c);
        op_free(&back);
    }
}

static void test_move__reverse_sequence(void **state)
{
    struct op_call c = OP_CALL("ReverseSequence", 10);

    op_count(&c, ODB_F32, 2, OP_DIMS(3, 2), 0);
    op_list(&c, 2, OP_DIMS(3, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 4, 3, 2, 1, 0, 5);
    ((odb_i64 *)c.in[1]->data)[1] = 4;
    op_expect_refused(&c, "sequence_lens[1] is 4, but there are 3 steps");
    op_free(&c);
}

static void test_move__center_crop_pad(void **state)
{
    struct op_call c = OP_CALL("CenterCropPad", 18);

    op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 1);
    op_list(&c, 2, OP_DIMS(3, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 2, 4, 5, 0, 0);
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_move__transpose_random),
        cmocka_unit_test(test_move__transpose_large),
        cmocka_unit_test(test_move__transpose_refuses),
        cmocka_unit_test(test_move__slice_random),
        cmocka_unit_test(test_move__slice_axes_and_errors),
        cmocka_unit_test(test_move__pad_random),
        cmocka_unit_test(test_move__pad_axes_and_errors),
        cmocka_unit_test(test_move__pad_of_nothing),
        cmocka_unit_test(test_move__concat_undoes_split),
        cmocka_unit_test(test_move__concat_refuses),
        cmocka_unit_test(test_move__split_shares),
        cmocka_unit_test(test_move__expand_and_tile_random),
        cmocka_unit_test(test_move__tile_too_large),
        cmocka_unit_test(test_move__expand_refuses),
        cmocka_unit_test(test_move__depth_and_space),
        cmocka_unit_test(test_move__reverse_sequence),
        cmocka_unit_test(test_move__center_crop_pad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
