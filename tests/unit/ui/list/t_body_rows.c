/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of bodies between those of the outline.
 */
#include "ui/list/body_rows.h"

#include "tests/help/models.h"
#include "ui/view/outline.h"

/* before, an If with two branches of 1 and 2 nodes, of which the first has an If again, behind. */
static struct odb_model *rows_model(void)
{
    struct odb_builder *inner = odb_build_new("inner", 17), *other = odb_build_new("other", 17);
    struct odb_builder *yes = odb_build_new("yes", 17), *no = odb_build_new("no", 17);
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_node(inner, "Sin", "deep", "x", "d");
    odb_build_output(inner, "d");
    odb_build_node(other, "Cos", "deeper", "x", "e");
    odb_build_output(other, "e");
    odb_build_node(yes, "If", "again", "c", "y");
    odb_build_attr_graph(yes, "then_branch", inner);
    odb_build_attr_graph(yes, "else_branch", other);
    odb_build_output(yes, "y");
    odb_build_node(no, "Neg", "n0", "x", "n");
    odb_build_node(no, "Abs", "n1", "n", "m");
    odb_build_output(no, "m");
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_node(b, "Neg", "before", "x", "v");
    odb_build_node(b, "If", "if", "c", "z");
    odb_build_attr_graph(b, "then_branch", yes);
    odb_build_attr_graph(b, "else_branch", no);
    odb_build_node(b, "Add", "behind", "z v", "w");
    odb_build_output(b, "w");
    return models_take(b);
}

/* "#1 then:- then:0 …": what the rows of the list are, of the main graph by index. */
static void rows_are(const struct ui_bodies *bodies, const struct odb_model *model,
                     const char *wanted)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = ui_bodies_count(bodies, model->graph->n_nodes);
    for (size_t at = 0; at < n; at++) {
        const struct ui_body_row *body;
        size_t row = ui_bodies_row(bodies, at, &body);
        odb_buf_puts(&out, at ? " " : "");
        if (!body) {
            odb_buf_printf(&out, "#%zu", row);
            assert_int_equal(ui_bodies_place(bodies, row), at);
        } else {
            assert_int_equal(row, 1);
            odb_buf_printf(&out, "%.4s%d:%d", body->path.steps[body->path.n - 1].body.attr,
                           body->depth, body->node);
        }
    }
    assert_string_equal(odb_buf_text(&out), wanted);
    odb_buf_dispose(&out);
}

static void test_body_rows__fold(void **state)
{
    struct odb_model *model = rows_model();
    const struct odb_graph *graph = model->graph;
    struct ui_outline outline;
    struct ui_bodies bodies = {0};
    const struct ui_body_row *body;
    (void)state;
    ui_outline_init(&outline, NULL);
    ui_bodies_make(&bodies, &outline, graph);
    rows_are(&bodies, model, "#0 #1 #2");
    assert_false(ui_bodies_fold(&bodies, graph, 0, false)); /* it has none */
    assert_false(ui_bodies_fold(&bodies, graph, 1, true));  /* it is closed */
    assert_true(ui_bodies_fold(&bodies, graph, 1, false));
    assert_false(ui_bodies_fold(&bodies, graph, 1, false));
    ui_bodies_make(&bodies, &outline, graph);
    rows_are(&bodies, model, "#0 #1 then1:-1 then1:0 else1:-1 else1:0 else1:1 #2");
    ui_bodies_row(&bodies, 3, &body);
    const struct odb_graph *yes = ui_body_row_graph(body);
    assert_string_equal(yes->nodes[body->node].name, "again");
    assert_true(ui_bodies_fold(&bodies, yes, 0, false));
    ui_bodies_make(&bodies, &outline, graph);
    rows_are(
        &bodies, model,
        "#0 #1 then1:-1 then1:0 then2:-1 then2:0 else2:-1 else2:0 else1:-1 else1:0 else1:1 #2");
    assert_true(ui_bodies_fold(&bodies, graph, 1, true)); /* with what is in it */
    ui_bodies_make(&bodies, &outline, graph);
    rows_are(&bodies, model, "#0 #1 #2");
    assert_true(ui_bodies_is_open(&bodies, yes, 0)); /* and it is there again when that is */
    ui_bodies_dispose(&bodies);
    ui_outline_dispose(&outline);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_body_rows__fold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
