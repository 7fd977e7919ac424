/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/kept/compiled.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executor/kept/compiled_key.h"
#include "model/model_int.h"
#include "model/write/build.h"
#include "system/file.h"
#include "system/scratch.h"
#include "tests/help/executor_help.h"

#define PIECE ((size_t)100 * 1024)

struct place {
    char dir[64], kept[80], tmp[80];
};

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    snprintf(place->dir, sizeof place->dir, "/tmp/t_compiled-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->kept, sizeof place->kept, "%s/kept", place->dir);
    snprintf(place->tmp, sizeof place->tmp, "%s/tmp", place->dir);
    mkdir(place->tmp, 0700);
    setenv("ONNXDBG_CACHE", place->dir, 1);
    setenv("TMPDIR", place->tmp, 1);
    unsetenv("ONNXDBG_CACHE_SIZE");
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    odb_scratch_remove(place->dir);
    unsetenv("ONNXDBG_CACHE");
    unsetenv("ONNXDBG_CACHE_SIZE");
    unsetenv("TMPDIR");
    free(place);
    return 0;
}

static struct odb_compiled *open_at(const char *where, size_t limit)
{
    struct odb_compiled *compiled = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_compiled_open(&compiled, where, limit, &err), &err);
    return compiled;
}

static size_t count(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

static void key_of(char letter, char key[ODB_CACHE_KEY + 1])
{
    memset(key, letter, ODB_CACHE_KEY);
    key[ODB_CACHE_KEY] = '\0';
}

/* A file of PIECE bytes of a letter. */
static enum odb_status fill(void *from, const char *to, struct odb_error *err)
{
    static char bytes[PIECE];
    char *path = odb_xasprintf("%s/code", to);
    memset(bytes, *(const char *)from, sizeof bytes);
    enum odb_status status = odb_file_write(path, bytes, sizeof bytes, err);
    free(path);
    return status;
}

static void keep(struct odb_compiled *compiled, char letter)
{
    struct odb_error err = ODB_ERROR_INIT;
    char key[ODB_CACHE_KEY + 1];
    key_of(letter, key);
    help_ok(odb_compiled_keep_take(compiled, key, fill, &letter, json_object(), &err), &err);
    usleep(10 * 1000);
}

/* Whether there is an entry, which then has been used, and holds what it should. */
static bool is_kept(const struct odb_compiled *compiled, char letter)
{
    struct odb_compiled_use use;
    char key[ODB_CACHE_KEY + 1], first = '\0';
    key_of(letter, key);
    bool found = odb_compiled_find(compiled, key, &use);
    if (found) {
        char *path = odb_xasprintf("%s/code", use.files);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(read(fd, &first, 1), 1);
        assert_int_equal(first, letter);
        close(fd);
        free(path);
    }
    odb_compiled_leave(&use);
    usleep(10 * 1000);
    return found;
}

/* --- the store -------------------------------------------------------------------------------- */

/* What was not used for longest goes, and nothing that is not ours. */
static void test_compiled__room(void **state)
{
    const struct place *place = *state;
    struct odb_compiled *compiled = open_at(place->kept, 5 * PIECE / 2); /* two of them */
    struct odb_error err = ODB_ERROR_INIT;
    char mine[100];
    snprintf(mine, sizeof mine, "%s/mine", place->kept);
    help_ok(odb_file_mkdir(mine, &err), &err);
    keep(compiled, 'a');
    keep(compiled, 'b');
    assert_true(is_kept(compiled, 'a'));
    keep(compiled, 'c');
    assert_true(is_kept(compiled, 'a'));
    assert_false(is_kept(compiled, 'b'));
    assert_true(is_kept(compiled, 'c'));
    assert_int_equal(count(place->kept), 3);
    odb_compiled_close(compiled);
    compiled = open_at(place->kept, 1);
    keep(compiled, 'd'); /* what is needed now stays */
    assert_true(is_kept(compiled, 'd'));
    assert_false(is_kept(compiled, 'a'));
    assert_int_equal(count(place->kept), 2);
    assert_int_equal(access(mine, F_OK), 0);
    odb_compiled_close(compiled);
}

/* By several processes as well: each knows of what the others made when it last looked. */
static void test_compiled__room_for_many(void **state)
{
    const struct place *place = *state;
    struct odb_compiled *each[2];
    struct odb_compiled_entries entries;
    struct odb_error err = ODB_ERROR_INIT;
    char key[ODB_CACHE_KEY + 1], letter = 'a';
    for (size_t i = 0; i < 2; i++)
        each[i] = open_at(place->kept, 21 * PIECE / 2); /* ten */
    for (size_t i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "%064zx", i);
        help_ok(odb_compiled_keep_take(each[i % 2], key, fill, &letter, json_object(), &err), &err);
    }
    odb_compiled_list(place->kept, &entries);
    assert_in_range(entries.list.n, 5, 20);
    assert_true(entries.bytes >= entries.list.n * PIECE);
    odb_compiled_entries_dispose(&entries);
    for (size_t i = 0; i < 2; i++)
        odb_compiled_close(each[i]);
}

/* An entry that is used stays, whoever wants it away. */
static void test_compiled__used(void **state)
{
    const struct place *place = *state;
    struct odb_compiled *compiled = open_at(place->kept, 1), *other = open_at(place->kept, 1);
    struct odb_compiled_use use;
    char key[ODB_CACHE_KEY + 1];
    key_of('a', key);
    keep(compiled, 'a');
    assert_true(odb_compiled_find(compiled, key, &use));
    assert_false(odb_compiled_remove(place->kept, key));
    keep(other, 'b');
    assert_true(is_kept(other, 'a'));
    odb_compiled_leave(&use);
    assert_true(odb_compiled_remove(place->kept, key));
    assert_false(is_kept(compiled, 'a'));
    assert_int_equal(count(place->kept), 1);
    odb_compiled_close(compiled);
    odb_compiled_close(other);
}

/* What processes left that were killed while they made or removed an entry. */
static void test_compiled__killed(void **state)
{
    const struct place *place = *state;
    static const char *const names[] = {".new-kille1", ".gone-kille1"};
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct odb_compiled *compiled = open_at(place->kept, 0);
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        char *path = odb_xasprintf("%s/%s", place->kept, names[i]);
        help_ok(odb_file_mkdir(path, &err), &err);
        assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
        free(path);
    }
    keep(compiled, 'a');
    assert_int_equal(count(place->kept), 1);
    odb_compiled_close(compiled);
}

static enum odb_status fill_half(void *from, const char *to, struct odb_error *err)
{
    ODB_TRY(fill(from, to, err));
    return odb_fail(err, ODB_E_IO, "no room");
}

/* What cannot be filled is no entry, and a directory that is none of ours is not taken for one. */
static void test_compiled__whole_or_not(void **state)
{
    const struct place *place = *state;
    struct odb_compiled *compiled = open_at(place->kept, 0);
    struct odb_error err = ODB_ERROR_INIT;
    char key[ODB_CACHE_KEY + 1], letter = 'a';
    key_of('a', key);
    assert_int_equal(odb_compiled_keep_take(compiled, key, fill_half, &letter, json_object(), &err),
                     ODB_E_IO);
    help_has_text(&err, "no room");
    assert_int_equal(count(place->kept), 0);
    char *path = odb_xasprintf("%s/%s/other", place->kept, key);
    help_ok(odb_file_mkdir(path, &err), &err);
    free(path);
    assert_false(is_kept(compiled, 'a'));
    keep(compiled, 'a');
    assert_true(is_kept(compiled, 'a'));
    odb_compiled_close(compiled);
}

static void test_compiled__where(void **state)
{
    const struct place *place = *state;
    struct odb_compiled *compiled = open_at(NULL, 0);
    struct odb_error err = ODB_ERROR_INIT;
    struct stat st;
    char path[100];
    snprintf(path, sizeof path, "%s/compiled", place->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    odb_compiled_close(compiled);
    compiled = open_at("no", 0);
    keep(compiled, 'a');
    assert_true(is_kept(compiled, 'a'));
    assert_int_equal(count(place->tmp), 1);
    odb_compiled_close(compiled);
    assert_int_equal(count(place->tmp), 0);
    assert_int_equal(count(path), 0);
    setenv("ONNXDBG_CACHE", "/proc/no/such/place", 1); /* of this process, then */
    compiled = open_at(NULL, 0);
    keep(compiled, 'a');
    assert_true(is_kept(compiled, 'a'));
    odb_compiled_close(compiled);
    assert_int_equal(odb_compiled_open(&compiled, "/proc/no/such/place", 0, &err), ODB_E_IO);
    setenv("ONNXDBG_CACHE_SIZE", "lots", 1);
    assert_int_equal(odb_compiled_open(&compiled, NULL, 0, &err), ODB_E_USAGE);
    help_has_text(&err, "ONNXDBG_CACHE_SIZE=lots");
}

/* --- keys ------------------------------------------------------------------------------------- */

static void write_weights(const char *dir, size_t at, char letter)
{
    static char bytes[8192];
    struct odb_error err = ODB_ERROR_INIT;
    char *path = odb_xasprintf("%s/w.data", dir);
    bytes[at] = letter;
    help_ok(odb_file_write(path, bytes, sizeof bytes, &err), &err);
    free(path);
}

/* y = x + w, with w in bytes 4096 to 8191 of w.data. The caller frees it with protobuf-c. */
static Onnx__ModelProto *make_model(void)
{
    static const char *const data[][2] = {
        {"location", "w.data"}, {"offset", "4096"}, {"length", "4096"}};
    struct odb_builder *b = odb_build_new("adds", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1024});
    odb_build_input(b, "w", ODB_F32, 1, (int64_t[]){1024});
    odb_build_node(b, "Add", "a", "x w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1024});
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    Onnx__ModelProto *model =
        onnx__model_proto__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
    odb_buf_dispose(&bytes);
    assert_non_null(model);
    Onnx__TensorProto *w = calloc(1, sizeof *w);
    onnx__tensor_proto__init(w);
    w->name = strdup("w");
    w->has_data_location = true;
    w->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    w->external_data = calloc(ODB_COUNT(data), sizeof *w->external_data);
    for (size_t i = 0; i < ODB_COUNT(data); i++) {
        Onnx__StringStringEntryProto *entry = calloc(1, sizeof *entry);
        onnx__string_string_entry_proto__init(entry);
        entry->key = strdup(data[i][0]);
        entry->value = strdup(data[i][1]);
        w->external_data[w->n_external_data++] = entry;
    }
    model->graph->initializer = calloc(1, sizeof *model->graph->initializer);
    model->graph->initializer[model->graph->n_initializer++] = w;
    return model;
}

static void get_key(struct odb_compiled_keys *keys, const struct place *place,
                    const Onnx__ModelProto *model, char key[ODB_CACHE_KEY + 1])
{
    struct odb_error err = ODB_ERROR_INIT;
    size_t size = onnx__model_proto__get_packed_size(model);
    uint8_t *bytes = malloc(size);
    onnx__model_proto__pack(model, bytes);
    struct odb_load load = {.bytes = bytes, .size = size, .dir = place->dir};
    odb_compiled_key_begin(keys);
    help_ok(odb_compiled_key_model(keys, &load, &err), &err);
    odb_compiled_key_end(keys, key);
    free(bytes);
}

/* Whether a text of the model, set to another, makes another key. */
static bool text_counts(const struct place *place, const Onnx__ModelProto *model, char **text)
{
    struct odb_compiled_keys *keys = odb_compiled_keys_new();
    char before[ODB_CACHE_KEY + 1], after[ODB_CACHE_KEY + 1], *old = *text;
    get_key(keys, place, model, before);
    char changed[] = "something else";
    *text = changed;
    get_key(keys, place, model, after);
    *text = old;
    odb_compiled_keys_free(keys);
    return strcmp(before, after) != 0;
}

static void test_compiled__names(void **state)
{
    const struct place *place = *state;
    write_weights(place->dir, 0, '\0');
    Onnx__ModelProto *model = make_model();
    Onnx__GraphProto *graph = model->graph;
    assert_false(text_counts(place, model, &model->doc_string));
    assert_false(text_counts(place, model, &model->producer_name));
    assert_false(text_counts(place, model, &model->producer_version));
    assert_false(text_counts(place, model, &model->domain));
    assert_false(text_counts(place, model, &graph->name));
    assert_false(text_counts(place, model, &graph->doc_string));
    assert_false(text_counts(place, model, &graph->node[0]->doc_string));
    assert_false(text_counts(place, model, &graph->input[0]->doc_string));
    assert_true(text_counts(place, model, &graph->node[0]->name));
    assert_true(text_counts(place, model, &graph->node[0]->op_type));
    assert_true(text_counts(place, model, &graph->node[0]->domain));
    assert_true(text_counts(place, model, &graph->node[0]->output[0]));
    assert_true(text_counts(place, model, &graph->output[0]->name));
    assert_true(text_counts(place, model, &graph->initializer[0]->name));
    assert_true(text_counts(place, model, &model->opset_import[0]->domain));
    onnx__model_proto__free_unpacked(model, NULL);
}

/* Metadata count, but for our own. */
static void test_compiled__metadata(void **state)
{
    const struct place *place = *state;
    write_weights(place->dir, 0, '\0');
    Onnx__ModelProto *model = make_model();
    struct odb_compiled_keys *keys = odb_compiled_keys_new();
    Onnx__StringStringEntryProto entry = ONNX__STRING_STRING_ENTRY_PROTO__INIT, *list[] = {&entry};
    char plain[ODB_CACHE_KEY + 1], with[ODB_CACHE_KEY + 1];
    get_key(keys, place, model, plain);
    model->n_metadata_props = 1;
    model->metadata_props = list;
    entry.key = (char[]){"onnxdbg.nodes"};
    entry.value = (char[]){"1 2"};
    get_key(keys, place, model, with);
    assert_string_equal(with, plain);
    entry.key = (char[]){"scale"};
    get_key(keys, place, model, with);
    assert_string_not_equal(with, plain);
    model->n_metadata_props = 0;
    model->metadata_props = NULL;
    odb_compiled_keys_free(keys);
    onnx__model_proto__free_unpacked(model, NULL);
}

/* Of a file of weights what the model uses. */
static void test_compiled__weights(void **state)
{
    const struct place *place = *state;
    struct odb_compiled_keys *keys = odb_compiled_keys_new();
    Onnx__ModelProto *model = make_model();
    char first[ODB_CACHE_KEY + 1], again[ODB_CACHE_KEY + 1];
    write_weights(place->dir, 0, '\0');
    get_key(keys, place, model, first);
    write_weights(place->dir, 4095, 'a');
    get_key(keys, place, model, again);
    assert_string_equal(first, again);
    write_weights(place->dir, 8191, 'a');
    get_key(keys, place, model, again);
    assert_string_not_equal(first, again);
    write_weights(place->dir, 8191, '\0');
    get_key(keys, place, model, again);
    assert_string_equal(first, again);
    odb_compiled_keys_free(keys);
    onnx__model_proto__free_unpacked(model, NULL);
}

/* A model whose bytes are cut off, or any bytes, has some key, and another one than the whole. */
static void test_compiled__damaged(void **state)
{
    const struct place *place = *state;
    struct odb_compiled_keys *keys = odb_compiled_keys_new();
    struct odb_error err = ODB_ERROR_INIT;
    Onnx__ModelProto *model = make_model();
    write_weights(place->dir, 0, '\0');
    size_t size = onnx__model_proto__get_packed_size(model);
    uint8_t *bytes = malloc(size);
    char whole[ODB_CACHE_KEY + 1], part[ODB_CACHE_KEY + 1];
    get_key(keys, place, model, whole);
    onnx__model_proto__pack(model, bytes);
    for (size_t n = 0; n < size; n++) {
        uint8_t *less = malloc(n + 1); /* so that a sanitizer sees what is read behind it */
        memcpy(less, bytes, n);
        uint8_t *exact = realloc(less, n ? n : 1);
        struct odb_load load = {.bytes = exact, .size = n, .dir = place->dir};
        odb_compiled_key_begin(keys);
        if (odb_compiled_key_model(keys, &load, &err) == ODB_OK) {
            odb_compiled_key_end(keys, part);
            assert_string_not_equal(part, whole);
        }
        free(exact);
    }
    free(bytes);
    odb_compiled_keys_free(keys);
    onnx__model_proto__free_unpacked(model, NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_compiled__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(room),  CASE(room_for_many), CASE(used),     CASE(killed),  CASE(whole_or_not),
        CASE(where), CASE(names),         CASE(metadata), CASE(weights), CASE(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
