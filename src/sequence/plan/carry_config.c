/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs that a genai_config.json beside the model says, as onnxruntime-genai reads it: templates
 * such as "past_%d_k" of the names of states, and how other inputs are called.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/star.h"
#include "sequence/plan/plan_int.h"
#include "system/file.h"

#define CONFIG_FILE "genai_config.json"
#define CONFIG_MOST (16 << 20) /* bytes */

static const struct {
    const char *input, *output; /* keys of the two templates */
} config_pairs[] = {
    {"past_key_names", "present_key_names"},
    {"past_value_names", "present_value_names"},
    {"past_names", "present_names"},
    {"rnn_prev_states", "rnn_states"},
    {"cache_last_channel", "cache_last_channel_next"},
    {"cache_last_time", "cache_last_time_next"},
    {"cache_last_channel_len", "cache_last_channel_len_next"},
};

/* *out: NULL where there is no such file. */
static enum odb_status config_read(json_t **out, const char *path, struct odb_error *err)
{
    struct stat info;
    json_error_t where;
    FILE *file;
    *out = NULL;
    if (stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return ODB_OK;
    ODB_TRY(odb_file_open(&file, path, err));
    if (fstat(fileno(file), &info) == 0 && info.st_size <= CONFIG_MOST)
        *out = json_loadf(file, JSON_REJECT_DUPLICATES, &where);
    else
        snprintf(where.text, sizeof where.text, "more than %d bytes", CONFIG_MOST);
    fclose(file);
    if (*out)
        return ODB_OK;
    odb_fail(err, ODB_E_FORMAT, "it cannot be read as JSON: %s", where.text);
    return odb_error_remedy(err, "mend it, or move it away: plans are made without it");
}

/* "past_%d_k" as a pattern, "past_*_k"; the caller's. */
static char *config_pattern(const char *text)
{
    const char *at = strstr(text, "%d");
    return at ? odb_xasprintf("%.*s*%s", (int)(at - text), text, at + 2) : odb_xstrdup(text);
}

static void config_pair(struct odb_plan *plan, const char *in, const char *out)
{
    const struct odb_graph *graph = plan->model->graph;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_value *input = &graph->values[plan->inputs.items[i].value];
        const char *star;
        size_t n;
        int axis;
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY ||
            !odb_star_match(in, strlen(in), input->name, &star, &n))
            continue;
        char *name = odb_star_fill(out, strlen(out), star, n);
        int output = plan_find_output(plan, name);
        free(name);
        if (output != ODB_NO_VALUE && !plan_is_carried(plan, output) &&
            plan_fits(plan, input, &graph->values[output], &axis))
            plan_carry(plan, i, output, ODB_BY_CONFIG, axis, odb_xstrdup(CONFIG_FILE " has it so"));
    }
}

/* One part of the model, such as the decoder. */
static void config_part(struct odb_plan *plan, json_t *part)
{
    json_t *inputs = json_object_get(part, "inputs"), *outputs = json_object_get(part, "outputs");
    json_t *value;
    const char *key;
    for (size_t r = 0; r < ODB_COUNT(config_pairs); r++) {
        const char *in = json_string_value(json_object_get(inputs, config_pairs[r].input));
        const char *out = json_string_value(json_object_get(outputs, config_pairs[r].output));
        if (!in || !out)
            continue;
        char *from = config_pattern(in), *to = config_pattern(out);
        config_pair(plan, from, to);
        free(from);
        free(to);
    }
    json_object_foreach(inputs, key, value) {
        int i = json_string_value(value) ? plan_find_input(plan, json_string_value(value)) : -1;
        if (i >= 0)
            plan_text(&plan->inputs.items[i].role, key);
    }
}

/* Whether a part is this file's: it names no other. What is a pipeline has several, with the names
 * of the whole. */
static bool config_is_own(const struct odb_plan *plan, const json_t *part)
{
    const char *file = json_string_value(json_object_get(part, "filename"));
    const char *path = plan->model->path, *base = strrchr(path, '/');
    return !file || json_object_get(part, "pipeline") || !strcmp(file, base ? base + 1 : path);
}

enum odb_status plan_find_config(struct odb_plan *plan, struct odb_error *err)
{
    json_t *root, *part;
    const char *key;
    if (!plan->model->path[0])
        return ODB_OK;
    char *path = odb_xasprintf("%s/" CONFIG_FILE, *plan->model->dir ? plan->model->dir : ".");
    enum odb_status status = config_read(&root, path, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
    json_object_foreach(json_object_get(root, "model"), key, part)
        if (config_is_own(plan, part))
            config_part(plan, part);
    json_decref(root);
    free(path);
    return status;
}
