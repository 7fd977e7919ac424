/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands given one after the other about a model whose second node is off by one percent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/console/console_line.h"
#include "command/console/verb_undo.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "model/write/build.h"
#include "session/annotations.h"
#include "session/session_state.h"
#include "tensor/format/npy.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

struct scene {
    struct odb_console console;
    char *folder;
};

static void scene_open(struct scene *s)
{
    struct odb_session *session;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "y");
    odb_build_output(b, "y");
    help_find_serve();
    MODELS_OK(odb_session_open_take(&session, models_take(b), NULL, &why));
    odb_console_init(&s->console, session);
    odb_console_set(&s->console, ODB_OPTION_TARGET, "fault:scale,node=n1,amount=0.01@cpu");
    s->folder = models_folder();
    setenv("XDG_STATE_HOME", s->folder, 1); /* where targets are noted that were given */
}

static void scene_close(struct scene *s)
{
    odb_console_dispose(&s->console);
    models_remove(s->folder);
}

/* Gives a line. What is printed, or the message of the error, begins with expected. */
static void scene_says(struct scene *s, const char *line, const char *expected)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_command_call call;
    char **argv = NULL, *out = NULL, text[2048];
    size_t size;
    FILE *file = open_memstream(&out, &size);
    enum odb_status status = odb_console_parse(&s->console, line, &argv, &call, false, &err);
    call.out = call.log = file;
    if (status == ODB_OK)
        status = odb_call_run(&call, &err);
    odb_call_dispose(&call);
    free(argv);
    fclose(file);
    const char *said = status == ODB_OK ? out : odb_error_text(&err, text, sizeof text);
    if (strncmp(said, expected, strlen(expected)))
        fail_msg("`%s` says: %s", line, said);
    free(out);
}

static void test_console__stops_at_breakpoints(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "break #0", "1   breakpoint  before #0 n0 (Tanh)\n");
    scene_says(&s, "break n2", "2   breakpoint  before #2");
    scene_says(&s, "run", "breakpoint 1: before #0 n0 (Tanh); 0 of 3 nodes");
    scene_says(&s, "continue",
               "breakpoint 2: before #2 n2 (Exp); 2 of 3 nodes have run, 2 judged, 1 off");
    scene_says(&s, "continue", "the model has run to its end; 3 of 3");
    scene_says(&s, "continue", "the model has run to its end; 3 of 3");
    scene_says(&s, "run", "breakpoint 1: before #0");
    scene_says(&s, "delete", "2 breakpoints deleted");
    scene_says(&s, "continue", "the model has run to its end");
    scene_close(&s);
}

/* n1 is off by one percent: a condition stops behind it, once it is not ignored any more. */
static void test_console__conditions_stop_behind_their_node(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "break if error > 1e-3", "1   breakpoint  behind any node  if error > 1e-3\n");
    scene_says(&s, "run", "breakpoint 1 (error > 1e-3): behind #1 n1 (Mul); 2 of 3 nodes");
    scene_says(&s, "continue", "breakpoint 1 (error > 1e-3): behind #2 n2 (Exp); 3 of 3 nodes");
    scene_says(&s, "ignore 1 1", "1 breakpoint changed");
    scene_says(&s, "run", "breakpoint 1 (error > 1e-3): behind #2 n2 (Exp); 3 of 3 nodes");
    scene_says(&s, "condition 1 nan", "1   breakpoint  behind any node  if nan  hit 4 times\n");
    scene_says(&s, "run", "the model has run to its end");
    scene_says(&s, "watch error > 1e-3", "2   watchpoint  error > 1e-3");
    scene_says(&s, "run", "watchpoint 2 (error > 1e-3): behind #1 n1 (Mul); 2 of 3 nodes");
    scene_says(&s, "continue", "the model has run to its end"); /* there it is handed on */
    scene_says(&s, "disable 2", "1 breakpoint disabled");
    scene_says(&s, "run", "the model has run to its end");
    scene_says(&s, "undo", "breakpoints and what else was put down are as they were");
    scene_says(&s, "run", "watchpoint 2 (error > 1e-3): behind #1");
    scene_close(&s);
}

/* What is pinned is right by itself, and what follows it is right again, without going back. */
static void test_console__a_pin_ends_what_was_wrong(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "step 2", "stopped before #2 n2 (Exp); 2 of 3 nodes have run, 2 judged, 1 off");
    scene_says(&s, "pin q", "q is held to the reference's value");
    scene_says(&s, "continue",
               "the model has run to its end; 3 of 3 nodes have run, 3 judged, none off");
    scene_says(&s, "unpin q", "1 pin taken away");
    scene_says(&s, "continue",
               "the model has run to its end; 3 of 3 nodes have run, 3 judged, 2 off");
    scene_says(&s, "pin x", "no node makes x");
    scene_close(&s);
}

static void test_console__steps(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "step 0", "step: '0' is not a number in 1..1000000000");
    scene_says(&s, "step", "stopped before #1 n1 (Mul); 1 of 3 nodes have run");
    scene_says(&s, "step 1000000000", "the model has run to its end");
    scene_close(&s);
}

static void test_console__a_walk_goes_on_with_another_tolerance(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "step 2", "stopped before #2 n2 (Exp); 2 of 3 nodes have run, 2 judged, 1 off");
    scene_says(&s, "tol allclose:0.5,0.5",
               "tolerance allclose:0.5,0.5; of 2 values judged, 0 are over it");
    assert_string_equal(odb_console_tolerance(&s.console), "allclose:0.5,0.5");
    scene_says(&s, "step",
               "the model has run to its end; 3 of 3 nodes have run, 3 judged, none off");
    scene_says(&s, "step --tol noise:10", "stopped before #1");
    scene_says(&s, "tol nonsense", "tol: ");
    assert_string_equal(odb_console_tolerance(&s.console), "noise:10");
    scene_close(&s);
}

static void test_console__tolerance_with_nothing_to_judge(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "tol", "tolerance noise\n");
    scene_says(&s, "tol noise:3", "tolerance noise:3; it counts from the next search on");
    scene_says(&s, "tol", "tolerance noise:3\n");
    scene_close(&s);
}

static void test_console__verdicts_follow_the_tolerance(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "set tol noise:4", "tol           noise:4");
    scene_says(&s, "step", "stopped before #1");
    scene_says(&s, "set tol noise:5", "verdicts would not follow; `tol noise:5` judges them anew");
    scene_says(&s, "set tol", "tol           noise:4");
    scene_close(&s);
}

static void test_console__negative_numbers(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "plane -1", "plane needs a screen");
    scene_says(&s, "down -1", "down: '-1' is not a number in 0..1000000000");
    scene_says(&s, "set seed -1", "--seed: '-1' is not a number in 0..4294967295");
    scene_says(&s, "down -x", "down has no option '-x'");
    scene_close(&s);
}

static void test_console__options_that_are_not_kept(void **state)
{
    struct scene s;
    scene_open(&s);
    char *line = odb_xasprintf("extract --inputs h --outputs q -o '%s/cut.onnx'", s.folder);
    char *cut = odb_xasprintf("%s/cut.onnx: 1 of 3 nodes, 1 input", s.folder);
    scene_says(&s, line, cut);
    scene_says(&s, "extract --outputs nothing -o cut.onnx", "--outputs: ");
    free(cut);
    free(line);
    scene_close(&s);
}

static void test_console__inputs_are_kept_by_name(void **state)
{
    struct scene s;
    size_t n;
    scene_open(&s);
    odb_console_set(&s.console, ODB_OPTION_INPUT, "a=one.npy");
    odb_console_set(&s.console, ODB_OPTION_INPUT, "b=two.npy");
    odb_console_set(&s.console, ODB_OPTION_INPUT, "a=three.npy");
    struct odb_command_call call = {.console = &s.console};
    MODELS_OK(odb_command_find(&call.command, "bisect", true, &why));
    const char **list = odb_call_list(&call, ODB_OPTION_INPUT, &n);
    assert_int_equal(n, 2);
    assert_string_equal(list[0], "b=two.npy");
    assert_string_equal(list[1], "a=three.npy");
    free((void *)list);
    scene_close(&s);
}

/* What a dump must not touch: what was found, logged, counted and set, and the inputs. */
struct scene_state {
    const struct odb_feeds *feeds;
    const struct odb_report *report;
    const struct odb_trace *trace;
    struct odb_value_report values[8];
    struct odb_annotation_list annotations;
    size_t log, n_settings;
    unsigned long generation;
    int at;
};

static void scene_remember(const struct scene *s, struct scene_state *out)
{
    const struct odb_session *session = s->console.session;
    *out = (struct scene_state){.feeds = session->feeds,
                                .report = session->report,
                                .trace = session->trace,
                                .log = session->log.n,
                                .n_settings = s->console.settings.n,
                                .generation = session->generation,
                                .at = session->at};
    size_t n = session->model->graph->n_values;
    assert_in_range(n, 1, ODB_COUNT(out->values));
    memcpy(out->values, session->values, n * sizeof *out->values);
    odb_annotation_list_copy(&out->annotations, &session->annotations, session->model->graph);
}

static void scene_is_as(const struct scene *s, struct scene_state *was)
{
    struct scene_state now;
    scene_remember(s, &now);
    assert_true(odb_annotation_list_same(&was->annotations, &now.annotations));
    assert_int_equal(was->annotations.items.items[0].hits, now.annotations.items.items[0].hits);
    odb_annotation_list_dispose(&now.annotations);
    odb_annotation_list_dispose(&was->annotations);
    was->annotations = now.annotations = (struct odb_annotation_list){0};
    assert_memory_equal(was, &now, sizeof now);
}

static void scene_dumps(struct scene *s, const char *options, const char *said)
{
    char *line = odb_xasprintf("dump %s --root-dir '%s/d'", options, s->folder);
    scene_says(s, line, said);
    free(line);
}

/* Elements 0 of what was dumped; the target is off by one percent in q. */
static void scene_dumped(struct scene *s, const char *name, double expected)
{
    struct odb_tensor *t;
    char *path = odb_xasprintf("%s/d/%s.npy", s->folder, name);
    MODELS_OK(odb_npy_read(&t, path, &why));
    assert_float_equal(odb_load_f64(t->dtype, t->data, 0), expected, 1e-6);
    odb_tensor_unref(t);
    free(path);
}

static void test_console__a_dump_is_of_the_session_and_leaves_it(void **state)
{
    struct scene s;
    struct scene_state was;
    scene_open(&s);
    scene_says(&s, "set input x=range(0.5,0.5)", "");
    scene_says(&s, "break #2", "1   breakpoint");
    scene_says(&s, "bisect", "");
    scene_says(&s, "run", "breakpoint 1: before #2");
    scene_remember(&s, &was);
    scene_dumps(&s, "list q", "topology index 1, output q, shape (8,), dtype float32\n");
    scene_dumped(&s, "outputs/topoidx_00001__q", 1.01 * tanh(0.5) * tanh(0.5));
    scene_dumped(&s, "inputs/x", 0.5);
    scene_dumps(&s, "full --step 2", "topology index 0, output h");
    scene_is_as(&s, &was);
    scene_remember(&s, &was);
    scene_dumps(&s, "list h -f cpu -i 'x:range(0.25,0.25)' --seed 7", "topology index 0");
    scene_dumped(&s, "outputs/topoidx_00000__h", tanh(0.25));
    scene_dumps(&s, "range h 5", "there is no output 5");
    scene_dumps(&s, "once nothing", "the model has no output 'nothing'");
    scene_dumps(&s, "full -d other.onnx", "--onnx-dir: the model is the session's");
    scene_dumps(&s, "full --model-type fp32", "--model-type: compilers read this when");
    scene_dumps(&s, "full x", "dump full takes no names");
    scene_is_as(&s, &was);
    scene_says(&s, "print x[0]", "0.5\n");
    scene_close(&s);
}

/* Before anything has run the inputs are made for the dump alone. */
static void test_console__a_dump_makes_no_inputs_for_the_session(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "set seed 7", "");
    scene_dumps(&s, "once h", "output h, shape (8,), dtype float32\n");
    assert_null(s.console.session->feeds);
    char *path = odb_xasprintf("%s/d/inputs/x.npy", s.folder);
    struct odb_tensor *dumped, *own;
    MODELS_OK(odb_npy_read(&dumped, path, &why));
    scene_says(&s, "run", "the model has run");
    own = s.console.session->feeds->items[0].tensor;
    assert_memory_equal(dumped->data, own->data, own->bytes);
    odb_tensor_unref(dumped);
    free(path);
    scene_close(&s);
}

/* How often a breakpoint was met is the walk's to say, whatever is put down or taken back. */
static void test_console__counts_outlive_undo(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "break #1", "1   breakpoint");
    scene_says(&s, "mark n0", "#0 n0 (Tanh) has a mark\n");
    scene_says(&s, "run", "breakpoint 1: before #1");
    scene_says(&s, "run", "breakpoint 1: before #1");
    scene_says(&s, "undo", "breakpoints and what else was put down are as they were");
    scene_says(&s, "break", "1   breakpoint  before #1 n1 (Mul)  hit 2 times\n");
    scene_says(&s, "redo", "breakpoints and what else was put down are as they were");
    scene_says(&s, "info marks", "1   mark        #0 n0 (Tanh)\n");
    scene_says(&s, "break", "1   breakpoint  before #1 n1 (Mul)  hit 2 times\n");
    scene_says(&s, "delete 1", "1 breakpoint deleted");
    scene_says(&s, "undo", "");
    scene_says(&s, "break", "1   breakpoint  before #1 n1 (Mul)  hit 2 times\n");
    scene_says(&s, "undo", "");
    scene_says(&s, "undo", "");
    scene_says(&s, "break #1", "1   breakpoint"); /* another one */
    scene_says(&s, "break", "1   breakpoint  before #1 n1 (Mul)\n");
    scene_close(&s);
}

/* Another thread marks and writes notes while the walk counts. */
static void *scene_scribbles(void *arg)
{
    struct odb_session *session = arg;
    for (int i = 0; i < 3000; i++) {
        struct odb_annotation what = {.kind = i % 2 ? ODB_ANNOTATION_NOTE : ODB_ANNOTATION_MARK,
                                      .place = (char *)"#2",
                                      .text = (char *)(i % 2 ? "here" : "")};
        MODELS_OK(odb_session_annotate_at(session, &what, i % 3 == 0, NULL, &why));
    }
    return NULL;
}

static void test_console__counts_outlive_notes_on_the_way(void **state)
{
    struct scene s;
    pthread_t thread;
    scene_open(&s);
    scene_says(&s, "set target cpu", "");
    scene_says(&s, "break #0", "1   breakpoint");
    scene_says(&s, "run", "breakpoint 1");
    assert_int_equal(pthread_create(&thread, NULL, scene_scribbles, s.console.session), 0);
    for (int i = 1; i < 300; i++)
        scene_says(&s, "run", "breakpoint 1");
    pthread_join(thread, NULL);
    scene_says(&s, "break", "1   breakpoint  before #0 n0 (Tanh)  hit 300 times\n");
    scene_close(&s);
}

/* A file in the scene's folder with n elements, all alike; returns `pin q FILE`, the caller's. */
static char *scene_file(struct scene *s, const char *name, enum odb_dtype dtype, int64_t n,
                        double v)
{
    struct odb_tensor *t;
    char *path = odb_xasprintf("%s/%s", s->folder, name);
    MODELS_OK(odb_tensor_new(&t, dtype, 1, &n, &why));
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, v);
    MODELS_OK(odb_npy_write(t, path, &why));
    odb_tensor_unref(t);
    char *line = odb_xasprintf("pin q %s", path);
    free(path);
    return line;
}

/* Reference and target go on from what the file has; what cannot stand there is refused at once. */
static void test_console__a_pin_of_a_file(void **state)
{
    struct scene s;
    scene_open(&s);
    char *good = scene_file(&s, "good.npy", ODB_F32, 8, 0),
         *shape = scene_file(&s, "shape.npy", ODB_F32, 7, 0),
         *type = scene_file(&s, "type.npy", ODB_F64, 8, 0), text[600];
    scene_says(&s, "set input x=range(1,2)", "input"); /* no Tanh of it is 0 */
    scene_says(&s, "print max(y)", "");
    snprintf(text, sizeof text, "%s/shape.npy: it is float (7,), and q is float (8,)", s.folder);
    scene_says(&s, shape, text);
    snprintf(text, sizeof text, "%s/type.npy: it is double (8,), and q is float (8,)", s.folder);
    scene_says(&s, type, text);
    scene_says(&s, "pin q /no/such.npy", "/no/such.npy: ");
    scene_says(&s, "pin q reference", "q is held to the reference's value");
    scene_says(&s, good, "q is held to ");
    scene_says(&s, "print max(q)", "0.0\n");
    scene_says(&s, "print max(y)", "1.0\n"); /* before the target has run */
    scene_says(&s, "run", "the model has run to its end; 3 of 3 nodes have run, 3 judged");
    scene_says(&s, "print max(y)", "reference 1.0\ntarget 1.0\n");
    free(scene_file(&s, "good.npy", ODB_F32, 8, 1)); /* another content of the same name */
    scene_says(&s, good, "q is held to ");
    scene_says(&s, "print max(y)", "2.7182817\n");
    scene_says(&s, "continue", "the model has run to its end; 3 of 3 nodes");
    scene_says(&s, "print max(y)", "reference 2.7182817\ntarget 2.7182817\n");
    scene_says(&s, "unpin", "1 pin taken away");
    scene_says(&s, "print max(y)", "2.5"); /* exp(tanh(x)^2) of the largest x */
    free(good);
    free(shape);
    free(type);
    scene_close(&s);
}

/* Of the finite elements, as NumPy says of these; counts are of all. */
static void test_console__print_makes_one_number_of_many(void **state)
{
    static const float elements[8] = {1, 2, 4, -3, NAN, INFINITY, 0, -INFINITY};
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"print max(q)", "4.0\n"},
        {"print min(q)", "-3.0\n"},
        {"print mean(q)", "0.8\n"},
        {"print median(q)", "1.0\n"},
        {"print std(q)", "2.3151673805580453\n"},
        {"print rms(q)", "2.449489742783178\n"},
        {"print nan(q)", "1\n"},
        {"print inf(q)", "2\n"},
        {"print zeros(q)", "1\n"},
        {"print std(q[:3])", "1.247219128924647\n"},
        {"print rms(q[4:6])", "nothing is finite\n"},
        {"print nan(q[4:6])", "1\n"},
    };
    struct scene s;
    struct odb_tensor *t;
    int64_t n = ODB_COUNT(elements);
    scene_open(&s);
    char *path = odb_xasprintf("%s/q.npy", s.folder), *line = odb_xasprintf("pin q %s", path);
    MODELS_OK(odb_tensor_new(&t, ODB_F32, 1, &n, &why));
    memcpy(t->data, elements, sizeof elements);
    MODELS_OK(odb_npy_write(t, path, &why));
    odb_tensor_unref(t);
    scene_says(&s, line, "q is held to ");
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        scene_says(&s, cases[i].line, cases[i].said);
    free(line);
    free(path);
    scene_close(&s);
}

/* What is not known of the target yet is not made up: the reference is asked, not the target. */
static void test_console__print_asks_the_reference(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "set input x=range(1,2)", "input");
    scene_says(&s, "set target fault:scale,node=n1,amount=9@cpu", "target");
    scene_says(&s, "print max(ref(q))", "0.9");
    scene_says(&s, "print max(q)", "0.9");
    scene_says(&s, "print target(q)", "what the target gives of q is not known yet");
    scene_says(&s, "run", "the model has run to its end");
    scene_says(&s, "print max(target(q))", "9.");
    scene_close(&s);
}

/* What was undone can be done again, until something else changes. */
static void test_console__undo_and_redo(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "undo", "nothing was changed that could be undone");
    scene_says(&s, "redo", "nothing was undone that could be done again");
    scene_says(&s, "break #0", "1   breakpoint");
    scene_says(&s, "set seed 7", "seed");
    scene_says(&s, "step", "");
    scene_says(&s, "tol noise:3", "");
    scene_says(&s, "undo", "tol is not set again\n");
    scene_says(&s, "undo", "seed is not set again\n");
    scene_says(&s, "info breakpoints", "1   breakpoint"); /* changes nothing */
    scene_says(&s, "undo", "breakpoints and what else was put down are as they were\n");
    scene_says(&s, "break", "there are no breakpoints");
    scene_says(&s, "undo", "nothing was changed that could be undone");
    scene_says(&s, "redo", "breakpoints and what else was put down are as they were\n");
    scene_says(&s, "break", "1   breakpoint  before #0");
    scene_says(&s, "redo", "seed is 7 again\n");
    scene_says(&s, "undo", "seed is not set again\n");
    scene_says(&s, "mark #1", "#1 n1 (Mul) has a mark");
    scene_says(&s, "redo", "nothing was undone that could be done again");
    scene_says(&s, "undo", "breakpoints and what else was put down are as they were\n");
    scene_says(&s, "info marks", "there are none");
    scene_says(&s, "undo", "breakpoints and what else was put down are as they were\n");
    scene_says(&s, "break", "there are no breakpoints");
    scene_close(&s);
}

/* A screen that has one number to show, and how it was. */
struct list {
    struct odb_console *console;
    int now, n, n_redo;
    int undo[8], redo[8];
    unsigned long when[8], redone[8];
};

static void list_tell(struct list *list)
{
    struct odb_undo *undo = &list->console->undo;
    undo->list_undo = list->n ? list->when[list->n - 1] : 0;
    undo->list_redo = list->n_redo ? list->redone[list->n_redo - 1] : 0;
}

static enum odb_status list_act(void *payload, struct odb_command_call *call, struct odb_error *err)
{
    struct list *list = payload;
    enum odb_screen_id id = call->command->screen;
    if (id == ODB_SCREEN_UNDO_VIEW) {
        list->redo[list->n_redo] = list->now;
        list->redone[list->n_redo++] = ++list->console->undo.changes;
        list->now = list->undo[--list->n];
    } else if (id == ODB_SCREEN_REDO_VIEW) {
        list->undo[list->n] = list->now;
        list->when[list->n++] = ++list->console->undo.changes;
        list->now = list->redo[--list->n_redo];
    } else {
        list->undo[list->n] = list->now;
        list->when[list->n++] = odb_console_changed(list->console);
        list->n_redo = 0;
        list->now++;
    }
    list_tell(list);
    return ODB_OK;
}

/* One order of time for what the console keeps and what the screen keeps. */
static void test_console__undo_goes_by_time_over_the_list_too(void **state)
{
    struct scene s;
    scene_open(&s);
    struct list list = {.console = &s.console};
    s.console.screen = list_act;
    s.console.payload = &list;
    scene_says(&s, "filter one", "");
    scene_says(&s, "break #0", "1   breakpoint");
    scene_says(&s, "filter two", "");
    scene_says(&s, "filter three", "");
    scene_says(&s, "break #1", "2   breakpoint");
    assert_int_equal(list.now, 3);
    scene_says(&s, "undo", "breakpoints and");
    scene_says(&s, "undo", "the list of nodes is as it was\n");
    scene_says(&s, "undo", "the list of nodes is as it was\n");
    assert_int_equal(list.now, 1);
    scene_says(&s, "undo", "breakpoints and");
    scene_says(&s, "break", "there are no breakpoints");
    scene_says(&s, "undo", "the list of nodes");
    assert_int_equal(list.now, 0);
    scene_says(&s, "undo", "nothing was changed that could be undone");
    scene_says(&s, "redo", "the list of nodes");
    scene_says(&s, "redo", "breakpoints and");
    scene_says(&s, "redo", "the list of nodes");
    assert_int_equal(list.now, 2);
    scene_says(&s, "mark #1", "#1");
    scene_says(&s, "redo", "nothing was undone that could be done again");
    scene_says(&s, "undo", "breakpoints and");
    scene_says(&s, "redo", "breakpoints and"); /* the mark, not what was undone before it */
    scene_says(&s, "redo", "nothing was undone that could be done again");
    scene_says(&s, "undo", "breakpoints and");
    scene_says(&s, "undo", "the list of nodes");
    scene_says(&s, "filter four", "");
    scene_says(&s, "redo", "nothing was undone that could be done again");
    scene_says(&s, "undo", "the list of nodes");
    scene_says(&s, "undo", "breakpoints and");
    scene_says(&s, "undo", "the list of nodes");
    assert_int_equal(list.now, 0);
    scene_close(&s);
}

#define SCENE_FAULT "fault:scale,node=n1,amount=0.01@cpu"

static void scene_shows(const struct scene *s, const char *target, int culprit)
{
    const struct odb_report *report = odb_session_report(s->console.session);
    assert_non_null(report);
    assert_string_equal(report->target, target);
    assert_string_equal(odb_session_of(s->console.session), target);
    for (int node = 0; node < 3; node++)
        assert_int_equal(odb_session_culprit(s->console.session, node) != NULL, node == culprit);
}

/* Marks, culprits and values of a target come back with it, and no search is needed. */
static void test_console__findings_are_kept_per_target(void **state)
{
    struct scene s;
    scene_open(&s);
    setenv("ONNXDBG_FROZEN_CLOCK", "1", 1);
    scene_says(&s, "findings", "nothing was searched yet\n");
    scene_says(&s, "bisect", "#1 n1 (Mul) is where ");
    scene_says(&s, "set target cpu",
               "target        cpu  (what was found before is kept: `findings` lists it)\n");
    assert_null(odb_session_report(s.console.session));
    assert_null(odb_session_culprit(s.console.session, 1));
    scene_says(&s, "findings",
               "  1  " SCENE_FAULT " vs cpu, noise: diverges, #1 introduced, just now\n");
    scene_says(&s, "bisect", "");
    scene_shows(&s, "cpu", ODB_NO_NODE);
    scene_says(&s, "set target " SCENE_FAULT,
               "target        " SCENE_FAULT "  (an earlier search of it is shown; F searches "
               "again)\n");
    scene_shows(&s, SCENE_FAULT, 1);
    assert_non_null(s.console.session->given[1]);
    assert_int_equal(odb_session_n_log(s.console.session) > 0, true);
    scene_says(&s, "findings 2", "* 1  cpu vs cpu, noise: pass, just now\n");
    scene_shows(&s, "cpu", ODB_NO_NODE);
    assert_string_equal(odb_console_target(&s.console), "cpu");
    scene_says(&s, "findings 3", "there are findings of 2 searches");
    scene_says(&s, "undo", "");
    scene_shows(&s, SCENE_FAULT, 1);
    scene_close(&s);
}

/* What was judged by another tolerance is no answer to what is asked now, but it is not lost. */
static void test_console__findings_keep_their_tolerance(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "bisect", "#1 n1 (Mul) is where ");
    scene_says(&s, "set target cpu", "");
    scene_says(&s, "tol allclose:0.5", "tolerance allclose:0.5");
    scene_says(&s, "set target " SCENE_FAULT, "");
    assert_null(odb_session_report(s.console.session));
    scene_says(&s, "findings 1", "* 1  " SCENE_FAULT " vs cpu, noise: diverges");
    scene_shows(&s, SCENE_FAULT, 1);
    assert_string_equal(odb_console_tolerance(&s.console), "noise");
    scene_says(&s, "set seed 5", "seed          5  (what was found before is forgotten)\n");
    scene_says(&s, "findings", "nothing was searched yet\n");
    scene_close(&s);
}

/* The search that was stopped, or that comes again, stands in the place of the one before. */
static void test_console__findings_of_a_target_are_its_newest(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "bisect", "#1 n1 (Mul) is where ");
    scene_says(&s, "bisect --strategy blame", "#1 n1 (Mul) is where ");
    assert_int_equal(odb_session_n_known(s.console.session), 1);
    scene_says(&s, "bisect --target cpu", "");
    scene_says(&s, "bisect --target " SCENE_FAULT, "#1 n1 (Mul) is where ");
    assert_int_equal(odb_session_n_known(s.console.session), 2);
    scene_says(&s, "pin h reference", "h is held to the reference's value");
    assert_int_equal(odb_session_n_known(s.console.session), 1); /* what is shown was pinned anew */
    scene_close(&s);
}

/* A walk on another target than the one that was searched takes no verdict of that for its own. */
static void test_console__a_walk_is_of_the_target_that_is_set(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_says(&s, "bisect", "#1 n1 (Mul) is where ");
    scene_says(&s, "run --target cpu", "the model has run to its end; 3 of 3");
    assert_null(odb_session_report(s.console.session));
    assert_string_equal(odb_session_of(s.console.session), "cpu");
    assert_int_equal(odb_session_n_known(s.console.session), 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console__stops_at_breakpoints),
        cmocka_unit_test(test_console__conditions_stop_behind_their_node),
        cmocka_unit_test(test_console__a_pin_ends_what_was_wrong),
        cmocka_unit_test(test_console__steps),
        cmocka_unit_test(test_console__a_walk_goes_on_with_another_tolerance),
        cmocka_unit_test(test_console__tolerance_with_nothing_to_judge),
        cmocka_unit_test(test_console__verdicts_follow_the_tolerance),
        cmocka_unit_test(test_console__negative_numbers),
        cmocka_unit_test(test_console__options_that_are_not_kept),
        cmocka_unit_test(test_console__inputs_are_kept_by_name),
        cmocka_unit_test(test_console__a_dump_is_of_the_session_and_leaves_it),
        cmocka_unit_test(test_console__a_dump_makes_no_inputs_for_the_session),
        cmocka_unit_test(test_console__counts_outlive_undo),
        cmocka_unit_test(test_console__counts_outlive_notes_on_the_way),
        cmocka_unit_test(test_console__a_pin_of_a_file),
        cmocka_unit_test(test_console__print_makes_one_number_of_many),
        cmocka_unit_test(test_console__print_asks_the_reference),
        cmocka_unit_test(test_console__undo_and_redo),
        cmocka_unit_test(test_console__undo_goes_by_time_over_the_list_too),
        cmocka_unit_test(test_console__findings_are_kept_per_target),
        cmocka_unit_test(test_console__findings_keep_their_tolerance),
        cmocka_unit_test(test_console__findings_of_a_target_are_its_newest),
        cmocka_unit_test(test_console__a_walk_is_of_the_target_that_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
