/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RNN, GRU and LSTM against their equations, one number at a time in double; then directions,
 * lengths and layouts against each other.
 */
#include <math.h>

#include "tests/help/op_call.h"

enum { STEPS = 4, BATCH = 3, INPUT = 2, HIDDEN = 3 };

static const char *const names[] = {"RNN", "GRU", "LSTM"};
static const int gates_of[] = {1, 3, 4};

static struct odb_tensor *noise(struct op_call *c, int rank, const int64_t *dims, uint64_t *seed)
{
    struct odb_tensor *t = op_new(c, ODB_F64, rank, dims);

    for (size_t i = 0; i < t->count; i++)
        ((odb_f64 *)t->data)[i] = (double)op_random(seed, 2001) / 1000 - 1;
    return t;
}

/* X, W, R, B, no lengths, initial_h and, for LSTM, initial_c and P. */
static void fill(struct op_call *c, int cell, int dirs, uint64_t seed)
{
    int rows = gates_of[cell] * HIDDEN;

    noise(c, 3, OP_DIMS(STEPS, BATCH, INPUT), &seed);
    noise(c, 3, OP_DIMS(dirs, rows, INPUT), &seed);
    noise(c, 3, OP_DIMS(dirs, rows, HIDDEN), &seed);
    noise(c, 2, OP_DIMS(dirs, 2 * rows), &seed);
    op_take(c, NULL);
    noise(c, 3, OP_DIMS(dirs, BATCH, HIDDEN), &seed);
    if (cell == 2) {
        noise(c, 3, OP_DIMS(dirs, BATCH, HIDDEN), &seed);
        noise(c, 2, OP_DIMS(dirs, 3 * HIDDEN), &seed);
    }
    c->n_out = cell == 2 ? 3 : 2;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Row `row` of gate inputs: W x, R h and both biases. */
struct parts {
    double wx, rh, wb, rb;
};

static struct parts parts_of(const struct op_call *c, int rows, int row, const double *x,
                             const double *h)
{
    const double *w = c->in[1]->data, *r = c->in[2]->data, *b = c->in[3]->data;
    struct parts p = {0, 0, b[row], b[rows + row]};

    for (int i = 0; i < INPUT; i++)
        p.wx += w[row * INPUT + i] * x[i];
    for (int i = 0; i < HIDDEN; i++)
        p.rh += r[row * HIDDEN + i] * h[i];
    return p;
}

static double all_of(struct parts p)
{
    return p.wx + p.rh + p.wb + p.rb;
}

static void step(const struct op_call *c, int cell, bool linear, const double *x, double *h,
                 double *s)
{
    int rows = gates_of[cell] * HIDDEN;
    double next[HIDDEN], scaled[HIDDEN];

    for (int j = 0; cell == 1 && j < HIDDEN; j++)
        scaled[j] = h[j] * sigmoid(all_of(parts_of(c, rows, HIDDEN + j, x, h)));
    for (int j = 0; j < HIDDEN; j++) {
        if (cell == 0) {
            next[j] = tanh(all_of(parts_of(c, rows, j, x, h)));
        } else if (cell == 1) {
            double z = sigmoid(all_of(parts_of(c, rows, j, x, h)));
            double r = sigmoid(all_of(parts_of(c, rows, HIDDEN + j, x, h)));
            struct parts p = parts_of(c, rows, 2 * HIDDEN + j, x, linear ? h : scaled);
            double g = linear ? tanh(p.wx + r * (p.rh + p.rb) + p.wb) : tanh(all_of(p));
            next[j] = (1 - z) * g + z * h[j];
        } else {
            const double *peep = c->in[7]->data;
            double i = sigmoid(all_of(parts_of(c, rows, j, x, h)) + peep[j] * s[j]);
            double f = sigmoid(all_of(parts_of(c, rows, 2 * HIDDEN + j, x, h)) +
                               peep[2 * HIDDEN + j] * s[j]);
            double g = tanh(all_of(parts_of(c, rows, 3 * HIDDEN + j, x, h)));
            s[j] = f * s[j] + i * g;
            double o =
                sigmoid(all_of(parts_of(c, rows, HIDDEN + j, x, h)) + peep[HIDDEN + j] * s[j]);
            next[j] = o * tanh(s[j]);
        }
    }
    memcpy(h, next, sizeof next);
}

static void test_recurrent__equations(void **state)
{
    for (int i = 0; i < 4; i++) {
        int cell = i < 3 ? i : 1;
        struct op_call c = OP_CALL(names[cell], 14);
        fill(&c, cell, 1, 7 + (uint64_t)i);
        op_int(&c, "hidden_size", HIDDEN);
        if (cell == 1)
            op_int(&c, "linear_before_reset", i == 3);
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect_shape(&c, 4, STEPS, 1, BATCH, HIDDEN);
        for (int b = 0; b < BATCH; b++) {
            double h[HIDDEN], s[HIDDEN] = {0};
            memcpy(h, (double *)c.in[5]->data + b * HIDDEN, sizeof h);
            if (cell == 2)
                memcpy(s, (double *)c.in[6]->data + b * HIDDEN, sizeof s);
            for (int t = 0; t < STEPS; t++) {
                step(&c, cell, i == 3, (double *)c.in[0]->data + (t * BATCH + b) * INPUT, h, s);
                for (int j = 0; j < HIDDEN; j++) {
                    size_t at = (size_t)((t * BATCH + b) * HIDDEN + j);
                    assert_true(fabs(odb_tensor_f64(c.out[0], at) - h[j]) < 1e-12);
                }
            }
            for (int j = 0; j < HIDDEN; j++) {
                size_t at = (size_t)(b * HIDDEN + j);
                assert_true(fabs(odb_tensor_f64(c.out[1], at) - h[j]) < 1e-12);
                if (cell == 2)
                    assert_true(fabs(odb_tensor_f64(c.out[2], at) - s[j]) < 1e-12);
            }
        }
        op_free(&c);
    }
}

/* The part of t (first dimension dirs) for one direction. */
static struct odb_tensor *half(const struct odb_tensor *t, int dir)
{
    struct odb_tensor *out = NULL;
    int64_t dims[ODB_MAX_RANK];

    if (t == NULL)
        return NULL;
    memcpy(dims, t->dims, sizeof dims);
    dims[0] = 1;
    assert_int_equal(odb_tensor_copy_of(&out, t->dtype, t->rank, dims,
                                        (char *)t->data + (size_t)dir * t->bytes / 2, NULL),
                     ODB_OK);
    return out;
}

static void test_recurrent__both_directions(void **state)
{
    for (int cell = 0; cell < 3; cell++) {
        struct op_call c = OP_CALL(names[cell], 14);
        fill(&c, cell, 2, 3);
        c.in[4] = NULL;
        op_text(&c, "direction", "bidirectional");
        assert_int_equal(op_run(&c), ODB_OK);
        for (int dir = 0; dir < 2; dir++) {
            struct op_call one = OP_CALL(names[cell], 14);
            one.n_out = c.n_out;
            op_text(&one, "direction", dir ? "reverse" : "forward");
            op_take(&one, odb_tensor_ref(c.in[0]));
            for (int i = 1; i < c.n_in; i++)
                op_take(&one, half(c.in[i], dir));
            assert_int_equal(op_run(&one), ODB_OK);
            struct odb_tensor *last = half(c.out[1], dir);
            assert_true(odb_tensor_identical(last, one.out[1]));
            odb_tensor_unref(last);
            for (size_t i = 0; i < one.out[0]->count; i++) {
                size_t row = BATCH * HIDDEN, at = (2 * (i / row) + (size_t)dir) * row + i % row;
                assert_true(odb_tensor_f64(c.out[0], at) == odb_tensor_f64(one.out[0], i));
            }
            op_free(&one);
        }
        op_free(&c);
    }
}

static void test_recurrent__lengths(void **state)
{
    static const char *const directions[] = {"forward", "reverse"};

    for (int i = 0; i < 6; i++) {
        struct op_call whole = OP_CALL(names[i / 2], 14), brief = OP_CALL(names[i / 2], 14);
        fill(&whole, i / 2, 1, 5);
        fill(&brief, i / 2, 1, 5);
        op_text(&whole, "direction", directions[i % 2]);
        op_text(&brief, "direction", directions[i % 2]);
        int n = whole.n_in;
        op_in(&whole, ODB_I32, 1, OP_DIMS(BATCH), (double[]){2, 0, 2});
        whole.in[4] = whole.in[n];
        whole.n_in = n;
        struct odb_tensor *x = NULL;
        assert_int_equal(
            odb_tensor_copy_of(&x, ODB_F64, 3, OP_DIMS(2, BATCH, INPUT), brief.in[0]->data, NULL),
            ODB_OK);
        odb_tensor_unref(brief.in[0]);
        brief.in[0] = x;
        assert_int_equal(op_run(&whole), ODB_OK);
        assert_int_equal(op_run(&brief), ODB_OK);
        for (size_t e = 0; e < whole.out[0]->count; e++) {
            bool runs = e / (BATCH * HIDDEN) < 2 && e / HIDDEN % BATCH != 1;
            assert_true(odb_tensor_f64(whole.out[0], e) ==
                        (runs ? odb_tensor_f64(brief.out[0], e) : 0));
        }
        for (size_t e = 0; e < BATCH * HIDDEN; e++) /* no step: the state is the initial one */
            assert_true(odb_tensor_f64(whole.out[1], e) ==
                        odb_tensor_f64(e / HIDDEN == 1 ? whole.in[5] : brief.out[1], e));
        op_free(&whole);
        op_free(&brief);
    }
}

static void test_recurrent__refuses(void **state)
{
    struct op_call c = OP_CALL("LSTM", 14);

    fill(&c, 2, 1, 9);
    op_int(&c, "hidden_size", 4);
    op_expect_refused(&c, "hidden_size is 4, but R says 3");
    c.n_attrs = 0;
    op_text(&c, "direction", "sideways");
    op_expect_refused(&c, "unknown direction \"sideways\"");
    c.n_attrs = 0;
    odb_tensor_unref(c.in[3]);
    c.in[3] = NULL;
    assert_int_equal(op_run(&c), ODB_OK);
    odb_tensor_unref(c.in[7]);
    assert_int_equal(odb_tensor_new(&c.in[7], ODB_F64, 2, OP_DIMS(1, 8), NULL), ODB_OK);
    op_expect_refused(&c, "input 7 has shape (1, 8), not (1, 9)");
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recurrent__equations),
        cmocka_unit_test(test_recurrent__both_directions),
        cmocka_unit_test(test_recurrent__lengths),
        cmocka_unit_test(test_recurrent__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
