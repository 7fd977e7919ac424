/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recorded names that other tools have made of a model's: which value each is taken for, and that
 * none is taken for a wrong one.
 */
#include "executor/recorded/mangled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "executor/recorded/mangled_int.h"
#include "executor/recorded/renames.h"
#include "model/read/load.h"
#include "model/write/build.h"
#include "system/file.h"
#include "tensor/format/npz.h"

enum { MOST = 24 };

static struct odb_error err;

/* A model of nodes in a chain, each of which makes one value, and what was recorded of it. */
struct trial {
    const char *values[MOST]; /* in the order of nodes */
    const char *names[MOST];  /* recorded */
    int is[MOST];             /* which value was recorded so; NOISE: none of the model's */
    bool witness;             /* the reference can be asked */
    bool shapes;              /* declared, and each value has its own */
    bool counts;
    struct odb_model *model;
    struct odb_recording *recording;
    struct odb_mangled *mangled;
    char path[32];
};
#define NOISE (-1)

/* Element i of value v, as the reference makes it. */
static float element(int v, size_t i)
{
    uint32_t x = (uint32_t)(v + 7) * 2654435761U + (uint32_t)i * 40503U;
    x ^= x >> 15;
    x *= 2246822519U;
    x ^= x >> 13;
    return (float)(x % 2001) / 1000 - 1;
}

/* off: relative to its numbers. */
static struct odb_tensor *tensor(const struct trial *trial, int v, float off)
{
    struct odb_tensor *t;
    int64_t dims[2] = {4, trial->shapes ? v + 3 : 5};
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 2, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, t->data, i, (double)(element(v, i) * (1 + off)));
    return t;
}

static size_t count_of(const char *const *texts)
{
    size_t n = 0;
    while (n < MOST && texts[n])
        n++;
    return n;
}

static void make_model(struct trial *trial)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    const char *before = "image";
    size_t n = count_of(trial->values);
    odb_build_input(b, before, ODB_F32, 2, (int64_t[]){4, 5});
    for (size_t v = 0; v < n; v++) {
        odb_build_node(b, "Relu", "", before, trial->values[v]);
        if (trial->shapes)
            odb_build_value_info(b, trial->values[v], ODB_F32, 2, (int64_t[]){4, (int)v + 3});
        before = trial->values[v];
    }
    odb_build_output(b, before);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    assert_int_equal(
        odb_model_open_bytes(&trial->model, bytes.data, bytes.len, NULL, ".", "chain", &err),
        ODB_OK);
    odb_buf_dispose(&bytes);
}

static void make_recording(struct trial *trial)
{
    size_t n = count_of(trial->names);
    const char *names[MOST + 1];
    struct odb_tensor *tensors[MOST + 1];
    for (size_t i = 0; i < n; i++) {
        names[i] = trial->names[i];
        tensors[i] = tensor(trial, trial->is[i] == NOISE ? 100 + (int)i : trial->is[i], 1e-3F);
    }
    names[n] = "image";
    tensors[n] = tensor(trial, 50, 0);
    snprintf(trial->path, sizeof trial->path, "/tmp/t_mangled-XXXXXX");
    int fd = mkstemp(trial->path);
    assert_true(fd >= 0);
    close(fd);
    char *archive = odb_xasprintf("%s.npz", trial->path);
    assert_int_equal(odb_npz_write(archive, names, (const struct odb_tensor *const *)tensors, n + 1,
                                   false, &err),
                     ODB_OK);
    assert_int_equal(odb_recording_open(&trial->recording, archive, false, &err), ODB_OK);
    unlink(archive);
    unlink(trial->path);
    free(archive);
    for (size_t i = 0; i <= n; i++)
        odb_tensor_unref(tensors[i]);
}

static bool trial_witness(void *payload, struct odb_tensor *const *inputs, struct odb_tensor **out)
{
    const struct trial *trial = payload;
    assert_non_null(inputs[0]);
    for (size_t v = 0; trial->witness && v < count_of(trial->values); v++)
        out[odb_graph_value(trial->model->graph, trial->values[v])->index] =
            tensor(trial, (int)v, 0);
    return trial->witness;
}

static void run(struct trial *trial)
{
    make_model(trial);
    make_recording(trial);
    const struct odb_graph *graph = trial->model->graph;
    size_t found[MOST + 1], count = odb_recording_count(trial->recording);
    bool values[MOST + 1], items[MOST + 1];
    assert_true(graph->n_values <= MOST);
    for (size_t v = 0; v < graph->n_values; v++) {
        bool input = !strcmp(graph->values[v].name, "image");
        found[v] = input ? odb_recording_find(trial->recording, "image") : ODB_RECORDING_NONE;
        values[v] = !input;
    }
    for (size_t i = 0; i < count; i++)
        items[i] = strcmp(odb_recording_name(trial->recording, i), "image") != 0;
    trial->mangled = odb_mangled_new(&(struct odb_mangled_open){.graph = graph,
                                                                .recording = trial->recording,
                                                                .found = found,
                                                                .values = values,
                                                                .items = items,
                                                                .counts = trial->counts,
                                                                .witness = trial_witness,
                                                                .payload = trial});
}

static void done(struct trial *trial)
{
    odb_mangled_free(trial->mangled);
    odb_recording_close(trial->recording);
    odb_model_free(trial->model);
}

/* The recorded name that a value was given; "": none. */
static const char *name_of(const struct trial *trial, int v)
{
    int index = odb_graph_value(trial->model->graph, trial->values[v])->index;
    size_t item = odb_mangled_find(trial->mangled, index);
    return item == ODB_RECORDING_NONE ? "" : odb_recording_name(trial->recording, item);
}

/* Matches, and none but right ones; how many. */
static size_t right(const struct trial *trial)
{
    size_t n = 0;
    for (size_t v = 0; v < count_of(trial->values); v++) {
        const char *name = name_of(trial, (int)v);
        for (size_t i = 0; i < count_of(trial->names); i++)
            if (!strcmp(name, trial->names[i]))
                assert_int_equal(trial->is[i], (int)v);
        n += *name != '\0';
    }
    return n;
}

#define CHAIN "/net/conv1/Conv_out", "/net/bn1/Bn_out", "/net/relu1/Relu_out", "/net/pool/Pool_out"

/* --- names ------------------------------------------------------------------------------------ */

static void test_mangled__names_are_loose(void **state)
{
    static const struct {
        const char *name, *loose;
    } cases[] = {{"/a/b.c:0", "a_b_c_0"}, {"__a--b__", "a_b"}, {"", ""}, {"///", ""},
                 {"\xc3\xa4x", "x"},      {"A1", "A1"}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        char *loose = mangled__loose(cases[i].name);
        assert_string_equal(loose, cases[i].loose);
        free(loose);
    }
}

static void test_mangled__numbers_in_names(void **state)
{
    struct mangled_index at[MANGLED_INDICES];
    unsigned long v;
    (void)state;
    assert_int_equal(mangled__indices("net_000_topoidx_00012_conv1", at), 2);
    assert_int_equal(at[1].v, 12);
    assert_string_equal(at[1].rest, "conv1");
    assert_int_equal(mangled__indices("conv1_x", at), 0);
    assert_int_equal(mangled__indices("12", at), 1);
    assert_string_equal(at[0].rest, "");
    assert_int_equal(mangled__indices("99999999999999999999", at), 0);
    assert_true(mangled__number("layer003_7x", false, &v));
    assert_int_equal(v, 3);
    assert_true(mangled__number("layer003_7x", true, &v));
    assert_int_equal(v, 7);
    assert_false(mangled__number("layer", true, &v));
    assert_false(mangled__number("99999999999999999999", true, &v));
}

static void test_mangled__whole_words_are_taken_off(void **state)
{
    (void)state;
    char *text = mangled__strip("net_conv1_out", "net", "out");
    assert_string_equal(text, "conv1");
    free(text);
    assert_null(mangled__strip("network_conv1", "net", ""));
    assert_null(mangled__strip("net_out", "net", "out"));
    assert_null(mangled__strip("net", "net", ""));
}

/* --- rules ------------------------------------------------------------------------------------ */

static void test_mangled__rules_of_tools(void **state)
{
    static const struct {
        const char *names[4];
        const char *said;
    } cases[] = {
        {{"net.conv1.Conv.out", "net.bn1.Bn.out", "net.relu1.Relu.out", "net.pool.Pool.out"},
         "'_')"},
        {{"npu_0_net_conv1_Conv_out", "npu_0_net_bn1_Bn_out", "npu_0_net_relu1_Relu_out",
          "npu_0_net_pool_Pool_out"},
         "an index in front"},
        {{"x-net_conv1_Conv_out", "x-net_bn1_Bn_out", "x-net_relu1_Relu_out",
          "x-net_pool_Pool_out"},
         "'x' before it"},
        {{"net_conv1_Conv", "net_bn1_Bn", "net_relu1_Relu", "net_pool_Pool"}, ""},
        {{"net_conv1_conv_out", "net_bn1_bn_out", "net_relu1_relu_out", "net_pool_pool_out"},
         "capitals do not count"},
        {{"net_000_topoidx_00000_net_conv1_Conv_out", "net_000_topoidx_00001_net_bn1_Bn_out",
          "net_000_topoidx_00002_net_relu1_Relu_out", "net_000_topoidx_00003_net_pool_Pool_out"},
         "an index in front"},
    };
    (void)state;
    for (size_t c = 0; c < ODB_COUNT(cases); c++) {
        struct trial trial = {.values = {CHAIN}, .is = {0, 1, 2, 3}};
        struct odb_buf said = ODB_BUF_INIT;
        memcpy(trial.names, cases[c].names, sizeof cases[c].names);
        run(&trial);
        assert_int_equal(right(&trial), 4);
        assert_true(odb_mangled_tell(trial.mangled, &said));
        assert_non_null(strstr(odb_buf_text(&said), cases[c].said));
        odb_buf_dispose(&said);
        done(&trial);
    }
}

/* "12_output" is value 12, and not the value that is called "output". */
static void test_mangled__a_rule_finds_many_values(void **state)
{
    struct trial trial = {.values = {"12", "13", "14", "output"},
                          .names = {"12_output", "13_output", "14_output"},
                          .is = {0, 1, 2},
                          .witness = true};
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 3);
    done(&trial);
}

/* The tool counts from 0, and the model's values happen to be called by numbers. */
static void test_mangled__numbers_are_no_names(void **state)
{
    struct trial trial = {.values = {"1", "2", "3", "4"},
                          .names = {"Output_0", "Output_1", "Output_2", "Output_3"},
                          .is = {0, 1, 2, 3}};
    (void)state;
    run(&trial); /* nothing says what is right */
    assert_int_equal(right(&trial), 0);
    done(&trial);
    trial.witness = true;
    run(&trial);
    assert_int_equal(right(&trial), 4);
    done(&trial);
    struct trial alone = {.values = {"1", "2", "3", "4"},
                          .names = {"0", "1", "2", "3"},
                          .is = {0, 1, 2, 3},
                          .witness = true,
                          .counts = true};
    run(&alone);
    assert_int_equal(right(&alone), 4);
    assert_true(odb_mangled_counts(alone.mangled));
    done(&alone);
}

/* A number that is left once a value has lost its words is no name. */
static void test_mangled__a_number_is_no_part_of_a_name(void **state)
{
    struct trial trial = {
        .values = {"Cast_x", "Attention_0_output", "Attention_1_output", "Attention_2_output"},
        .names = {"0", "1", "2", "3"},
        .is = {0, 1, 2, 3}};
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 0);
    done(&trial);
}

/* --- shapes and values ------------------------------------------------------------------------ */

static void test_mangled__shapes_decide(void **state)
{
    struct trial trial = {.values = {"a/b", "a.b", "c"},
                          .names = {"x_a_b", "x_a-b", "x_c"},
                          .is = {1, 0, 2},
                          .shapes = true};
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 3);
    done(&trial);
}

static void test_mangled__values_decide(void **state)
{
    struct trial trial = {.values = {"a/b", "a.b", "c"},
                          .names = {"a-b", "a:b", "x"},
                          .is = {1, 0, NOISE},
                          .witness = true};
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 2);
    assert_int_equal(odb_mangled_fate(trial.mangled, odb_recording_find(trial.recording, "x")),
                     ODB_MANGLED_OTHER);
    done(&trial);
}

/* What is not told is left, and a map asks for it that can be read. */
static void test_mangled__what_is_open_is_asked_for(void **state)
{
    struct trial trial = {
        .values = {"a/b", "a.b", "c"}, .names = {"a-b", "a:b", "c!"}, .is = {1, 0, 2}};
    struct odb_buf map = ODB_BUF_INIT;
    struct odb_renames *renames;
    char path[] = "/tmp/t_mangled-XXXXXX";
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 1);
    assert_int_equal(odb_mangled_fate(trial.mangled, odb_recording_find(trial.recording, "a-b")),
                     ODB_MANGLED_SEVERAL);
    odb_mangled_map(trial.mangled, true, &map);
    assert_string_equal(odb_buf_text(&map), "# a/b = a-b\n# a.b = a-b\n# a/b = a:b\n# a.b = a:b\n"
                                            "c = c!\n");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(odb_file_write(path, map.data, map.len, &err), ODB_OK);
    assert_int_equal(odb_renames_read(&renames, path, &err), ODB_OK);
    char *name = odb_renames_apply(renames, "c", NULL);
    assert_string_equal(name, "c!");
    free(name);
    odb_renames_free(renames);
    unlink(path);
    odb_buf_dispose(&map);
    done(&trial);
}

/* The shape that a name's value has not. */
static void test_mangled__another_shape_is_no_match(void **state)
{
    struct trial trial = {
        .values = {"a/b", "c/d"}, .names = {"a-b", "c-d"}, .is = {1, 1}, .shapes = true};
    (void)state;
    run(&trial);
    assert_string_equal(name_of(&trial, 0), "");
    assert_string_equal(name_of(&trial, 1), "c-d");
    assert_int_equal(odb_mangled_fate(trial.mangled, odb_recording_find(trial.recording, "a-b")),
                     ODB_MANGLED_MISFIT);
    done(&trial);
}

/* --- numbers ---------------------------------------------------------------------------------- */

#define EIGHT "a", "b", "c", "d", "e", "f", "g", "h"

static void test_mangled__numbers_within_words(void **state)
{
    struct trial trial = {.values = {EIGHT},
                          .names = {"layer003", "layer004", "layer005", "layer006", "layer007",
                                    "layer008", "layer009", "layer010"},
                          .is = {0, 1, 2, 3, 4, 5, 6, 7},
                          .witness = true};
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 8);
    done(&trial);
}

/* The target is wrong from a value on: what the last witnesses say still holds for it. */
static void test_mangled__a_wrong_value_has_its_number(void **state)
{
    struct trial trial = {
        .values = {EIGHT},
        .names = {"0_Conv", "1_Relu", "2_Conv", "3_Relu", "4_Conv", "5_Relu", "6_Conv", "7_Relu"},
        .is = {0, 1, 2, 3, NOISE, NOISE, 6, 7},
        .witness = true};
    (void)state;
    run(&trial);
    assert_string_equal(name_of(&trial, 4), "4_Conv");
    assert_string_equal(name_of(&trial, 5), "5_Relu");
    done(&trial);
}

/* A tool that leaves nodes out shifts what follows: nobody knows what stands between. */
static void test_mangled__what_lies_at_a_shift_is_left(void **state)
{
    struct trial trial = {.values = {EIGHT},
                          .names = {"t0", "t1", "t2", "t3", "t4", "t5", "t6"},
                          .is = {0, 1, 2, NOISE, 5, 6, 7},
                          .witness = true};
    (void)state;
    run(&trial); /* 3 is d or e */
    assert_string_equal(name_of(&trial, 2), "t2");
    assert_string_equal(name_of(&trial, 3), "");
    assert_string_equal(name_of(&trial, 4), "");
    assert_string_equal(name_of(&trial, 5), "t4");
    done(&trial);
}

/* Names that tell nothing: the map has what elements say, and nobody believes it. */
static void test_mangled__elements_alone_are_a_hint(void **state)
{
    struct trial trial = {
        .values = {EIGHT}, .names = {"p9", "q4", "r7"}, .is = {1, 5, 3}, .witness = true};
    struct odb_buf map = ODB_BUF_INIT;
    (void)state;
    run(&trial);
    assert_int_equal(right(&trial), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(
            odb_mangled_likely(trial.mangled, odb_recording_find(trial.recording, trial.names[i])));
    odb_mangled_map(trial.mangled, true, &map);
    assert_string_equal(odb_buf_text(&map), "b = p9\nf = q4\nd = r7\n");
    odb_buf_dispose(&map);
    done(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mangled__names_are_loose),
        cmocka_unit_test(test_mangled__numbers_in_names),
        cmocka_unit_test(test_mangled__whole_words_are_taken_off),
        cmocka_unit_test(test_mangled__rules_of_tools),
        cmocka_unit_test(test_mangled__a_rule_finds_many_values),
        cmocka_unit_test(test_mangled__numbers_are_no_names),
        cmocka_unit_test(test_mangled__a_number_is_no_part_of_a_name),
        cmocka_unit_test(test_mangled__shapes_decide),
        cmocka_unit_test(test_mangled__values_decide),
        cmocka_unit_test(test_mangled__what_is_open_is_asked_for),
        cmocka_unit_test(test_mangled__another_shape_is_no_match),
        cmocka_unit_test(test_mangled__numbers_within_words),
        cmocka_unit_test(test_mangled__a_wrong_value_has_its_number),
        cmocka_unit_test(test_mangled__what_lies_at_a_shift_is_left),
        cmocka_unit_test(test_mangled__elements_alone_are_a_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
