/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recordings: what is found under which name, and whom a search accuses that has nothing else.
 */
#include <sys/stat.h>

#include "inputs/inputs.h"
#include "probe/run_values.h"
#include "system/file.h"
#include "bisect/plan/bisect.h"
#include "walk/walk.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"
#include "model/write/pb_write.h"

/* --- surroundings ----------------------------------------------------------------------------- */

static int setup(void **state)
{
    help_find_serve();
    *state = models_folder();
    return 0;
}

static int teardown(void **state)
{
    models_remove(*state);
    return 0;
}

static struct odb_tensor *scalar(float v)
{
    return models_f32(1, (int64_t[]){1}, &v);
}

static char *path_in(const char *dir, const char *name)
{
    char *path = odb_xasprintf("%s/%s", dir, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    MODELS_OK(odb_file_mkdir(path, &why));
    *slash = '/';
    return path;
}

/* DIR/NAME.npy or .pb with one number in it; pb: the name inside. */
static void put(const char *dir, const char *file, float v, const char *pb)
{
    char *path = path_in(dir, file);
    struct odb_tensor *t = scalar(v);
    if (pb)
        MODELS_OK(odb_pb_write(t, pb, path, &why));
    else
        MODELS_OK(odb_npy_write(t, path, &why));
    odb_tensor_unref(t);
    free(path);
}

static void put_text(const char *dir, const char *file, const char *text)
{
    char *path = path_in(dir, file);
    MODELS_OK(odb_file_write(path, text, strlen(text), &why));
    free(path);
}

static struct odb_executor *opened(const char *dir, const char *more)
{
    struct odb_executor *dump = NULL;
    char *spec = odb_xasprintf("dump:%s%s", dir, more);
    MODELS_OK(odb_executor_open(&dump, spec, &why));
    free(spec);
    return dump;
}

/* A chain of Identity nodes over x that makes the names, the last of which is the output. */
static struct odb_builder *names_model(const char *const *names, size_t n)
{
    struct odb_builder *b = odb_build_new("names", 17);
    const char *from = "x";
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    for (size_t i = 0; i < n; i++) {
        odb_build_node(b, "Identity", "", from, names[i]);
        from = names[i];
    }
    odb_build_output_typed(b, from, ODB_F32, 1, (int64_t[]){1});
    return b;
}

static void load_model(struct odb_executor *dump, struct odb_builder *b, const char *const *outputs,
                       size_t n_outputs)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data,
                            .size = bytes.len,
                            .dir = "/",
                            .original_outputs = outputs,
                            .n_original_outputs = n_outputs};
    MODELS_OK(odb_executor_load(dump, &load, &why));
    odb_buf_dispose(&bytes);
}

static void load_names(struct odb_executor *dump, const char *const *names, size_t n)
{
    load_model(dump, names_model(names, n), &names[n - 1], 1);
}

#define NOTHING (-1e9f)
static float asked(struct odb_executor *dump, const char *name)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_executor_run(dump, NULL, 0, &name, 1, &t, &why));
    float v = t ? (float)odb_tensor_f64(t, 0) : NOTHING;
    odb_tensor_unref(t);
    return v;
}

static void asked_fails(struct odb_executor *dump, const char *name, enum odb_status status,
                        const char *words)
{
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_run(dump, NULL, 0, &name, 1, &t, &err), status);
    assert_null(t);
    help_has_text(&err, words);
}

static void open_fails(const char *spec, enum odb_status status, const char *words)
{
    struct odb_executor *dump = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_executor_open(&dump, spec, &err), status);
    help_has_text(&err, words);
}

#define EXPECT(dump, name, v) assert_true(asked(dump, name) == (v))

static void expect_note(struct odb_executor *dump, const char *words)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    bool found = false;
    MODELS_OK(odb_executor_account(dump, &account, &why));
    for (size_t i = 0; i < account.notes.n; i++)
        found |= strstr(account.notes.items[i], words) != NULL;
    for (size_t i = 0; i < account.notes.n && !found; i++)
        print_message("%s\n", account.notes.items[i]);
    odb_account_dispose(&account);
    assert_true(found);
}

/* --- names ------------------------------------------------------------------------------------ */

static void test_dump__folder(void **state)
{
    static const char *const names[] = {"a", "/b/c:0", "d,e", "missing", "out"};
    put(*state, "a.npy", 1, NULL);
    put(*state, "b_c_0.npy", 2, NULL); /* as if the leading slash had been left out */
    put(*state, "d_e.npy", 3, NULL);
    put(*state, "stranger.npy", 4, NULL);
    struct odb_executor *dump = opened(*state, "");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "a", 1);
    EXPECT(dump, "/b/c:0", 2);
    EXPECT(dump, "d,e", 3);
    EXPECT(dump, "missing", NOTHING);
    EXPECT(dump, "stranger", 4); /* by name, whatever the model */
    expect_note(dump, "1 recorded name is no value of the model: stranger");
    odb_executor_close(dump);
}

static void test_dump__one_file_for_two_names(void **state)
{
    static const char *const names[] = {"a/b", "a_b", "c/d", "c:d", "out"};
    put(*state, "a_b.npy", 1, NULL);
    put(*state, "c_d.npy", 2, NULL);
    struct odb_executor *dump = opened(*state, "");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "a_b", 1); /* it is its own name */
    EXPECT(dump, "a/b", NOTHING);
    EXPECT(dump, "c/d", NOTHING); /* nobody knows whose */
    EXPECT(dump, "c:d", NOTHING);
    odb_executor_close(dump);
}

static void test_dump__manifest(void **state)
{
    static const char *const names[] = {"a/b", "a:b", "failed", "out"};
    put(*state, "inputs/x.npy", 1, NULL);
    put(*state, "outputs/topoidx_00000__a_b.npy", 2, NULL);
    put(*state, "outputs/topoidx_00001__a_b.npy", 3, NULL);
    put(*state, "outputs/topoidx_00003__out.npy", 4, NULL);
    put_text(
        *state, "dump_info.json",
        "{\"meta_info\": {}, \"input_info\": [{\"input_name\": \"x\"}], \"node_output_info\": ["
        "{\"node_output_name\": \"a/b\"}, {\"node_output_name\": \"a:b\"},"
        "{\"node_output_name\": \"failed\", \"error\": \"no\"}, "
        "{\"node_output_name\": \"out\"}]}");
    struct odb_executor *dump = opened(*state, "");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "x", 1);
    EXPECT(dump, "a/b", 2); /* files stand in the order of the list */
    EXPECT(dump, "a:b", 3);
    EXPECT(dump, "failed", NOTHING);
    EXPECT(dump, "out", 4);
    odb_executor_close(dump);
    put_text(*state, "dump_info.json", "{\"meta_info\": ");
    char *spec = odb_xasprintf("dump:%s", (char *)*state);
    open_fails(spec, ODB_E_FORMAT, "dump_info.json: line 1");
    free(spec);
}

/* What one of the integers is worth that a value was stored as. */
static void test_dump__steps(void **state)
{
    static const char *const wrong[] = {"5", "{}", "{\"steps\": [-1]}", "{\"steps\": [1, 2]}"};
    static const char *const name = "a";
    struct odb_tensor *t = NULL;
    put(*state, "outputs/a.npy", 2, NULL);
    put_text(*state, "dump_info.json",
             "{\"node_output_info\": [{\"node_output_name\": \"a\", "
             "\"stored\": {\"axis\": 0, \"steps\": [0.5]}}]}");
    struct odb_executor *dump = opened(*state, "");
    MODELS_OK(odb_executor_run(dump, NULL, 0, &name, 1, &t, &why));
    assert_true(odb_tensor_step(t, 0) == 0.5);
    odb_tensor_unref(t);
    odb_executor_close(dump);
    for (size_t i = 0; i < ODB_COUNT(wrong); i++) {
        char *text = odb_xasprintf(
            "{\"node_output_info\": [{\"node_output_name\": \"a\", \"stored\": %s}]}", wrong[i]);
        put_text(*state, "dump_info.json", text);
        dump = opened(*state, "");
        asked_fails(dump, name, ODB_E_FORMAT, "steps that do not fit");
        odb_executor_close(dump);
        free(text);
    }
}

static void test_dump__without_manifest(void **state)
{
    static const char *const names[] = {"/a", "out"};
    put(*state, "inputs/x.npy", 1, NULL);
    put(*state, "outputs/topoidx_00000___a.npy", 2, NULL);
    struct odb_executor *dump = opened(*state, "");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "x", 1);
    EXPECT(dump, "/a", 2);
    odb_executor_close(dump);
}

static void test_dump__archive(void **state)
{
    static const char *const names[] = {"a/b", "out"};
    struct odb_tensor *t[] = {scalar(1), scalar(2)};
    char *path = path_in(*state, "r.npz");
    MODELS_OK(odb_npz_write(path, (const char *const[]){"a/b", "x"},
                            (const struct odb_tensor *const *)t, 2, true, &why));
    struct odb_executor *dump = opened(path, "");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "a/b", 1);
    EXPECT(dump, "x", 2);
    EXPECT(dump, "out", NOTHING);
    odb_executor_close(dump);
    odb_tensor_unref(t[0]);
    odb_tensor_unref(t[1]);
    free(path);
}

static void test_dump__test_data(void **state)
{
    static const char *const names[] = {"mid", "other", "out"};
    static const char *const outputs[] = {"out", "other"};
    put(*state, "input_0.pb", 1, "x");
    put(*state, "output_0.pb", 2, "");        /* no name: the first output */
    put(*state, "output_1.pb", 3, "foreign"); /* a name that the model does not have */
    put(*state, "output_2.pb", 4, "mid");
    struct odb_executor *dump = opened(*state, "");
    load_model(dump, names_model(names, ODB_COUNT(names)), outputs, ODB_COUNT(outputs));
    EXPECT(dump, "x", 1);
    EXPECT(dump, "out", 2);
    EXPECT(dump, "other", 3);
    EXPECT(dump, "mid", 4);
    odb_executor_close(dump);
}

static void test_dump__tree(void **state)
{
    static const char *const names[] = {"/layer/conv/out", "out"};
    char *spec = odb_xasprintf("dump:%s", (char *)*state);
    put(*state, "layer/conv/out.npy", 1, NULL);
    open_fails(spec, ODB_E_INPUT, "(layer), or add ,tree");
    struct odb_executor *dump = opened(*state, ",tree");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "/layer/conv/out", 1);
    EXPECT(dump, "out", NOTHING);
    odb_executor_close(dump);
    free(spec);
}

static struct odb_builder *checkpoint_model(void)
{
    struct odb_builder *b = odb_build_new("checkpoints", 17);
    struct odb_tensor *w = scalar(5);
    odb_build_opset(b, "my", 1);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_weight(b, "fc.weight", w);
    odb_build_node(b, "Mul", "", "x fc.weight", "1");
    odb_build_node(b, "my::Debug", "", "1", "2");
    odb_build_attr_string(b, "name", "fc");
    odb_build_node(b, "my::Debug", "", "2", "3");
    odb_build_attr_string(b, "name", "x"); /* which is an input, too */
    odb_build_output_typed(b, "3", ODB_F32, 1, (int64_t[]){1});
    odb_tensor_unref(w);
    return b;
}

static void test_dump__checkpoints(void **state)
{
    static const char *const names[] = {"fc", "x", "parameters/fc.weight", "parameters/gone"};
    struct odb_tensor *t[] = {scalar(1), scalar(2), scalar(3), scalar(4)};
    char *path = path_in(*state, "torch.npz");
    MODELS_OK(odb_npz_write(path, names, (const struct odb_tensor *const *)t, 4, false, &why));
    struct odb_executor *dump = opened(path, "");
    load_model(dump, checkpoint_model(), (const char *const[]){"3"}, 1);
    EXPECT(dump, "2", 1);
    EXPECT(dump, "1", NOTHING);
    EXPECT(dump, "x", NOTHING); /* the input's or the checkpoint's? */
    EXPECT(dump, "3", NOTHING);
    EXPECT(dump, "fc.weight", 3);
    expect_note(dump, "1 recorded parameter is no initializer of the model (the exporter "
                      "folded or renamed it): gone");
    expect_note(dump, "1 checkpoint of the model was not recorded: x");
    odb_executor_close(dump);
    for (size_t i = 0; i < 4; i++)
        odb_tensor_unref(t[i]);
    free(path);
}

/* --- maps ------------------------------------------------------------------------------------- */

static struct odb_executor *mapped(const char *dir, const char *text)
{
    put_text(dir, "map", text);
    char *more = odb_xasprintf(",map=%s/map", dir);
    struct odb_executor *dump = opened(dir, more);
    free(more);
    return dump;
}

static void test_dump__map(void **state)
{
    static const char *const names[] = {"/layer1/conv2/out", "a=b", "c", "d", "out"};
    put(*state, "l1.c2.npy", 1, NULL);
    put(*state, "same.npy", 2, NULL);
    put(*state, "c.npy", 3, NULL);
    put(*state, "d.npy", 4, NULL);
    struct odb_executor *dump = mapped(*state, "# which is which\n\n"
                                               "/layer*/conv*/out = l*.c*\n"
                                               "  a=b = same  \n"
                                               "c=d\r\n"
                                               "out* = no*\n");
    load_names(dump, names, ODB_COUNT(names));
    EXPECT(dump, "/layer1/conv2/out", 1);
    EXPECT(dump, "a=b", 2);
    EXPECT(dump, "c", 4); /* the map comes first */
    EXPECT(dump, "d", 4);
    EXPECT(dump, "out", NOTHING); /* a pattern promises nothing */
    odb_executor_close(dump);
}

static void test_dump__map_errors(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"a b\n", "line 1: this line has no ="},
               {"a=b=c\n", "line 1: this line has more than one ="},
               {"# x\n a = \n", "line 2: a name is missing"},
               {"a* = b**\n", "'b**' has more * than 'a*'"}};
    put(*state, "a.npy", 1, NULL);
    char *spec = odb_xasprintf("dump:%s,map=%s/map", (char *)*state, (char *)*state);
    open_fails(spec, ODB_E_IO, "map: No such file");
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        put_text(*state, "map", bad[i].text);
        open_fails(spec, ODB_E_USAGE, bad[i].words);
    }
    struct odb_executor *dump = mapped(*state, "\nv = nobody\n");
    asked_fails(dump, "v", ODB_E_USAGE, "line 2: nothing was recorded as 'nobody'");
    EXPECT(dump, "a", 1);
    odb_executor_close(dump);
    free(spec);
}

/* --- what is broken --------------------------------------------------------------------------- */

static void test_dump__broken(void **state)
{
    char *empty = odb_xasprintf("%s/empty", (char *)*state);
    char *spec = odb_xasprintf("dump:%s", empty);
    open_fails(spec, ODB_E_IO, "empty: No such file");
    MODELS_OK(odb_file_mkdir(empty, &why));
    open_fails(spec, ODB_E_INPUT, "no .npy or .pb file");
    put_text(*state, "r.npz", "no archive");
    free(spec);
    spec = odb_xasprintf("dump:%s/r.npz", (char *)*state);
    open_fails(spec, ODB_E_FORMAT, "r.npz");
    put(*state, "good.npy", 1, NULL);
    put_text(*state, "bad.npy", "\x93NUMPY, or not");
    put_text(*state, "bad2.pb", "\xff\xff\xff");
    struct odb_executor *dump = opened(*state, "");
    EXPECT(dump, "good", 1); /* nobody asked for the others */
    asked_fails(dump, "bad", ODB_E_FORMAT, "bad.npy");
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_true(odb_executor_run(dump, NULL, 0, (const char *const[]){"bad2"}, 1, &t, &err) < 0);
    help_has_text(&err, "what has no file counts as not recorded");
    odb_executor_close(dump);
    free(spec);
    free(empty);
}

static void test_dump__twice(void **state)
{
    put(*state, "a.npy", 1, NULL);
    put(*state, "outputs/topoidx_00003__a.npy", 2, NULL);
    put(*state, "b.npy", 3, NULL);
    struct odb_executor *dump = opened(*state, "");
    asked_fails(dump, "a", ODB_E_INPUT, "'a' was recorded twice: ");
    EXPECT(dump, "b", 3);
    odb_executor_close(dump);
    struct odb_error err = ODB_ERROR_INIT;
    char *spec = odb_xasprintf("fault:scale,node=a@dump:%s", (char *)*state);
    assert_int_equal(odb_executor_open(&dump, spec, &err), ODB_E_USAGE);
    help_has_text(&err, "a recording runs nothing");
    free(spec);
}

/* --- searches --------------------------------------------------------------------------------- */

/* x -> MatMul w -> Tanh -> MatMul w -> Tanh -> ... -> y: values v0, v1, ..., the last is y. */
#define CHAIN 8
struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    char *dir;
    struct odb_report *report;
};

static void scene_open(struct scene *s, const char *dir)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    float w[16], x[8];
    char from[16] = "x", to[16];
    for (int i = 0; i < 16; i++)
        w[i] = (float)((i * 7 + 3) % 11) / 7 - 0.6f;
    for (int i = 0; i < 8; i++)
        x[i] = (float)(i - 3) / 3;
    struct odb_tensor *weight = models_f32(2, (int64_t[]){4, 4}, w);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_weight(b, "w", weight);
    for (int i = 0; i < CHAIN; i++) {
        char in[40];
        snprintf(to, sizeof to, i == CHAIN - 1 ? "y" : "v%d", i);
        snprintf(in, sizeof in, i % 2 ? "%s" : "%s w", from);
        odb_build_node(b, i % 2 ? "Tanh" : "MatMul", "", in, to);
        memcpy(from, to, sizeof from);
    }
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
    odb_tensor_unref(weight);
    *s = (struct scene){.model = models_take(b), .dir = odb_xasprintf("%s/rec", dir)};
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(2, (int64_t[]){2, 4}, x)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    MODELS_OK(odb_file_mkdir(s->dir, &why));
}

static void scene_close(struct scene *s)
{
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    free(s->dir);
}

static const char *chain_name(int i, char buf[16])
{
    snprintf(buf, 16, i == CHAIN - 1 ? "y" : "v%d", i);
    return buf;
}

static void scene_record(const struct scene *s, int i, const char *spec, float factor)
{
    char name[16];
    int value = models_value(s->model, chain_name(i, name));
    struct odb_tensor *t = NULL, *own = NULL;
    MODELS_OK(odb_run_values(s->model, &s->feeds, spec, &value, 1, &t, NULL, 0, NULL, &why));
    MODELS_OK(odb_tensor_copy_of(&own, t->dtype, t->rank, t->dims, t->data, &why));
    for (size_t k = 0; k < own->count; k++)
        ((float *)own->data)[k] *= factor;
    char *path = odb_xasprintf("%s/%s.npy", s->dir, name);
    MODELS_OK(odb_npy_write(own, path, &why));
    free(path);
    odb_tensor_unref(own);
    odb_tensor_unref(t);
}

static enum odb_status scene_try(struct scene *s, enum odb_strategy strategy, struct odb_error *err)
{
    char *spec = odb_xasprintf("dump:%s", s->dir);
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = spec,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = strategy,
                                         .seed = 42};
    odb_report_free(s->report);
    s->report = NULL;
    enum odb_status status = odb_bisect(&s->report, s->model, &s->feeds, &options, err);
    free(spec);
    return status;
}

static void scene_search(struct scene *s)
{
    MODELS_OK(scene_try(s, ODB_STRATEGY_AUTO, &why));
}

static bool scene_warns(const struct scene *s, const char *words)
{
    for (size_t i = 0; i < s->report->warnings.n; i++)
        if (strstr(s->report->warnings.items[i], words))
            return true;
    return false;
}

static bool scene_notes(const struct scene *s, const char *words)
{
    for (size_t i = 0; i < s->report->notes.n; i++)
        if (strstr(s->report->notes.items[i], words))
            return true;
    return false;
}

/* One culprit, the region from first to last. */
static void scene_blames(const struct scene *s, int first, int last)
{
    assert_int_equal(s->report->culprits.n, 1);
    const struct odb_culprit *culprit = s->report->culprits.items;
    assert_int_equal(culprit->node, last);
    assert_int_equal(culprit->segment[0], first);
    assert_int_equal(culprit->segment[1], last);
    assert_int_equal(culprit->kind, ODB_KIND_INTRODUCED);
    assert_false(culprit->verified);
    assert_true(culprit->numbers.local_error.known && culprit->numbers.local_noise.known);
}

static void test_dump__all_right(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "cpu", 1);
    scene_search(&s);
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    assert_int_equal(s.report->warnings.n, 0); /* no word of the same code */
    assert_int_equal(s.report->target_loads, 1);
    for (int i = 0; i < CHAIN; i++)
        assert_int_equal(s.report->values[s.model->graph->nodes[i].out[0]].verdict,
                         ODB_VERDICT_PASS);
    scene_close(&s);
}

static void test_dump__fault_in_the_target(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "fault:scale,node=v3,amount=0.01@cpu", 1);
    scene_search(&s);
    scene_blames(&s, 3, 3);
    assert_true(s.report->outputs_diverge);
    assert_non_null(strstr(s.report->culprits.items[0].text, "The target is a recording"));
    scene_close(&s);
}

static void test_dump__one_value_spoilt(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "cpu", i == 4 ? 1.01f : 1);
    scene_search(&s);
    scene_blames(&s, 4, 4);
    assert_false(s.report->outputs_diverge);
    assert_true(scene_warns(&s, "what reads the recorded v4 fits the value that it should have"));
    scene_close(&s);
}

static void test_dump__gaps(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    scene_record(&s, 1, "fault:scale,node=v3,amount=0.01@cpu", 1);
    scene_record(&s, 4, "fault:scale,node=v3,amount=0.01@cpu", 1);
    scene_record(&s, 7, "fault:scale,node=v3,amount=0.01@cpu", 1);
    scene_search(&s);
    scene_blames(&s, 2, 4);
    assert_true(s.report->outputs_diverge);
    assert_true(scene_notes(&s, "3 of 8 values were recorded"));
    assert_int_equal(s.report->values[models_value(s.model, "v3")].verdict, ODB_VERDICT_UNTESTED);
    assert_int_equal(s.report->values[models_value(s.model, "y")].verdict, ODB_VERDICT_FAIL);
    assert_non_null(strstr(s.report->culprits.items[0].text, "The region from node 2"));
    scene_close(&s);
}

/* A value spoilt in the recording alone, and nothing of what stands around it: still only that. */
static void test_dump__gaps_and_a_spoilt_value(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    scene_record(&s, 1, "cpu", 1);
    scene_record(&s, 4, "cpu", 1.01f);
    scene_record(&s, 7, "cpu", 1);
    scene_search(&s);
    scene_blames(&s, 2, 4);
    assert_false(s.report->outputs_diverge);
    scene_close(&s);
}

/* No output among what was recorded: the last values stand for them. */
static void test_dump__without_outputs(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    scene_record(&s, 3, "fault:scale,node=v1,amount=0.01@cpu", 1);
    scene_search(&s);
    scene_blames(&s, 0, 3);
    assert_true(s.report->outputs_diverge);
    scene_close(&s);
}

static void test_dump__other_input(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    struct odb_tensor *x = s.feed.tensor;
    float other[8] = {1, 0.5f, 0.25f, -1, 2, -0.5f, 0.75f, 1.5f};
    s.feed.tensor = models_f32(2, (int64_t[]){2, 4}, other);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "cpu", 1);
    char *path = odb_xasprintf("%s/x.npy", s.dir);
    MODELS_OK(odb_npy_write(s.feed.tensor, path, &why));
    free(path);
    odb_tensor_unref(s.feed.tensor);
    s.feed.tensor = x;
    scene_search(&s);
    assert_int_equal(s.report->culprits.n, 0); /* all fits the input that it was made with */
    assert_true(s.report->outputs_diverge);
    assert_true(scene_warns(&s, "input x is another one in the recording"));

    struct odb_feeds *feeds = NULL; /* and left to it, nothing differs */
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    char *spec = odb_xasprintf("dump:%s", s.dir);
    options.recordings = (const char *const[]){"cpu", spec};
    options.n_recordings = 2;
    MODELS_OK(odb_feeds_make(&feeds, s.model, &options, &why));
    assert_true(odb_tensor_f64(feeds->items[0].tensor, 7) == 1.5);
    assert_memory_equal(feeds->items[0].source, "recorded, dump:", 15);
    odb_feeds_free(feeds);
    free(spec);
    scene_close(&s);
}

/* The input was generated, and the recording, of another one, lacks it. */
static void test_dump__lacks_its_input(void **state)
{
    struct scene s;
    struct odb_error err = ODB_ERROR_INIT;
    scene_open(&s, *state);
    struct odb_tensor *x = s.feed.tensor;
    s.feed.tensor =
        models_f32(2, (int64_t[]){2, 4}, (float[8]){1, 0.5f, 0.25f, -1, 2, -0.5f, 0.75f, 1.5f});
    for (int i = 1; i < CHAIN; i++)
        scene_record(&s, i, "cpu", 1);
    struct odb_tensor *other = s.feed.tensor;
    s.feed.tensor = x;
    scene_search(&s);
    scene_blames(&s, 0, 1); /* it was given: then the first region is off */
    s.feed.generated = true;
    assert_int_equal(scene_try(&s, ODB_STRATEGY_AUTO, &err), ODB_E_INPUT);
    help_has_text(&err, "the recording lacks input x");
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_NONE);
    assert_int_equal(s.report->values[models_value(s.model, "y")].verdict, ODB_VERDICT_UNTESTABLE);

    s.feed.tensor = other; /* a fault by recorded values alone */
    scene_record(&s, 3, "cpu", 1.01f);
    s.feed.tensor = x;
    scene_search(&s);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
    assert_int_equal(s.report->culprits.items[0].node, 3);
    assert_true(scene_warns(&s, "the recording lacks input x"));

    for (int i = 1; i < CHAIN; i++) /* and of the one that was generated */
        scene_record(&s, i, "cpu", 1);
    scene_search(&s);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_PASS);
    odb_tensor_unref(other);
    scene_close(&s);
}

static void test_dump__other_weight(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "cpu", 1);
    struct odb_tensor *w = NULL;
    const struct odb_tensor *own = s.model->graph->values[models_value(s.model, "w")].init;
    MODELS_OK(odb_tensor_copy_of(&w, own->dtype, own->rank, own->dims, own->data, &why));
    ((float *)w->data)[5] += 0.125f;
    char *path = odb_xasprintf("%s/w.npy", s.dir);
    MODELS_OK(odb_npy_write(w, path, &why));
    scene_search(&s);
    assert_true(scene_warns(&s, "weight w is another one in the recording: channel "));
    assert_true(scene_warns(&s, "1 of 1 recorded weight is not the model's"));
    odb_tensor_unref(w);
    free(path);
    scene_close(&s);
}

static void test_dump__shape_and_type(void **state)
{
    struct scene s;
    scene_open(&s, *state);
    for (int i = 0; i < CHAIN; i++)
        scene_record(&s, i, "cpu", 1);
    struct odb_tensor *flat = models_f32(1, (int64_t[]){8}, (float[8]){0});
    char *path = odb_xasprintf("%s/v2.npy", s.dir);
    MODELS_OK(odb_npy_write(flat, path, &why));
    scene_search(&s);
    assert_int_equal(s.report->values[models_value(s.model, "v2")].verdict, ODB_VERDICT_SHAPE);
    assert_true(s.report->culprits.n >= 1);
    assert_int_equal(s.report->culprits.items[0].node, 2);
    assert_false(s.report->outputs_diverge);
    odb_tensor_unref(flat);
    free(path);
    scene_close(&s);
}

static void test_dump__nothing_to_judge(void **state)
{
    struct scene s;
    struct odb_error err = ODB_ERROR_INIT;
    scene_open(&s, *state);
    put(s.dir, "stranger.npy", 1, NULL);
    assert_int_equal(scene_try(&s, ODB_STRATEGY_AUTO, &err), ODB_E_INPUT);
    help_has_text(&err, "holds no value of this model under its name");
    scene_record(&s, 0, "cpu", 1);
    assert_int_equal(scene_try(&s, ODB_STRATEGY_PREFIX, &err), ODB_E_USAGE);
    help_has_text(&err, "cannot be run in pieces");
    scene_close(&s);
}

/* A walk judges what was recorded, and no node whose inputs were not. */
static void test_dump__walk(void **state)
{
    struct scene s;
    struct odb_trace *trace = NULL;
    struct odb_walk *walk = NULL;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    scene_open(&s, *state);
    scene_record(&s, 1, "fault:scale,node=v1,amount=0.01@cpu", 1);
    scene_record(&s, 3, "fault:scale,node=v1,amount=0.01@cpu", 1);
    char *spec = odb_xasprintf("dump:%s", s.dir);
    struct odb_bisect_options options = {.target = spec, .tolerance = ODB_CRITERION_DEFAULT};
    MODELS_OK(odb_trace_make(&trace, s.model, &s.feeds, &how, &why));
    MODELS_OK(odb_walk_open(&walk, s.model, &s.feeds, trace, &options, &why));
    for (int stop = 1; stop <= CHAIN; stop++)
        MODELS_OK(odb_walk_to(walk, stop, NULL, &why));
    const struct odb_value_report *v3 = &walk->values[models_value(s.model, "v3")];
    const struct odb_value_report *v2 = &walk->values[models_value(s.model, "v2")];
    assert_int_equal(v3->verdict, ODB_VERDICT_FAIL);
    assert_false(v3->culprit || v3->local_error.known);
    assert_int_equal(v2->verdict, ODB_VERDICT_UNTESTED);
    assert_string_equal(v2->reason, "it was not recorded");
    odb_walk_close(walk);
    odb_trace_free(trace);
    free(spec);
    scene_close(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_dump__##name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folder),
        TEST(one_file_for_two_names),
        TEST(manifest),
        TEST(steps),
        TEST(without_manifest),
        TEST(archive),
        TEST(test_data),
        TEST(tree),
        TEST(checkpoints),
        TEST(map),
        TEST(map_errors),
        TEST(broken),
        TEST(twice),
        TEST(all_right),
        TEST(fault_in_the_target),
        TEST(one_value_spoilt),
        TEST(gaps),
        TEST(gaps_and_a_spoilt_value),
        TEST(without_outputs),
        TEST(other_input),
        TEST(lacks_its_input),
        TEST(other_weight),
        TEST(shape_and_type),
        TEST(nothing_to_judge),
        TEST(walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
