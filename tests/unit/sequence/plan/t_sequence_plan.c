/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which outputs are carried, and how the other inputs move.
 */
#include "sequence/plan/sequence_plan.h"

#include "sequence/plan/plan_int.h"
#include "tests/help/models.h"

/* A model with a pair of these names beside data, through a node that tells nothing. */
static struct odb_model *plan_model_of(const char *input, const char *output)
{
    struct odb_builder *b = odb_build_new("g", 17);
    char *both = odb_xasprintf("data %s", input);
    odb_build_input(b, "data", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_input(b, input, ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_node(b, "Add", "a", both, "result");
    odb_build_node(b, "Neg", "b", input, output);
    odb_build_output(b, "result");
    odb_build_output(b, output);
    free(both);
    return models_take(b);
}

static const struct odb_plan_options plan_usual = {0};

static struct odb_plan *plan_of(const struct odb_model *model,
                                const struct odb_plan_options *options)
{
    struct odb_plan *plan = NULL;
    MODELS_OK(odb_plan_make(&plan, model, options, &why));
    return plan;
}

static bool plan_pairs(const char *input, const char *output)
{
    struct odb_model *model = plan_model_of(input, output);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    int i = plan_find_input(plan, input);
    bool pairs = plan->inputs.items[i].move == ODB_MOVE_CARRY;
    odb_plan_free(plan);
    odb_model_free(model);
    return pairs;
}

static void test_plan__names(void **state)
{
    static const char *const pairs[][2] = {
        {"past_key_values.0.key", "present.0.key"},
        {"past_0", "present_0"},
        {"past", "present"},
        {"past_key_0_in", "past_key_0_out"},
        {"rnn_states_prev", "rnn_states"},
        {"cached_key_3", "new_cached_key_3"},
        {"cache_last_channel_len", "cache_last_channel_next_len"},
        {"h0", "hn"},
        {"h", "hn"},
        {"state", "stateN"},
        {"in_n_layer_self_k_cache", "out_n_layer_self_k_cache"},
        {"conv_cache", "conv_cache_out"},
        {"att_cache", "r_att_cache"},
        {"key_cache.0", "updated_key_cache.0"},
        {"hidden.1", "hidden"},
        {"input_states_1", "output_states_1"},
        {"gru_1_h_in", "gru_1_h_out"},
        {"embed_states", "new_embed_states"},
        {"processed_lens", "new_processed_lens"},
        {"cached_nonlin_attn_0", "new_cached_nonlin_attn_0"},
    };
    static const char *const none[][2] = {
        {"input", "output"},
        {"image", "label"},
        {"past_0", "present_1"},
        {"h", "cn"},
        {"key_cache.1", "value.1"},
        {"mean", "std"},
        {"x", "y"},
        {"image_mean", "image_std"},
        {"input_5", "output_6"},
        {"input_0", "output_0"},
        {"float_in_1", "float_out_1"},
        {"cond_in", "cond_out"},
        {"image", "image_out"},
        {"input_hidden_states", "output_hidden_states"},
    };
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(pairs); i++)
        if (!plan_pairs(pairs[i][0], pairs[i][1]))
            fail_msg("%s and %s are no pair", pairs[i][0], pairs[i][1]);
    for (size_t i = 0; i < ODB_COUNT(none); i++)
        if (plan_pairs(none[i][0], none[i][1]))
            fail_msg("%s and %s are a pair", none[i][0], none[i][1]);
}

/* With nothing but the pair, it is data: one image in, one out. */
static void test_plan__data(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "image", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_node(b, "Neg", "n", "image", "image_out");
    odb_build_output(b, "image_out");
    struct odb_model *model = models_take(b);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    (void)state;
    assert_false(odb_plan_has_carries(plan));
    assert_int_equal(plan->inputs.items[0].move, ODB_MOVE_FEED);
    assert_int_equal(plan->inputs.items[0].axis, -1);
    odb_plan_free(plan);
    odb_model_free(model);
}

/* Names say nothing; the LSTM does, through what moves numbers. */
static void test_plan__slots(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    float weights[64] = {0};
    struct odb_tensor *w = models_f32(3, (int64_t[]){1, 8, 2}, weights);
    odb_build_input(b, "a", ODB_F32, 3, (int64_t[]){1, 1, 2});
    odb_build_input(b, "p", ODB_F32, 3, (int64_t[]){1, 1, 2});
    odb_build_input(b, "q", ODB_F32, 3, (int64_t[]){1, 1, 2});
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "r", w);
    odb_build_node(b, "Identity", "i", "q", "q2");
    odb_build_node(b, "LSTM", "l", "a w r - - p q2", "y u v");
    odb_build_output(b, "y");
    odb_build_output(b, "v");
    odb_build_output(b, "u");
    struct odb_model *model = models_take(b);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    (void)state;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const char *name = model->graph->values[input->value].name;
        const char *from = input->output < 0 ? "" : model->graph->values[input->output].name;
        assert_string_equal(from, !strcmp(name, "p") ? "u" : !strcmp(name, "q") ? "v" : "");
    }
    odb_plan_free(plan);
    odb_model_free(model);
    odb_tensor_unref(w);
}

/* What is asked for: one number in both names, which ":0" is none of. */
static void test_plan__asks(void **state)
{
    static const char *const rows[][2] = {
        {"input_5", "stack_5"}, {"a:0", "b:0"}, {"/Add_output_0", "/If_output_0"}, {"in2", "x12"}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_model *model = plan_model_of(rows[i][0], rows[i][1]);
        struct odb_plan *plan = plan_of(model, &plan_usual);
        assert_int_equal(plan->asks.n, i == 0);
        assert_false(odb_plan_has_carries(plan));
        odb_plan_free(plan);
        odb_model_free(model);
    }
}

/* Two numbers of their own, and letters of a row, are no pairs; with h beside it c is a cell. */
static void test_plan__alike(void **state)
{
    static const struct {
        const char *in, *out;
        size_t carries;
    } rows[] = {{"x.1 mask h", "x.9 y hn", 1},
                {"input_a input_b input_c", "output_a output_b output_c", 0},
                {"input_a input_h input_c", "output_a output_h output_c", 2},
                {"x h.1", "y h", 1}};
    (void)state;
    for (size_t r = 0; r < ODB_COUNT(rows); r++) {
        struct odb_builder *b = odb_build_new("g", 17);
        char in[64], out[64], *from = in, *to = out;
        snprintf(in, sizeof in, "%s", rows[r].in);
        snprintf(out, sizeof out, "%s", rows[r].out);
        for (const char *x, *y; (x = strsep(&from, " ")) && (y = strsep(&to, " "));) {
            odb_build_input(b, x, ODB_F32, 2, (int64_t[]){1, 4});
            odb_build_node(b, "Relu", x, x, y);
            odb_build_output_typed(b, y, ODB_F32, 2, (int64_t[]){1, 4});
        }
        struct odb_model *model = models_take(b);
        struct odb_plan *plan = plan_of(model, &plan_usual);
        size_t carries = 0;
        for (size_t i = 0; i < plan->inputs.n; i++)
            carries += plan->inputs.items[i].move == ODB_MOVE_CARRY;
        if (carries != rows[r].carries)
            fail_msg("%s: %zu carries", rows[r].in, carries);
        odb_plan_free(plan);
        odb_model_free(model);
    }
}

/* A state that is held has no rule any more, and begins as it is said. */
static void test_plan__holds(void **state)
{
    static const char *const nexts[] = {"h=hn*2"}, *const holds[] = {"h=zeros"};
    const struct odb_plan_options how = {
        .steps = 3, .nexts = nexts, .n_nexts = 1, .holds = holds, .n_holds = 1};
    struct odb_builder *b = odb_build_new("g", 17);
    (void)state;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_input(b, "h", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_node(b, "Add", "a", "x h", "hn");
    odb_build_node(b, "Neg", "b", "x", "y");
    odb_build_output_typed(b, "hn", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){1, 4});
    struct odb_model *model = models_take(b);
    struct odb_plan *plan = plan_of(model, &how);
    int h = plan_find_input(plan, "h");
    assert_int_equal(plan->inputs.items[h].move, ODB_MOVE_CARRY); /* --next comes behind --hold */
    odb_plan_free(plan);
    plan = plan_of(model, &(struct odb_plan_options){.steps = 3, .holds = holds, .n_holds = 1});
    assert_int_equal(plan->inputs.items[h].move, ODB_MOVE_HOLD);
    assert_null(plan->inputs.items[h].next);
    odb_plan_free(plan);
    odb_model_free(model);
}

/* A state with a value in the model is carried, and begins so; a weight that is an input is none.
 */
static void test_plan__weights(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    float values[8] = {1, 2};
    struct odb_tensor *weight = models_f32(2, (int64_t[]){1, 4}, values);
    odb_build_input(b, "data", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_input(b, "weight", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_input(b, "h_in", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_weight(b, "weight", weight);
    odb_build_weight(b, "h_in", weight);
    odb_build_node(b, "Add", "a", "data weight", "result");
    odb_build_node(b, "Add", "b", "h_in result", "h_out");
    odb_build_output(b, "result");
    odb_build_output(b, "h_out");
    struct odb_model *model = models_take(b);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    (void)state;
    assert_int_equal(plan->inputs.n, 2);
    assert_int_equal(plan_find_input(plan, "weight"), -1);
    int h = plan_find_input(plan, "h_in");
    assert_int_equal(plan->inputs.items[h].move, ODB_MOVE_CARRY);
    assert_string_equal(plan->inputs.items[h].start, "default");
    odb_plan_free(plan);
    const char *none[] = {"none"};
    struct odb_plan_options how = {.carries = none, .n_carries = 1};
    plan = plan_of(model, &how);
    assert_int_equal(plan->inputs.n, 1);
    odb_plan_free(plan);
    odb_model_free(model);
    odb_tensor_unref(weight);
}

/* Where shapes tell no axis, that of a Concat does, if its result is the state as it is. */
static void test_plan__joined(void **state)
{
    static const struct {
        const char *second, *output;
        int axis;
    } rows[] = {{"Identity", "b", 1}, {"Neg", "a", 1}, {"Slice", "b", -1}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_builder *b = odb_build_new("g", 9);
        odb_build_input(b, "ids", ODB_F32, 2, (int64_t[]){1, -1});
        odb_build_input(b, "old", ODB_F32, 2, (int64_t[]){1, -1});
        odb_build_node(b, "Concat", "join", "old ids", "a");
        odb_build_attr_int(b, "axis", -1);
        odb_build_node(b, rows[i].second, "n", "a", "b");
        if (!strcmp(rows[i].second, "Slice")) {
            odb_build_attr_ints(b, "starts", 1, (int64_t[]){-3});
            odb_build_attr_ints(b, "ends", 1, (int64_t[]){99});
        }
        odb_build_node(b, "Neg", "m", "ids", "result");
        odb_build_output_typed(b, rows[i].output, ODB_F32, 2, (int64_t[]){1, -1});
        odb_build_output(b, "result");
        struct odb_model *model = models_take(b);
        struct odb_plan *plan = plan_of(model, &plan_usual);
        assert_int_equal(plan->inputs.items[1].move, ODB_MOVE_CARRY);
        assert_int_equal(plan->inputs.items[1].axis, rows[i].axis);
        assert_string_equal(plan->inputs.items[1].start, rows[i].axis < 0 ? "zeros" : "empty");
        odb_plan_free(plan);
        odb_model_free(model);
    }
}

static void plan_refused(const struct odb_model *model, const struct odb_plan_options *options,
                         const char *part)
{
    struct odb_plan *plan = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    assert_int_equal(odb_plan_make(&plan, model, options, &err), ODB_E_USAGE);
    odb_error_text(&err, text, sizeof text);
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
}

static void test_plan__words(void **state)
{
    struct odb_model *model = plan_model_of("odd", "other");
    const char *carry[] = {"other=odd"}, *turned[] = {"odd=other"}, *wrong[] = {"result=nothing"};
    const char *start[] = {"odd=3"}, *next[] = {"odd=other[:,::-1]"}, *bad[] = {"odd=other["};
    struct odb_plan_options how = {.steps = 5, .carries = carry, .n_carries = 1};
    (void)state;
    struct odb_plan *plan = plan_of(model, &how);
    assert_int_equal(plan->inputs.items[1].move, ODB_MOVE_CARRY);
    assert_int_equal(plan->steps, 5);
    odb_plan_free(plan);
    how = (struct odb_plan_options){
        .chunks = "3,1", .carries = turned, .n_carries = 1, .starts = start, .n_starts = 1};
    plan = plan_of(model, &how);
    assert_string_equal(plan->inputs.items[1].start, "3");
    assert_int_equal(odb_plan_past(plan, 3), 5);
    assert_int_equal(odb_plan_pieces(plan, 7), 1);
    odb_plan_free(plan);
    how = (struct odb_plan_options){.nexts = next, .n_nexts = 1};
    plan = plan_of(model, &how);
    assert_int_equal(plan->inputs.items[1].move, ODB_MOVE_CARRY);
    assert_string_equal(plan->inputs.items[1].start, "made");
    odb_plan_free(plan);
    how = (struct odb_plan_options){.carries = wrong, .n_carries = 1};
    plan_refused(model, &how, "--carry result=nothing: the model has no such pair");
    how = (struct odb_plan_options){.nexts = bad, .n_nexts = 1};
    plan_refused(model, &how, "character 7: an index or a range is missing");
    how = (struct odb_plan_options){.chunks = "3,,1"};
    plan_refused(model, &how, "a number from 1 to 100000 is missing");
    how = (struct odb_plan_options){.file = "/nothing/here.seq"};
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_plan_make(&plan, model, &how, &err), ODB_E_IO);
    assert_string_equal(err.where, "/nothing/here.seq");
    odb_model_free(model);
}

/* The plan of a file with the text of another plan. */
static struct odb_plan *plan_again(const struct odb_model *model, const struct odb_plan *plan)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/plan.seq", folder);
    struct odb_plan_options how = {.file = path};
    struct odb_buf text = ODB_BUF_INIT;
    odb_plan_put(plan, &text);
    MODELS_OK(odb_file_write(path, text.data, text.len, &why));
    struct odb_plan *again = plan_of(model, &how);
    odb_buf_dispose(&text);
    free(path);
    models_remove(folder);
    return again;
}

static const struct {
    const char *next, *start; /* as options, NULL: not said */
    enum odb_move move;
    const char *begins; /* with */
} plan_formulas[] = {
    {NULL, NULL, ODB_MOVE_RULE, NULL},
    /* it goes on from what the plan would have had */
    {"position_ids=position_ids[:,-1:]+1", NULL, ODB_MOVE_RULE,
     "zeros(len('input_ids'),1)+arange(past,total)"},
    {"position_ids=position_ids[:,-1:]+1", "position_ids=arange(n)", ODB_MOVE_RULE, "arange(n)"},
    {"position_ids=position_ids[:,-1:]+1", "position_ids=7", ODB_MOVE_RULE, "7"},
    {"position_ids=arange(n)", NULL, ODB_MOVE_RULE, NULL},
    {"position_ids=arange(n)+len(input_ids)", NULL, ODB_MOVE_RULE, NULL},
    {"position_ids=arange(n)+len(h)", NULL, ODB_MOVE_RULE,
     "zeros(len('input_ids'),1)+arange(past,total)"},
    {"input_ids=argmax(hn)", NULL, ODB_MOVE_CARRY, "made"},
    {"input_ids=argmax(hn)", "input_ids=5", ODB_MOVE_CARRY, "5"},
    {"input_ids=argmax(hn)", "input_ids=full(5,1,n)", ODB_MOVE_RULE, "full(5,1,n)"},
    {"h=where(argmax(hn)==0,h,hn)", NULL, ODB_MOVE_CARRY, "zeros"},
    {"h=hn*0.5", "h=h.npy", ODB_MOVE_CARRY, "h.npy"},
    {"h=hn*0.5", "h=zeros", ODB_MOVE_CARRY, "zeros"},
};

static const struct {
    const char *next, *start, *part;
} plan_no_formulas[] = {
    {"position_ids=nothing+h", NULL, "nothing is neither an input nor an output"},
    {"h=hn*'past'", NULL, "past is neither an input nor an output"},
    {"position_ids=position_ids+1", "position_ids=zeros",
     "an input that follows a rule begins with a formula"},
};

static struct odb_model *plan_tokens(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "input_ids", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "position_ids", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "h", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_node(b, "Add", "a", "input_ids position_ids", "result");
    odb_build_node(b, "Neg", "b", "h", "hn");
    odb_build_output(b, "result");
    odb_build_output(b, "hn");
    return models_take(b);
}

static void test_plan__formulas(void **state)
{
    struct odb_model *model = plan_tokens();
    (void)state;
    for (size_t k = 0; k < ODB_COUNT(plan_formulas) + ODB_COUNT(plan_no_formulas); k++) {
        bool refused = k >= ODB_COUNT(plan_formulas);
        size_t row = refused ? k - ODB_COUNT(plan_formulas) : k;
        const char *next = refused ? plan_no_formulas[row].next : plan_formulas[row].next;
        const char *start = refused ? plan_no_formulas[row].start : plan_formulas[row].start;
        struct odb_plan_options how = {
            .nexts = &next, .n_nexts = next != NULL, .starts = &start, .n_starts = start != NULL};
        if (refused) {
            plan_refused(model, &how, plan_no_formulas[row].part);
            continue;
        }
        struct odb_plan *plan = plan_of(model, &how), *again = plan_again(model, plan);
        int i = next && *next == 'i' ? 0 : next && *next == 'h' ? 2 : 1;
        for (int read = 0; read < 2; read++) { /* from a file, too */
            const struct odb_plan_input *input = &(read ? again : plan)->inputs.items[i];
            const char *begins = plan_formulas[row].begins;
            if (input->move != plan_formulas[row].move || !input->start != !begins ||
                (begins && strcmp(begins, input->start) != 0))
                fail_msg("%s: move %d, begins with %s", next, input->move, input->start);
        }
        odb_plan_free(plan);
        odb_plan_free(again);
    }
    odb_model_free(model);
}

/* What a plan is written as gives the same plan. */
static void test_plan__file(void **state)
{
    struct odb_model *model = plan_model_of("h", "hn");
    char *folder = models_folder(), *path = odb_xasprintf("%s/plan.seq", folder);
    struct odb_buf text = ODB_BUF_INIT, again = ODB_BUF_INIT;
    struct odb_plan_options how = {.steps = 7, .chunks = "2,1"};
    (void)state;
    struct odb_plan *plan = plan_of(model, &how);
    odb_plan_put(plan, &text);
    MODELS_OK(odb_file_write(path, text.data, text.len, &why));
    how = (struct odb_plan_options){.file = path};
    struct odb_plan *read = plan_of(model, &how);
    odb_plan_put(read, &again);
    assert_non_null(strstr(text.data, "carry hn=h\nstart h=zeros\n"));
    assert_non_null(strstr(again.data, "steps 7\nchunks 2,1\n"));
    assert_non_null(strstr(again.data, "carry hn=h\nstart h=zeros\n"));
    odb_plan_free(plan);
    odb_plan_free(read);
    odb_buf_dispose(&text);
    odb_buf_dispose(&again);
    odb_model_free(model);
    free(path);
    models_remove(folder);
}

/* --- genai_config.json ------------------------------------------------------------------------ */

#define CONFIG_DECODER(file)                                                                       \
    "{\"model\": {\"decoder\": {\"filename\": \"" file                                             \
    "\", \"inputs\": {\"past_key_names\": \"k%d_of_old\", \"input_ids\": \"words\", "              \
    "\"attention_mask\": \"seen\"}, \"outputs\": {\"present_key_names\": \"k%d_made\"}}}}"

/* The folder of a decoder whose names say nothing, with that configuration beside it. */
static char *config_folder(const char *config)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    char *folder = models_folder(), *model = odb_xasprintf("%s/m.onnx", folder);
    char *beside = odb_xasprintf("%s/genai_config.json", folder);
    odb_build_input(b, "words", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "seen", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "k10_of_old", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_input(b, "k3_of_old", ODB_F32, 2, (int64_t[]){1, 4});
    odb_build_node(b, "Identity", "a", "words", "result");
    odb_build_node(b, "Neg", "b", "k3_of_old", "k3_made");
    odb_build_node(b, "Neg", "c", "k10_of_old", "k10_made");
    odb_build_output(b, "result");
    odb_build_output(b, "k3_made");
    odb_build_output(b, "k10_made");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    MODELS_OK(odb_file_write(model, bytes.data, bytes.len, &why));
    if (config)
        MODELS_OK(odb_file_write(beside, config, strlen(config), &why));
    odb_buf_dispose(&bytes);
    free(beside);
    free(model);
    return folder;
}

static struct odb_model *config_model(const char *folder)
{
    struct odb_model *model = NULL;
    char *path = odb_xasprintf("%s/m.onnx", folder);
    MODELS_OK(odb_model_open(&model, path, &why));
    free(path);
    return model;
}

static size_t config_carries(const char *config)
{
    char *folder = config_folder(config);
    struct odb_model *model = config_model(folder);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    size_t carries = 0;
    for (size_t i = 0; i < plan->inputs.n; i++)
        carries += plan->inputs.items[i].move == ODB_MOVE_CARRY;
    odb_plan_free(plan);
    odb_model_free(model);
    models_remove(folder);
    return carries;
}

static void test_plan__config(void **state)
{
    char *folder = config_folder(CONFIG_DECODER("m.onnx"));
    struct odb_model *model = config_model(folder);
    struct odb_plan *plan = plan_of(model, &plan_usual);
    const struct odb_plan_input *inputs = plan->inputs.items;
    (void)state;
    assert_int_equal(inputs[0].move, ODB_MOVE_FEED);
    assert_int_equal(inputs[0].axis, 1);
    assert_string_equal(inputs[1].next, "ones(len('words'),total)");
    for (size_t i = 2; i < 4; i++) {
        assert_int_equal(inputs[i].by, ODB_BY_CONFIG);
        assert_string_equal(model->graph->values[inputs[i].output].name,
                            i == 2 ? "k10_made" : "k3_made");
    }
    odb_plan_free(plan);
    odb_model_free(model);
    models_remove(folder);
    assert_int_equal(config_carries(NULL), 0);
    assert_int_equal(config_carries(CONFIG_DECODER("other.onnx")), 0);
    assert_int_equal(config_carries("[1, {\"model\": 3}]"), 0);
    assert_int_equal(config_carries("{\"model\": {\"decoder\": {\"inputs\": 3}, \"type\": 1}}"), 0);
}

static void test_plan__config_broken(void **state)
{
    char *folder = config_folder("{\"model\": ");
    struct odb_model *model = config_model(folder);
    struct odb_plan *plan = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    (void)state;
    assert_int_equal(odb_plan_make(&plan, model, &plan_usual, &err), ODB_E_FORMAT);
    assert_non_null(strstr(err.where, "/genai_config.json"));
    assert_non_null(strstr(err.what, "it cannot be read as JSON: "));
    odb_model_free(model);
    models_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan__names),    cmocka_unit_test(test_plan__data),
        cmocka_unit_test(test_plan__slots),    cmocka_unit_test(test_plan__words),
        cmocka_unit_test(test_plan__formulas), cmocka_unit_test(test_plan__file),
        cmocka_unit_test(test_plan__asks),     cmocka_unit_test(test_plan__alike),
        cmocka_unit_test(test_plan__holds),    cmocka_unit_test(test_plan__weights),
        cmocka_unit_test(test_plan__config),   cmocka_unit_test(test_plan__config_broken),
        cmocka_unit_test(test_plan__joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
