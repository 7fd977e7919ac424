/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pictures of graphs, without a terminal: what is drawn, where, and that lines lead somewhere.
 */
#include "ui/graph/dag.h"

#include "tests/help/models.h"
#include "model/read/load.h"

struct scene {
    struct odb_model *model;
    struct ui_dag dag;
};

static void scene_take(struct scene *s, struct odb_builder *b)
{
    *s = (struct scene){.model = models_take(b)};
}

static int scene_node(const struct scene *s, const char *name)
{
    int node = ODB_NO_NODE;
    MODELS_OK(odb_graph_find_node(s->model->graph, name, &node, &why));
    return node;
}

static void scene_draw(struct scene *s, const char *centre, int depth, int rows, int cols)
{
    struct ui_dag_options options = {.depth = depth, .rows = rows, .cols = cols};
    ui_dag_dispose(&s->dag);
    ui_dag_make(&s->dag, s->model->graph, scene_node(s, centre), &options);
}

static void scene_close(struct scene *s)
{
    ui_dag_dispose(&s->dag);
    odb_model_free(s->model);
}

static int scene_box(const struct scene *s, const char *name)
{
    int box = ui_dag_find(&s->dag, scene_node(s, name));
    assert_true(box >= 0);
    return box;
}

static int scene_layer(const struct scene *s, const char *name)
{
    return s->dag.boxes.items[scene_box(s, name)].layer;
}

static bool scene_linked(const struct scene *s, int from, int to)
{
    for (size_t i = 0; i < s->dag.edges.n; i++)
        if (s->dag.edges.items[i].from == from && s->dag.edges.items[i].to == to)
            return true;
    return false;
}

static const struct ui_dag_box *scene_kind(const struct scene *s, enum ui_dag_kind kind, int layer)
{
    for (size_t i = 0; i < s->dag.boxes.n; i++)
        if (s->dag.boxes.items[i].is.kind == kind && s->dag.boxes.items[i].layer == layer)
            return &s->dag.boxes.items[i];
    return NULL;
}

static struct odb_builder *build_begin(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    return b;
}

/* --- drawing it as text ----------------------------------------------------------------------- */

static char scene_char(const struct scene *s, int row, int col)
{
    const struct ui_dag_cell *cell = &s->dag.cells[row * s->dag.cols + col];
    int box = ui_dag_at(&s->dag, row, col);
    if (box >= 0) {
        const struct ui_dag_box *at = &s->dag.boxes.items[box];
        if (row == at->row || row == at->row + at->rows - 1)
            return cell->arms ? 'o' : '=';
        return row == at->row + 1 && col == at->col + 1 ? "NIO+"[at->is.kind] : '.';
    }
    if (cell->arrow)
        return 'v';
    switch (cell->arms) {
    case 0:
        return ' ';
    case UI_DAG_UP | UI_DAG_DOWN:
        return '|';
    case UI_DAG_LEFT | UI_DAG_RIGHT:
        return '-';
    default:
        return '+';
    }
}

static void assert_drawn(const struct scene *s, const char *wanted)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (int row = 0; row < s->dag.rows; row++) {
        size_t end = out.len;
        for (int col = 0; col < s->dag.cols; col++) {
            char c = scene_char(s, row, col);
            odb_buf_putc(&out, c);
            end = c == ' ' ? end : out.len;
        }
        out.len = end;
        odb_buf_putc(&out, '\n');
    }
    assert_string_equal(odb_buf_text(&out), wanted);
    odb_buf_dispose(&out);
}

/* --- what holds for every picture ------------------------------------------------------------- */

/* The arm of a cell leads on; over a line that crosses it, behind that. */
static bool scene_leads_on(const struct scene *s, int row, int col, unsigned arm)
{
    static const struct {
        unsigned arm, back;
        int row, col;
    } ways[] = {{UI_DAG_UP, UI_DAG_DOWN, -1, 0},
                {UI_DAG_DOWN, UI_DAG_UP, 1, 0},
                {UI_DAG_LEFT, UI_DAG_RIGHT, 0, -1},
                {UI_DAG_RIGHT, UI_DAG_LEFT, 0, 1}};
    for (size_t w = 0; w < ODB_COUNT(ways); w++) {
        if (ways[w].arm != arm)
            continue;
        int r = row, c = col;
        for (;;) {
            r += ways[w].row;
            c += ways[w].col;
            if (r < 0 || r >= s->dag.rows || c < 0 || c >= s->dag.cols)
                return false;
            if (ui_dag_at(&s->dag, r, c) >= 0)
                return ways[w].row != 0; /* lines end at boxes from above and below */
            unsigned there = s->dag.cells[r * s->dag.cols + c].arms;
            if (there & ways[w].back)
                return true;
            if (there != (UI_DAG_UP | UI_DAG_DOWN) || ways[w].row)
                return false;
        }
    }
    return false;
}

static void assert_sound(const struct scene *s)
{
    const struct ui_dag *dag = &s->dag;
    for (size_t i = 0; i < dag->boxes.n; i++) {
        const struct ui_dag_box *a = &dag->boxes.items[i];
        assert_true(a->col >= 0 && a->row >= 0 && a->cols > 0 && a->rows > 2);
        assert_true(a->col + a->cols <= dag->cols && a->row + a->rows <= dag->rows);
        for (size_t k = 0; k < i; k++) {
            const struct ui_dag_box *b = &dag->boxes.items[k];
            assert_true(a->row >= b->row + b->rows || b->row >= a->row + a->rows ||
                        a->col >= b->col + b->cols || b->col >= a->col + a->cols);
        }
    }
    for (size_t i = 0; i < dag->edges.n; i++)
        assert_true(dag->boxes.items[dag->edges.items[i].from].layer <
                    dag->boxes.items[dag->edges.items[i].to].layer);
    for (int row = 0; row < dag->rows; row++)
        for (int col = 0; col < dag->cols; col++)
            for (unsigned arm = 1; arm < 16; arm *= 2)
                if (dag->cells[row * dag->cols + col].arms & arm && ui_dag_at(dag, row, col) < 0)
                    assert_true(scene_leads_on(s, row, col, arm));
}

/* --- what a reader takes from a picture ------------------------------------------------------- */

struct reader {
    const struct scene *s;
    bool *seen;    /* owned; [cells * 4] left by this arm already */
    bool *reached; /* owned; [boxes] */
};

static void reader_follow(struct reader *r, int row, int col, unsigned arm);

/* Into a cell, having left another by `arm`. A line that crosses goes over what goes across. */
static void reader_enter(struct reader *r, int row, int col, unsigned arm)
{
    const struct ui_dag *dag = &r->s->dag;
    unsigned back = arm & (UI_DAG_UP | UI_DAG_DOWN) ? arm ^ (UI_DAG_UP | UI_DAG_DOWN)
                                                    : arm ^ (UI_DAG_LEFT | UI_DAG_RIGHT);
    int box = ui_dag_at(dag, row, col);
    if (box >= 0) {
        if (arm == UI_DAG_DOWN)
            r->reached[box] = true;
        return;
    }
    assert_true(row >= 0 && row < dag->rows && col >= 0 && col < dag->cols);
    unsigned arms = dag->cells[row * dag->cols + col].arms;
    if (!(arms & back)) {
        reader_follow(r, row, col, arm);
        return;
    }
    for (unsigned on = 1; on < 16; on *= 2)
        if (arms & on && on != back)
            reader_follow(r, row, col, on);
}

static void reader_follow(struct reader *r, int row, int col, unsigned arm)
{
    bool *seen = &r->seen[(row * r->s->dag.cols + col) * 4 + __builtin_ctz(arm)];
    if (*seen)
        return;
    *seen = true;
    reader_enter(r, row + (arm == UI_DAG_DOWN) - (arm == UI_DAG_UP),
                 col + (arm == UI_DAG_RIGHT) - (arm == UI_DAG_LEFT), arm);
}

/* Who follows the lines from a box finds the boxes that it has edges to, and no others. */
static void assert_read(const struct scene *s)
{
    const struct ui_dag *dag = &s->dag;
    struct reader r = {.s = s};
    for (size_t b = 0; b < dag->boxes.n; b++) {
        const struct ui_dag_box *box = &dag->boxes.items[b];
        int row = box->row + box->rows - 1;
        r.seen = odb_new_n(bool, (size_t)dag->rows *(size_t)dag->cols * 4);
        r.reached = odb_new_n(bool, dag->boxes.n);
        for (int col = box->col; col < box->col + box->cols; col++)
            if (dag->cells[row * dag->cols + col].arms & UI_DAG_DOWN)
                reader_follow(&r, row, col, UI_DAG_DOWN);
        for (size_t to = 0; to < dag->boxes.n; to++)
            assert_int_equal(r.reached[to], scene_linked(s, (int)b, (int)to));
        free(r.seen);
        free(r.reached);
    }
}

/* --- shapes ----------------------------------------------------------------------------------- */

static struct odb_builder *build_residual(void)
{
    struct odb_builder *b = build_begin();
    odb_build_node(b, "Relu", "stem", "x", "s");
    odb_build_node(b, "Sin", "first", "s", "f");
    odb_build_node(b, "Cos", "second", "f", "g");
    odb_build_node(b, "Add", "join", "g s", "y");
    odb_build_output(b, "y");
    return b;
}

static void test_dag__a_chain_is_straight(void **state)
{
    struct scene s;
    struct odb_builder *b = build_begin();
    odb_build_node(b, "Relu", "a", "x", "u");
    odb_build_node(b, "Relu", "b", "u", "v");
    odb_build_node(b, "Relu", "c", "v", "y");
    odb_build_output(b, "y");
    scene_take(&s, b);
    scene_draw(&s, "b", 1, 14, 24);
    assert_sound(&s);
    assert_drawn(&s, " =======================\n"
                     " .N.....................\n"
                     " .......................\n"
                     " ===========o===========\n"
                     "            v\n"
                     " =======================\n"
                     " .N.....................\n"
                     " .......................\n"
                     " ===========o===========\n"
                     "            v\n"
                     " =======================\n"
                     " .N.....................\n"
                     " .......................\n"
                     " =======================\n");
    scene_close(&s);
}

/* Around the node in the middle, at the right of it. */
static void test_dag__a_line_passes_beside(void **state)
{
    struct scene s;
    scene_take(&s, build_residual());
    scene_draw(&s, "second", 2, 19, 40);
    assert_sound(&s);
    assert_int_equal(scene_layer(&s, "stem"), -2);
    assert_int_equal(scene_layer(&s, "join"), 1);
    assert_true(scene_linked(&s, scene_box(&s, "stem"), scene_box(&s, "join")));
    assert_drawn(&s, "       =================================\n"
                     "       .N...............................\n"
                     "       ================o================\n"
                     "                       +-------------+\n"
                     "  =================================  |\n"
                     "  .N...............................  |\n"
                     "  =================o===============  |\n"
                     "                   |                 |\n"
                     "   ================================= |\n"
                     "   .N............................... |\n"
                     "   ====================o============ |\n"
                     "                       |            ++\n"
                     "       =================================\n"
                     "       .N...............................\n"
                     "       ================o================\n"
                     "                       |\n"
                     "       =================================\n"
                     "       .O...............................\n"
                     "       =================================\n");
    scene_close(&s);
}

/* What is an input both of the node and of another input of it stands above both. */
static void test_dag__lines_always_lead_downwards(void **state)
{
    struct scene s;
    scene_take(&s, build_residual());
    scene_draw(&s, "join", 3, 40, 60);
    assert_sound(&s);
    assert_int_equal(scene_layer(&s, "second"), -1);
    assert_int_equal(scene_layer(&s, "first"), -2);
    assert_int_equal(scene_layer(&s, "stem"), -3);
    scene_draw(&s, "join", 1, 40, 60); /* beside it, and no line between the two */
    assert_int_equal(scene_layer(&s, "stem"), -1);
    assert_false(scene_linked(&s, scene_box(&s, "stem"), scene_box(&s, "second")));
    assert_int_equal(s.dag.boxes.items[scene_box(&s, "second")].above, 1);
    scene_close(&s);
}

static void test_dag__inputs_and_outputs_have_boxes(void **state)
{
    struct scene s;
    struct odb_builder *b = build_begin();
    struct odb_tensor *w = NULL;
    MODELS_OK(odb_tensor_new(&w, ODB_F32, 1, (int64_t[]){4}, &why));
    odb_build_weight(b, "w", w);
    odb_tensor_unref(w);
    odb_build_node(b, "Add", "only", "x w", "y");
    odb_build_output(b, "y");
    scene_take(&s, b);
    scene_draw(&s, "only", 2, 20, 60);
    assert_sound(&s);
    assert_int_equal(s.dag.boxes.n, 3); /* and none for the weight */
    const struct ui_dag_box *in = scene_kind(&s, UI_DAG_INPUT, -1);
    const struct ui_dag_box *out = scene_kind(&s, UI_DAG_OUTPUT, 1);
    assert_non_null(in);
    assert_non_null(out);
    assert_string_equal(s.model->graph->values[in->is.value].name, "x");
    assert_string_equal(s.model->graph->values[out->is.value].name, "y");
    assert_int_equal(s.dag.boxes.items[s.dag.centre].above, 0);
    assert_int_equal(s.dag.boxes.items[s.dag.centre].below, 0);
    scene_close(&s);
}

/* --- more than fits --------------------------------------------------------------------------- */

static struct odb_builder *build_fan(int readers)
{
    struct odb_builder *b = build_begin();
    odb_build_node(b, "Relu", "hub", "x", "h");
    for (int i = 0; i < readers; i++) {
        char name[32], out[32];
        snprintf(name, sizeof name, "r%d", i);
        snprintf(out, sizeof out, "o%d", i);
        odb_build_node(b, "Sin", name, "h", out);
        odb_build_output(b, out);
    }
    return b;
}

static void test_dag__a_thousand_readers_are_folded(void **state)
{
    struct scene s;
    scene_take(&s, build_fan(1000));
    scene_draw(&s, "hub", 2, 20, 80);
    assert_sound(&s);
    const struct ui_dag_box *more = scene_kind(&s, UI_DAG_MORE, 1);
    assert_non_null(more);
    size_t drawn = 0;
    for (size_t i = 0; i < s.dag.boxes.n; i++)
        drawn += s.dag.boxes.items[i].layer == 1 && s.dag.boxes.items[i].is.kind == UI_DAG_NODE;
    assert_int_equal(drawn, ui_dag__room(80, 0) - 1);
    assert_int_equal(drawn + more->folded.n, 1000);
    assert_int_equal(s.dag.boxes.items[s.dag.centre].below, 0); /* they are behind that box */
    assert_true(scene_linked(&s, s.dag.centre, (int)(more - s.dag.boxes.items)));
    assert_int_equal(more - s.dag.boxes.items,
                     ui_dag_walk(&s.dag, scene_box(&s, "r2"), UI_DAG_RIGHT, -1));
    scene_close(&s);
}

/* All of them are seen, one page after the other. */
static void test_dag__what_is_folded_is_turned_to(void **state)
{
    struct scene s;
    scene_take(&s, build_fan(10));
    bool seen[11] = {false};
    size_t shown = (size_t)ui_dag__room(80, 0) - 1;
    for (size_t turn = 0; turn < 10; turn += shown) {
        struct ui_dag_options options = {
            .depth = 1, .rows = 20, .cols = 80, .turned = 1, .turn = turn};
        ui_dag_dispose(&s.dag);
        ui_dag_make(&s.dag, s.model->graph, scene_node(&s, "hub"), &options);
        assert_sound(&s);
        assert_read(&s);
        int more = ui_dag_more(&s.dag, 1);
        assert_true(more >= 0);
        assert_int_equal(s.dag.boxes.items[more].folded.n, 10 - shown);
        for (size_t i = 0; i < s.dag.boxes.n; i++)
            if (s.dag.boxes.items[i].layer == 1 && s.dag.boxes.items[i].is.kind == UI_DAG_NODE)
                seen[s.dag.boxes.items[i].is.node] = true;
    }
    for (int i = 1; i <= 10; i++)
        assert_true(seen[i]);
    assert_int_equal(ui_dag_more(&s.dag, -1), -1);
    scene_close(&s);
}

static int weight_of_777(const void *payload, int node)
{
    return node == *(const int *)payload;
}

static void test_dag__what_weighs_more_is_not_folded(void **state)
{
    struct scene s;
    scene_take(&s, build_fan(1000));
    int special = scene_node(&s, "r777");
    struct ui_dag_options options = {
        .depth = 1, .rows = 20, .cols = 80, .weight = weight_of_777, .payload = &special};
    ui_dag_make(&s.dag, s.model->graph, scene_node(&s, "hub"), &options);
    assert_true(ui_dag_find(&s.dag, special) >= 0);
    scene_close(&s);
}

static void test_dag__fits_where_hardly_anything_does(void **state)
{
    struct scene s;
    scene_take(&s, build_fan(5));
    for (int cols = 1; cols < 60; cols++)
        for (int rows = 0; rows < 12; rows += 3) {
            scene_draw(&s, "hub", 2, rows, cols);
            assert_int_equal(s.dag.cols, cols);
            for (size_t i = 0; i < s.dag.boxes.n; i++)
                assert_true(s.dag.boxes.items[i].col + s.dag.boxes.items[i].cols <= cols);
        }
    scene_close(&s);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void test_dag__keys_follow_the_lines(void **state)
{
    struct scene s;
    scene_take(&s, build_residual());
    scene_draw(&s, "join", 3, 40, 60);
    int join = scene_box(&s, "join"), second = scene_box(&s, "second");
    int stem = scene_box(&s, "stem"), first = scene_box(&s, "first");
    assert_int_equal(ui_dag_walk(&s.dag, join, UI_DAG_UP, -1), second); /* the next layer first */
    assert_int_equal(ui_dag_walk(&s.dag, join, UI_DAG_UP, stem), stem); /* but back to where from */
    assert_int_equal(ui_dag_walk(&s.dag, stem, UI_DAG_DOWN, -1), first);
    assert_int_equal(ui_dag_walk(&s.dag, join, UI_DAG_LEFT, -1), -1);
    assert_int_equal(ui_dag_walk(&s.dag, first, UI_DAG_RIGHT, -1), -1);
    const struct ui_dag_box *box = &s.dag.boxes.items[second];
    assert_int_equal(ui_dag_at(&s.dag, box->row, box->col), second);
    assert_int_equal(ui_dag_at(&s.dag, box->row, box->col - 1), -1);
    scene_close(&s);
}

/* Lit are the lines of one box: from it, as far as the next. */
static void test_dag__light_marks_the_lines_of_one_box(void **state)
{
    struct scene s;
    scene_take(&s, build_residual());
    scene_draw(&s, "join", 3, 40, 60);
    const struct ui_dag_box *first = &s.dag.boxes.items[scene_box(&s, "first")];
    const struct ui_dag_box *second = &s.dag.boxes.items[scene_box(&s, "second")];
    ui_dag_light(&s.dag, scene_box(&s, "first"));
    size_t lit = 0, all = 0;
    for (int row = 0; row < s.dag.rows; row++)
        for (int col = 0; col < s.dag.cols; col++) {
            const struct ui_dag_cell *cell = &s.dag.cells[row * s.dag.cols + col];
            all += cell->arms != 0;
            lit += cell->lit != 0;
            assert_int_equal(cell->lit & ~cell->arms, 0);
            assert_true(!cell->lit || row < second->row);
            assert_true(!cell->lit || row < first->row || row >= first->row + first->rows - 1);
        }
    assert_true(lit > 0 && lit < all);
    scene_close(&s);
}

/* --- graphs of any kind ----------------------------------------------------------------------- */

/* Nodes that read up to so many values made by one of the last ones, or the input. */
static struct odb_builder *build_random(unsigned seed, int nodes, int most, int back)
{
    struct odb_builder *b = build_begin();
    for (int i = 0; i < nodes; i++) {
        struct odb_buf in = ODB_BUF_INIT;
        char name[32], out[64];
        seed = seed * 1103515245u + 12345u;
        int n = 1 + (int)(seed >> 16) % most, two = (seed >> 20) % 4 == 0;
        for (int k = 0; k < n; k++) {
            seed = seed * 1103515245u + 12345u;
            int far = 1 + (int)(seed >> 16) % back, from = i - far;
            if (from < 0)
                odb_buf_puts(&in, "x ");
            else
                odb_buf_printf(&in, "v%d ", from);
        }
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, two ? "v%d w%d" : "v%d", i, i);
        odb_build_node(b, "Sum", name, odb_buf_text(&in), out);
        odb_buf_dispose(&in);
    }
    odb_build_output(b, "v0");
    return b;
}

/* Boxes apart, lines that lead on, and pictures that say what the graph is. */
static void check_random(int nodes, int most, int back)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct scene s;
        char name[32];
        scene_take(&s, build_random(seed, nodes, most, back));
        for (int at = 0; at < nodes; at += 7)
            for (int depth = 1; depth <= 5; depth += 2)
                for (int cols = 40; cols <= 200; cols += 80) {
                    snprintf(name, sizeof name, "n%d", at);
                    scene_draw(&s, name, depth, 30, cols);
                    assert_sound(&s);
                    assert_read(&s);
                    for (size_t i = 0; i < s.dag.boxes.n; i++)
                        ui_dag_light(&s.dag, (int)i);
                }
        scene_close(&s);
    }
}

static void test_dag__random_graphs_are_read_as_they_are(void **state)
{
    check_random(30, 3, 6);
}

static void test_dag__random_graphs_with_many_lines_too(void **state)
{
    check_random(40, 12, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dag__a_chain_is_straight),
        cmocka_unit_test(test_dag__a_line_passes_beside),
        cmocka_unit_test(test_dag__lines_always_lead_downwards),
        cmocka_unit_test(test_dag__inputs_and_outputs_have_boxes),
        cmocka_unit_test(test_dag__a_thousand_readers_are_folded),
        cmocka_unit_test(test_dag__what_is_folded_is_turned_to),
        cmocka_unit_test(test_dag__what_weighs_more_is_not_folded),
        cmocka_unit_test(test_dag__fits_where_hardly_anything_does),
        cmocka_unit_test(test_dag__keys_follow_the_lines),
        cmocka_unit_test(test_dag__light_marks_the_lines_of_one_box),
        cmocka_unit_test(test_dag__random_graphs_are_read_as_they_are),
        cmocka_unit_test(test_dag__random_graphs_with_many_lines_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
