/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/models.h"
#include "model/read/load.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"

#include <dirent.h>
#include <sys/stat.h>

/* t through bytes and back; the caller owns the result. */
static struct odb_tensor *pb_round(const struct odb_tensor *t)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *back = NULL;
    MODELS_OK(odb_pb_encode(t, "value", &bytes, &why));
    MODELS_OK(odb_pb_decode(&back, t->kind, bytes.data ? bytes.data : "", bytes.len, &why));
    odb_buf_dispose(&bytes); /* what was decoded must not look into it */
    return back;
}

static void pb_check_round(const struct odb_tensor *t)
{
    struct odb_tensor *back = pb_round(t);
    assert_true(odb_tensor_identical(t, back));
    odb_tensor_unref(back);
}

static struct odb_tensor *pb_strings(size_t n, const struct odb_str *strings)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){(int64_t)n}, strings, &why));
    return t;
}

/* Takes the items over. */
static struct odb_tensor *pb_container(enum odb_kind kind, struct odb_tensor **items, size_t n)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new_container(&t, kind, items, n, &why));
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    return t;
}

static void test_pb__every_element_type(void **state)
{
    for (int dtype = 1; dtype < ODB_DTYPE_COUNT; dtype++) {
        struct odb_tensor *t = NULL;
        if (dtype == ODB_STRING)
            continue;
        MODELS_OK(odb_tensor_new(&t, (enum odb_dtype)dtype, 2, (int64_t[]){3, 5}, &why));
        for (size_t i = 0; i < t->bytes; i++)
            ((unsigned char *)t->data)[i] =
                (unsigned char)(dtype == ODB_BOOL ? i % 2 : i * 37 + (size_t)dtype);
        pb_check_round(t);
        odb_tensor_unref(t);
    }
}

static void test_pb__scalars_and_empty(void **state)
{
    const int64_t shapes[][3] = {{0}, {0}, {2, 0, 3}};
    for (int rank = 0; rank <= 3; rank += rank ? 2 : 1) {
        struct odb_tensor *t = NULL;
        MODELS_OK(odb_tensor_new(&t, ODB_I64, rank, shapes[rank ? rank - 1 : 0], &why));
        struct odb_tensor *back = pb_round(t);
        assert_int_equal(back->rank, rank);
        assert_int_equal(back->count, rank == 0);
        assert_true(odb_tensor_identical(t, back));
        odb_tensor_unref(back);
        odb_tensor_unref(t);
    }
}

static void test_pb__strings(void **state)
{
    struct odb_tensor *t =
        pb_strings(4, (struct odb_str[]){{"plain", 5}, {"", 0}, {"a\0b", 3}, {"\xff\xfe", 2}});
    pb_check_round(t);
    odb_tensor_unref(t);
}

static void test_pb__sequences(void **state)
{
    struct odb_tensor *a = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_tensor *b = models_f32(2, (int64_t[]){1, 1}, (float[]){3});
    struct odb_tensor *inner = pb_container(ODB_SEQUENCE, (struct odb_tensor *[]){a, b}, 2);
    pb_check_round(inner);
    struct odb_tensor *empty = pb_container(ODB_SEQUENCE, NULL, 0);
    pb_check_round(empty);
    struct odb_tensor *outer = pb_container(ODB_SEQUENCE, (struct odb_tensor *[]){inner, empty}, 2);
    pb_check_round(outer);
    odb_tensor_unref(outer);
}

static void test_pb__optionals(void **state)
{
    struct odb_tensor *empty = pb_container(ODB_OPTIONAL, NULL, 0);
    pb_check_round(empty);
    odb_tensor_unref(empty);
    struct odb_tensor *a = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_tensor *list = pb_container(ODB_SEQUENCE, &a, 1);
    struct odb_tensor *full = pb_container(ODB_OPTIONAL, &list, 1);
    pb_check_round(full);
    odb_tensor_unref(full);
}

static void test_pb__sparse(void **state)
{
    struct odb_tensor *items[2], *t;
    items[0] = models_f32(1, (int64_t[]){2}, (float[]){1.5f, -2});
    MODELS_OK(odb_tensor_copy_of(&items[1], ODB_I64, 2, (int64_t[]){2, 2}, (int64_t[]){0, 3, 2, 1},
                                 &why));
    t = pb_container(ODB_SPARSE, items, 2);
    t->rank = 2;
    t->dims[0] = 3;
    t->dims[1] = 4;
    t->count = 12;
    pb_check_round(t);
    odb_tensor_unref(t);
}

/* One of each that may stand in a sequence and in an optional. */
static void test_pb__containers_in_containers(void **state)
{
    struct odb_tensor *keys = NULL, *indices = NULL, *items[3];
    struct odb_tensor *values = models_f32(1, (int64_t[]){2}, (float[]){0.25f, 0.75f});
    MODELS_OK(odb_tensor_copy_of(&keys, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){-5, 7}, &why));
    items[0] = pb_container(ODB_MAP, (struct odb_tensor *[]){keys, values}, 2);
    values = models_f32(1, (int64_t[]){2}, (float[]){1.5f, -2});
    MODELS_OK(odb_tensor_copy_of(&indices, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){0, 3}, &why));
    items[1] = pb_container(ODB_SPARSE, (struct odb_tensor *[]){values, indices}, 2);
    items[1]->rank = 1;
    items[1]->dims[0] = 4;
    items[1]->count = 4;
    values = models_f32(1, (int64_t[]){1}, (float[]){3});
    items[2] = pb_container(ODB_OPTIONAL, &values, 1);
    for (size_t i = 0; i < ODB_COUNT(items); i++) {
        struct odb_tensor *same[] = {odb_tensor_ref(items[i]), odb_tensor_ref(items[i])};
        struct odb_tensor *list = pb_container(ODB_SEQUENCE, same, 2);
        struct odb_tensor *maybe = pb_container(ODB_OPTIONAL, &items[i], 1);
        pb_check_round(list);
        pb_check_round(maybe);
        odb_tensor_unref(list);
        odb_tensor_unref(maybe);
    }
}

static void pb_refuses_to_write(struct odb_tensor *t, const char *says)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_pb_encode(t, "value", &bytes, &err), ODB_E_INPUT);
    assert_non_null(strstr(err.what, says));
    odb_buf_dispose(&bytes);
    odb_tensor_unref(t);
}

static void test_pb__what_cannot_be_written(void **state)
{
    struct odb_tensor *a = models_f32(1, (int64_t[]){1}, (float[]){1}), *keys = NULL, *four = NULL;
    struct odb_tensor *empty = pb_container(ODB_SEQUENCE, NULL, 0);
    pb_refuses_to_write(pb_container(ODB_SEQUENCE, (struct odb_tensor *[]){a, empty}, 2),
                        "different kinds");
    MODELS_OK(odb_tensor_copy_of(&keys, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){1, 2}, &why));
    MODELS_OK(odb_tensor_new(&four, ODB_I4, 1, (int64_t[]){2}, &why));
    pb_refuses_to_write(pb_container(ODB_MAP, (struct odb_tensor *[]){keys, four}, 2),
                        "cannot be written");
}

#define PB_BYTES(text) text, sizeof text - 1

/* What stands alone has no folder that it could refer to. */
static void test_pb__what_is_refused(void **state)
{
#define OUTSIDE "\x08\x01\x10\x01\x6a\x0d\x0a\x08location\x12\x01x\x70\x01"
    static const struct {
        enum odb_kind kind;
        const char *bytes;
        size_t size;
        const char *says;
    } cases[] = {
        {ODB_TENSOR, PB_BYTES(OUTSIDE), "refers to a file"},
        {ODB_SPARSE, PB_BYTES("\x0a\x15" OUTSIDE "\x12\x00\x18\x01"), "refers to a file"},
        {ODB_SPARSE, PB_BYTES("\x0a\x00\x12\x15" OUTSIDE "\x18\x01"), "refers to a file"},
        {ODB_MAP, PB_BYTES("\x10\x07\x18\x01"), "a map without values"},
        {ODB_MAP, PB_BYTES("\x10\x01"), "keys have type 1"},
        {ODB_MAP, PB_BYTES("\x10\x07\x18\x01\x2a\x02\x10\x01"), "1 keys and 0 values"},
    };
#undef OUTSIDE
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *t = NULL;
        enum odb_status status =
            odb_pb_decode(&t, cases[i].kind, cases[i].bytes, cases[i].size, &err);
        if (status != ODB_E_FORMAT || !strstr(err.what, cases[i].says))
            fail_msg("%zu: status %d, \"%s\"", i, (int)status, err.what);
    }
}

static void test_pb__maps(void **state)
{
    struct odb_tensor *keys = NULL, *map, *list;
    MODELS_OK(odb_tensor_copy_of(&keys, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){-5, 7}, &why));
    struct odb_tensor *values = models_f32(1, (int64_t[]){2}, (float[]){0.25f, 0.75f});
    map = pb_container(ODB_MAP, (struct odb_tensor *[]){keys, values}, 2);
    pb_check_round(map);
    list = pb_container(ODB_SEQUENCE, &map, 1);
    pb_check_round(list);
    odb_tensor_unref(list);
    keys = pb_strings(2, (struct odb_str[]){{"cat", 3}, {"dog", 3}});
    values = pb_strings(2, (struct odb_str[]){{"meow", 4}, {"", 0}});
    map = pb_container(ODB_MAP, (struct odb_tensor *[]){keys, values}, 2);
    pb_check_round(map);
    odb_tensor_unref(map);
}

static size_t pb_count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void test_pb__files(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/input_0.pb", folder);
    struct odb_tensor *t = models_f32(1, (int64_t[]){3}, (float[]){1, 2, 3}), *back = NULL;
    MODELS_OK(odb_pb_write(t, "x", path, &why));
    MODELS_OK(odb_pb_write(t, "x", path, &why)); /* over the first */
    assert_int_equal(pb_count_files(folder), 1);
    MODELS_OK(odb_pb_read(&back, ODB_TENSOR, path, &why));
    assert_true(odb_tensor_identical(t, back));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0600, 0600);
    odb_tensor_unref(back);
    odb_tensor_unref(t);
    free(path);
    models_remove(folder);
}

/* A link stays a link, and its target is what changes. */
static void test_pb__links_are_followed(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/real.pb", folder);
    char *link = odb_xasprintf("%s/link.pb", folder);
    struct odb_tensor *t = models_f32(1, (int64_t[]){1}, (float[]){1}), *back = NULL;
    MODELS_OK(odb_pb_write(t, "x", path, &why));
    assert_int_equal(symlink("real.pb", link), 0);
    ((odb_f32 *)t->data)[0] = 2;
    MODELS_OK(odb_pb_write(t, "x", link, &why));
    MODELS_OK(odb_pb_read(&back, ODB_TENSOR, path, &why));
    assert_float_equal(odb_tensor_f64(back, 0), 2, 0);
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    MODELS_OK(odb_pb_write(t, "x", "/dev/null", &why));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    odb_tensor_unref(back);
    odb_tensor_unref(t);
    free(link);
    free(path);
    models_remove(folder);
}

static void test_pb__errors_name_the_file(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    char text[2048];
    assert_int_equal(odb_pb_read(&t, ODB_TENSOR, "/nonexistent/a.pb", &err), ODB_E_IO);
    assert_string_equal(odb_error_text(&err, text, sizeof text),
                        "/nonexistent/a.pb: No such file or directory");
    assert_int_equal(odb_pb_read(&t, ODB_TENSOR, "/", &err), ODB_E_IO);
    struct odb_tensor *value = models_f32(0, NULL, (float[]){1});
    assert_int_equal(odb_pb_write(value, "x", "/nonexistent/a.pb", &err), ODB_E_IO);
    assert_string_equal(odb_error_text(&err, text, sizeof text),
                        "/nonexistent/a.pb: cannot be written: No such file or directory");
    odb_tensor_unref(value);
}

static void test_pb__shape_without_values(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new_shape(&t, ODB_F32, 1, (int64_t[]){3}, &why));
    assert_int_equal(odb_pb_encode(t, "x", &bytes, &err), ODB_E_INPUT);
    odb_tensor_unref(t);
    odb_buf_dispose(&bytes);
}

/* Every beginning of a value's bytes, and every byte of it changed: an error or a value, no crash.
 */
static void test_pb__damaged(void **state)
{
    struct odb_tensor *a = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_tensor *b = pb_strings(1, (struct odb_str[]){{"s", 1}});
    struct odb_tensor *map = pb_container(ODB_MAP, (struct odb_tensor *[]){b, a}, 2);
    struct odb_tensor *list = pb_container(ODB_SEQUENCE, &map, 1);
    struct odb_tensor *value = pb_container(ODB_OPTIONAL, &list, 1), *back;
    struct odb_buf bytes = ODB_BUF_INIT;
    size_t refused = 0;
    MODELS_OK(odb_pb_encode(value, "x", &bytes, &why));
    for (size_t i = 0; i < bytes.len; i++) {
        for (int flip = 0; flip < 256; flip += 17) {
            struct odb_error err = ODB_ERROR_INIT;
            bytes.data[i] ^= (char)flip;
            enum odb_status status =
                odb_pb_decode(&back, ODB_OPTIONAL, bytes.data, flip ? bytes.len : i, &err);
            bytes.data[i] ^= (char)flip;
            refused += status != ODB_OK;
            assert_true(status == ODB_OK || (err.code == status && err.what[0]));
            if (status == ODB_OK)
                odb_tensor_unref(back);
        }
    }
    assert_true(refused > bytes.len);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(value);
}

/* Optionals in optionals, deeper than any stack. */
static void test_pb__bottomless(void **state)
{
    enum { DEPTH = 200000 };
    unsigned char *bytes = malloc(DEPTH * 8);
    size_t at = DEPTH * 8, len = 0;
    for (int i = 0; i < DEPTH && at >= 8; i++) { /* innermost first: field 7, its length */
        size_t rest = len;
        unsigned char head[8] = {7 << 3 | 2}, n = 1;
        for (; rest > 127; rest >>= 7)
            head[n++] = (unsigned char)(rest | 0x80);
        head[n++] = (unsigned char)rest;
        at -= n;
        len += n;
        memcpy(bytes + at, head, n);
    }
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_not_equal(odb_pb_decode(&t, ODB_OPTIONAL, bytes + at, len, &err), ODB_OK);
    free(bytes);
}

/* --- the standard's own files ----------------------------------------------------------------- */

/* Reads, writes and reads again; true when there was a file. */
static bool pb_check_file(const char *folder, const char *stem, size_t i, enum odb_kind kind)
{
    char *path = odb_xasprintf("%s/test_data_set_0/%s_%zu.pb", folder, stem, i);
    bool exists = access(path, R_OK) == 0;
    if (exists) {
        struct odb_tensor *t = NULL;
        MODELS_OK(odb_pb_read(&t, kind, path, &why));
        assert_int_equal(t->kind, kind);
        pb_check_round(t);
        odb_tensor_unref(t);
    }
    free(path);
    return exists;
}

static size_t pb_check_case(const char *folder)
{
    struct odb_model *m = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char *path = odb_xasprintf("%s/model.onnx", folder);
    size_t n = 0;
    if (odb_model_open(&m, path, &err) == ODB_OK) {
        int *feeds = odb_new_n(int, m->graph->n_inputs + 1);
        size_t n_feeds = odb_graph_feeds(m->graph, feeds);
        for (size_t i = 0; i < n_feeds; i++)
            n += pb_check_file(folder, "input", i, m->graph->values[feeds[i]].type.kind);
        for (size_t i = 0; i < m->graph->n_outputs; i++)
            n += pb_check_file(folder, "output", i,
                               m->graph->values[m->graph->outputs[i]].type.kind);
        free(feeds);
        odb_model_free(m);
    }
    free(path);
    return n;
}

static void test_pb__standard_cases(void **state)
{
    char *root = models_shared("onnx-cases/node");
    if (!root)
        MODELS_SKIP();
    size_t files = 0;
    DIR *dir = opendir(root);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char *folder = odb_xasprintf("%s/%s", root, entry->d_name);
        if (entry->d_name[0] != '.')
            files += pb_check_case(folder);
        free(folder);
    }
    closedir(dir);
    free(root);
    assert_true(files > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pb__every_element_type),
        cmocka_unit_test(test_pb__scalars_and_empty),
        cmocka_unit_test(test_pb__strings),
        cmocka_unit_test(test_pb__sequences),
        cmocka_unit_test(test_pb__optionals),
        cmocka_unit_test(test_pb__sparse),
        cmocka_unit_test(test_pb__maps),
        cmocka_unit_test(test_pb__containers_in_containers),
        cmocka_unit_test(test_pb__what_cannot_be_written),
        cmocka_unit_test(test_pb__what_is_refused),
        cmocka_unit_test(test_pb__files),
        cmocka_unit_test(test_pb__links_are_followed),
        cmocka_unit_test(test_pb__errors_name_the_file),
        cmocka_unit_test(test_pb__shape_without_values),
        cmocka_unit_test(test_pb__damaged),
        cmocka_unit_test(test_pb__bottomless),
        cmocka_unit_test(test_pb__standard_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
