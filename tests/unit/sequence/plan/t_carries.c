/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is carried in every model of the shared data, against tests/sequences/carries.tsv: models
 * that are not there have no state, and nothing may be carried or asked for.
 */
#include <dirent.h>

#include "sequence/plan/plan_int.h"
#include "tests/help/models.h"

/* "MODEL carry OUTPUT=INPUT", "MODEL ask --carry …", a line each. */
static void carries_put(const struct odb_model *model, const char *name, struct odb_buf *out)
{
    const struct odb_plan_options usual = {0};
    struct odb_plan *plan = NULL;
    MODELS_OK(odb_plan_make(&plan, model, &usual, &why));
    const struct odb_value *values = model->graph->values;
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY)
            odb_buf_printf(out, "%s\tcarry\t%s=%s\n", name,
                           values[plan->inputs.items[i].output].name,
                           values[plan->inputs.items[i].value].name);
    for (size_t i = 0; i < plan->asks.n; i++)
        odb_buf_printf(out, "%s\task\t%.*s\n", name, (int)(strcspn(plan->asks.items[i], "#") - 1),
                       plan->asks.items[i]);
    odb_plan_free(plan);
}

/* The lines of the table that are of this model. */
static void carries_wanted(const char *table, const char *name, struct odb_buf *out)
{
    size_t n = strlen(name);
    for (const char *line = table; *line; line = strchr(line, '\n') + 1)
        if (!strncmp(line, name, n) && line[n] == '\t')
            odb_buf_add(out, line, strcspn(line, "\n") + 1);
}

/* How many of the folder's models could be read. */
static size_t carries_check(const char *folder, const char *path, const char *table,
                            struct odb_buf *wrong)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    size_t read = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char *name = odb_xasprintf("%s/%s", folder, names[i]->d_name);
        char *file = odb_xasprintf("%s/%s/model.onnx", path, names[i]->d_name);
        struct odb_buf had = ODB_BUF_INIT, wanted = ODB_BUF_INIT;
        struct odb_model *model = NULL;
        struct odb_error why = ODB_ERROR_INIT;
        if (odb_model_open(&model, file, &why) == ODB_OK) { /* some cases are no valid models */
            read++;
            carries_put(model, name, &had);
            carries_wanted(table, name, &wanted);
            if (strcmp(odb_buf_text(&had), odb_buf_text(&wanted)) != 0)
                odb_buf_printf(wrong, "had:\n%swanted:\n%s", odb_buf_text(&had),
                               odb_buf_text(&wanted));
        }
        odb_model_free(model);
        odb_buf_dispose(&had);
        odb_buf_dispose(&wanted);
        free(file);
        free(name);
        free(names[i]);
    }
    free(names);
    return read;
}

static void carries_read(struct odb_buf *table)
{
    char line[1024];
    FILE *f = fopen("tests/sequences/carries.tsv", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        odb_buf_puts(table, line);
    fclose(f);
}

static void carries_folder(const char *folder, size_t least)
{
    char *path = models_shared(folder);
    struct odb_buf wrong = ODB_BUF_INIT, table = ODB_BUF_INIT;
    if (!path)
        MODELS_SKIP();
    carries_read(&table);
    size_t read = carries_check(folder, path, odb_buf_text(&table), &wrong);
    fputs(odb_buf_text(&wrong), stderr); /* it is long */
    assert_int_equal(wrong.len, 0);
    if (read < least)
        fail_msg("only %zu models of %s were read", read, folder);
    odb_buf_dispose(&wrong);
    odb_buf_dispose(&table);
    free(path);
}

static void test_carries__models(void **state)
{
    (void)state;
    carries_folder("models", 130);
}

static void test_carries__cases(void **state)
{
    (void)state;
    carries_folder("ort-cases", 650);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carries__models),
        cmocka_unit_test(test_carries__cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
