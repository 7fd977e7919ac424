/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Einsum against a loop over all labels.
 */
#include <math.h>
#include <string.h>

#include "tests/help/op_call.h"

/* Sum over all labels of the product of the operands; letters only. */
static double plain_sum(const struct op_call *c, const char *equation, const int64_t *size,
                        const int64_t *fixed)
{
    const char *out = strstr(equation, "->") + 2;
    int64_t at[26] = {0};
    double sum = 0;

    for (;;) {
        bool counts = true;
        for (int o = 0; out[o]; o++)
            counts = counts && at[out[o] - 'a'] == fixed[o];
        double product = counts;
        const char *s = equation;
        for (int i = 0; counts && i < c->n_in; i++, s++) {
            size_t from = 0;
            for (int d = 0; d < c->in[i]->rank; d++, s++) {
                int64_t dim = c->in[i]->dims[d];
                from = from * (size_t)dim + (size_t)(dim == 1 ? 0 : at[*s - 'a']);
            }
            product *= odb_tensor_f64(c->in[i], from);
        }
        sum += product;
        int l = 0;
        while (l < 26 && ++at[l] >= size[l])
            at[l++] = 0;
        if (l == 26)
            return sum;
    }
}

static void test_einsum__against_plain_sum(void **state)
{
    static const char *const equations[] = {
        "ij,jk->ik",     "bij,bkj->bik", "bhid,bhjd->bhij", "ij->ji",   "ii->i",
        "ii->",          "ij->",         "ij,ij->ij",       "i,j->ij",  "ij,jk,kl->il",
        "abc,cd->d",     "ijj,j->i",     "ab,bc,ca->",      "abc->cab", "ab,a->b",
        "bnd,dhk->bhnk", "ab,cd->dabc",  "abcd,bd->acb",    "i,i,i->i", "ab,b,c->ca"};
    const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_I32, ODB_U8};
    uint64_t seed = 1;

    for (size_t round = 0; round < 4 * ODB_COUNT(equations); round++) {
        const char *equation = equations[round / 4], *s = equation;
        struct op_call c = OP_CALL("Einsum", 12);
        int64_t size[26];
        for (int l = 0; l < 26; l++) /* labels that do not occur count once */
            size[l] = strchr(equation, 'a' + l) ? op_random(&seed, 4) + 1 : 1;
        op_text(&c, "equation", equation);
        while (*s != '-') {
            int64_t dims[6];
            int rank = 0;
            for (s += *s == ','; *s >= 'a'; s++) {
                dims[rank] = op_random(&seed, 6) ? size[*s - 'a'] : 1; /* broadcasting */
                if (rank > 0 && s[-1] == *s)
                    dims[rank] = dims[rank - 1];
                rank++;
            }
            struct odb_tensor *t = op_new(&c, types[round % 4], rank, dims);
            for (size_t i = 0; i < t->count; i++)
                odb_store_i64(t->dtype, t->data, i, op_random(&seed, 3));
        }
        for (int l = 0; l < 26; l++) { /* a label that is 1 everywhere has size 1 */
            int64_t most = 0;
            const char *p = equation;
            for (int i = 0; i < c.n_in; i++, p++)
                for (int d = 0; d < c.in[i]->rank; d++, p++)
                    if (*p == 'a' + l && c.in[i]->dims[d] > most)
                        most = c.in[i]->dims[d];
            size[l] = most > 0 ? most : 1;
        }
        assert_int_equal(op_run(&c), ODB_OK);
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t at[6];
            size_t rest = i;
            for (int d = c.out[0]->rank - 1; d >= 0; d--) {
                at[d] = (int64_t)(rest % (size_t)c.out[0]->dims[d]);
                rest /= (size_t)c.out[0]->dims[d];
            }
            double want = plain_sum(&c, equation, size, at);
            if (types[round % 4] == ODB_U8)
                want = fmod(want, 256);
            assert_true(odb_tensor_f64(c.out[0], i) == want);
        }
        op_free(&c);
    }
}

static void test_einsum__implicit_and_dots(void **state)
{
    struct op_call c = OP_CALL("Einsum", 12), d = OP_CALL("Einsum", 12);

    op_text(&c, "equation", " bA "); /* upper case comes first: a transpose */
    op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 0);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 3, 1, 4, 2, 5);
    op_free(&c);
    op_text(&d, "equation", "...i,i->...");
    op_count(&d, ODB_F32, 3, OP_DIMS(1, 2, 2), 1);
    op_in(&d, ODB_F32, 1, OP_DIMS(2), (double[]){10, 1});
    assert_int_equal(op_run(&d), ODB_OK);
    op_expect_shape(&d, 2, 1, 2);
    op_expect(&d, 0, 12, 34);
    op_free(&d);
}

static void test_einsum__empty_sum(void **state)
{
    struct op_call c = OP_CALL("Einsum", 12);

    op_text(&c, "equation", "ij,jk->ik");
    op_new(&c, ODB_F32, 2, OP_DIMS(2, 0));
    op_new(&c, ODB_F32, 2, OP_DIMS(0, 1));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 0);
    op_free(&c);
}

static void test_einsum__refuses(void **state)
{
    static const struct {
        const char *equation, *text;
    } cases[] = {{"ij,jk->ik", "is 3 where another of its label is 2"},
                 {"ijk,jk->i", "term 0 does not fit input 0 of rank 2"},
                 {"ij->i", "does not fit 2 inputs"},
                 {"ij,kl->im", "label 1 of the output"},
                 {"ij,kl->ii", "label 1 of the output"},
                 {"i1,kl->i", "does not fit 2 inputs"},
                 {"ij,kl->i,j", "malformed"}};

    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct op_call c = OP_CALL("Einsum", 12);
        op_text(&c, "equation", cases[i].equation);
        op_new(&c, ODB_F32, 2, OP_DIMS(2, 2));
        op_new(&c, ODB_F32, 2, OP_DIMS(3, 2));
        op_expect_refused(&c, cases[i].text);
        op_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_einsum__against_plain_sum),
        cmocka_unit_test(test_einsum__implicit_and_dots),
        cmocka_unit_test(test_einsum__empty_sum),
        cmocka_unit_test(test_einsum__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
