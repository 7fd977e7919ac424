/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors that go to disk where memory is short: what stays, what goes, and that it is the same.
 */
#include "tensor/spill.h"

#include "tensor/pass.h"
#include "tests/help/executor_help.h"

enum { LARGE = 100000 /* floats: enough to be worth a file */ };

static struct odb_tensor *spill_ramp(int64_t n)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    help_ok(odb_tensor_new(&t, ODB_F32, 1, &n, &err), &err);
    for (int64_t i = 0; i < n; i++)
        ((float *)t->data)[i] = (float)i;
    return t;
}

static void spill_take(struct odb_spill *spill, struct odb_tensor *t)
{
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_spill_take(spill, t, &err), &err);
}

static void test_spill__goes_to_disk_and_is_the_same(void **state)
{
    (void)state;
    struct odb_spill *spill = odb_spill_new(LARGE * sizeof(float));
    struct odb_tensor *first = spill_ramp(LARGE);
    const void *was = first->data;
    spill_take(spill, first);
    assert_ptr_equal(first->data, was); /* there was room */
    assert_int_equal(odb_spill_size(spill), 0);
    struct odb_tensor *second = spill_ramp(LARGE + 1), *third = spill_ramp(LARGE - 1);
    second->declared = ODB_F16;
    odb_tensor_set_read_as(second, "transposed");
    spill_take(spill, second);
    spill_take(spill, third);
    size_t size = odb_spill_size(spill);
    assert_true(size >= (2 * LARGE) * sizeof(float));
    spill_take(spill, third); /* it is there already */
    assert_int_equal(odb_spill_size(spill), size);
    assert_int_equal(second->declared, ODB_F16);
    assert_string_equal(second->read_as, "transposed");
    odb_spill_drop(spill); /* is read again */
    for (int64_t i = 0; i < LARGE + 1; i++)
        assert_true(((float *)second->data)[i] == (float)i);
    struct odb_tensor *again = spill_ramp(LARGE - 1);
    assert_true(odb_tensor_identical(third, again));
    odb_tensor_unref(second);
    assert_true(odb_spill_size(spill) < (LARGE + 8192) * sizeof(float));
    odb_tensor_unref(first);
    odb_tensor_unref(again);
    odb_spill_unref(spill); /* a tensor may outlive it */
    assert_true(((float *)third->data)[LARGE - 2] == (float)(LARGE - 2));
    odb_tensor_unref(third);
}

/* Small ones share the file's pages, and tiny ones stay. */
static void test_spill__small_ones_share(void **state)
{
    (void)state;
    enum { SMALL = 100, MANY = 1000 };
    struct odb_spill *spill = odb_spill_new(0);
    struct odb_tensor *all[MANY], *tiny = spill_ramp(10);
    const void *was = tiny->data;
    for (int i = 0; i < MANY; i++) {
        all[i] = spill_ramp(SMALL + i % 7);
        spill_take(spill, all[i]);
    }
    spill_take(spill, tiny);
    assert_ptr_equal(tiny->data, was);
    size_t bytes = MANY * (SMALL + 7) * sizeof(float), size = odb_spill_size(spill);
    assert_true(size >= MANY * SMALL * sizeof(float) && size < bytes * 5 / 4);
    odb_spill_drop(spill);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal((uintptr_t)all[i]->data % 64, 0);
        for (int k = 0; k < SMALL + i % 7; k++)
            assert_true(((const float *)all[i]->data)[k] == (float)k);
    }
    for (int i = 0; i < MANY / 2; i++)
        odb_tensor_unref(all[i]);
    assert_true(odb_spill_size(spill) < size * 2 / 3); /* what nobody looks at goes */
    odb_spill_unref(spill);
    assert_true(((const float *)all[MANY - 1]->data)[SMALL - 1] == SMALL - 1);
    for (int i = MANY / 2; i < MANY; i++)
        odb_tensor_unref(all[i]);
    odb_tensor_unref(tiny);
}

struct spill_sum {
    double v;
};

static void spill_add(const void *job, void *share, struct odb_chunk *c)
{
    (void)job;
    for (size_t i = 0; i < c->n; i++)
        ((struct spill_sum *)share)->v += c->v[0][i];
}

static void spill_join(void *total, const void *item)
{
    ((struct spill_sum *)total)->v += ((const struct spill_sum *)item)->v;
}

/* KiB in memory of the mapping that begins with the tensor's bytes. */
static unsigned long spill_held(const struct odb_tensor *t)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512], wanted[32];
    bool here = false;
    unsigned long held = 0;
    snprintf(wanted, sizeof wanted, "%lx-", (unsigned long)t->data);
    while (fgets(line, sizeof line, maps)) {
        unsigned long kib;
        here = strstr(line, "-") && strstr(line, " r--s ") ? !strncmp(line, wanted, strlen(wanted))
                                                           : here;
        if (here && sscanf(line, "Rss: %lu", &kib) == 1) {
            held = kib;
            break;
        }
    }
    fclose(maps);
    assert_true(here);
    return held;
}

/* Pages that were looked at do go back: else the whole would be for nothing. */
static void test_spill__pages_go_back(void **state)
{
    (void)state;
    struct odb_spill *spill = odb_spill_new(0);
    struct odb_tensor *t = spill_ramp(LARGE);
    spill_take(spill, t);
    volatile float sum = 0;
    for (int64_t i = 0; i < LARGE; i++)
        sum += ((float *)t->data)[i];
    assert_true(spill_held(t) >= LARGE * sizeof(float) / 1024);
    odb_spill_drop(spill);
    assert_int_equal(spill_held(t), 0);
    odb_tensor_unref(t);
    odb_spill_unref(spill);
}

/* So do those of a pass behind where it is. */
static void test_spill__a_pass_holds_a_part(void **state)
{
    (void)state;
    enum { HUGE = 10 << 20 };
    struct odb_spill *spill = odb_spill_new(0);
    struct odb_tensor *t = spill_ramp(HUGE);
    spill_take(spill, t);
    const struct odb_numbers aside = odb_numbers_of(t);
    struct spill_sum sum = {0}, again = {0};
    struct odb_pass pass = {.end = HUGE,
                            .block = 64 * ODB_PASS_CHUNK,
                            .item = sizeof sum,
                            .sides = {&aside},
                            .chunk = spill_add,
                            .join = spill_join};
    odb_pass_all(&pass, &sum);
    assert_int_equal(spill_held(t), 0);
    for (int64_t i = 0; i < HUGE; i++)
        again.v += ((float *)t->data)[i];
    assert_true(sum.v == again.v); /* of integers, in a double: exact */
    odb_tensor_unref(t);
    odb_spill_unref(spill);
}

static void test_spill__what_others_have_stays(void **state)
{
    (void)state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spill *spill = odb_spill_new(0);
    const int64_t other[] = {2, LARGE / 2};
    struct odb_tensor *shared = spill_ramp(LARGE), *held = odb_tensor_ref(shared);
    struct odb_tensor *viewed = spill_ramp(LARGE), *view, *small = spill_ramp(10), *none = NULL;
    struct odb_tensor *list, *strings;
    help_ok(odb_tensor_reshape(&view, viewed, 2, other, &err), &err);
    help_ok(odb_tensor_new_container(&list, ODB_SEQUENCE, &shared, 1, &err), &err);
    help_ok(odb_tensor_new(&strings, ODB_STRING, 1, other + 1, &err), &err);
    struct odb_tensor *const all[] = {shared, viewed, small, list, strings, none};
    for (size_t i = 0; i < ODB_COUNT(all); i++) {
        const void *was = all[i] ? all[i]->data : NULL;
        spill_take(spill, all[i]);
        assert_true(!all[i] || all[i]->data == was);
    }
    assert_int_equal(odb_spill_size(spill), 0);
    odb_tensor_unref(held);
    odb_tensor_unref(view);
    for (size_t i = 0; i < ODB_COUNT(all); i++)
        odb_tensor_unref(all[i]);
    odb_spill_unref(spill);
}

/* An error that names the folder and the way out, and the tensor is still there. */
static void test_spill__no_room_is_an_error(void **state)
{
    (void)state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spill *spill = odb_spill_new(0);
    struct odb_tensor *t = spill_ramp(LARGE);
    const void *was = t->data, *there = NULL;
    char *before = getenv("TMPDIR") ? odb_xstrdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", "/nowhere", 1);
    assert_null(odb_spill_reserve(spill, LARGE, &there));
    assert_int_equal(odb_spill_take(spill, t, &err), ODB_E_IO);
    help_has_text(&err, "/nowhere");
    help_has_text(&err, "TMPDIR");
    help_has_text(&err, "--mem");
    assert_ptr_equal(t->data, was);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    spill_take(spill, t);
    assert_ptr_not_equal(t->data, was);
    odb_tensor_unref(t);
    odb_spill_unref(spill);
}

/* What comes piece by piece never is in memory as a whole; as much stays as any other. */
static void test_spill__is_filled_piece_by_piece(void **state)
{
    (void)state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spill *spill = odb_spill_new(LARGE), *same = odb_spill_ref(spill);
    const void *there = NULL;
    assert_null(odb_spill_reserve(spill, LARGE, &there)); /* there is room in memory, once */
    struct odb_storage *storage = odb_spill_reserve(spill, LARGE, &there);
    struct odb_storage *other = odb_spill_reserve(spill, LARGE, &there);
    assert_non_null(storage);
    assert_non_null(other);
    for (size_t i = 0; i < LARGE; i += LARGE / 4) {
        unsigned char piece[LARGE / 4];
        memset(piece, (int)(i / (LARGE / 4)) + 1, sizeof piece);
        help_ok(odb_spill_fill(other, i, piece, sizeof piece, &err), &err);
    }
    odb_storage_unref(storage);
    odb_spill_unref(spill);
    assert_true(odb_spill_size(same) >= LARGE && odb_spill_size(same) < 2 * LARGE);
    odb_spill_unref(same);
    for (size_t i = 0; i < LARGE; i++)
        assert_int_equal(((const unsigned char *)there)[i], i / (LARGE / 4) + 1);
    odb_storage_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spill__goes_to_disk_and_is_the_same),
        cmocka_unit_test(test_spill__small_ones_share),
        cmocka_unit_test(test_spill__pages_go_back),
        cmocka_unit_test(test_spill__a_pass_holds_a_part),
        cmocka_unit_test(test_spill__what_others_have_stays),
        cmocka_unit_test(test_spill__no_room_is_an_error),
        cmocka_unit_test(test_spill__is_filled_piece_by_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
