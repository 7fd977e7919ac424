/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/file/publish.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/json.h"
#include "report/marked_up.h"
#include "report/outcome.h"
#include "report/report.h"

enum {
    PUBLISH_AROUND = 4,     /* nodes before and behind a culprit that an issue shows */
    PUBLISH_ROWS = 100,     /* values of theirs */
    PUBLISH_CULPRITS = 100, /* that an issue is about */
    PUBLISH_NAME = 24,      /* columns of a name beside the marks of steps */
    PUBLISH_STEPS = 64,     /* marks in a row */
};

static const char *publish_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A number as it is written, or one of the words for what is none; "" where there is none. */
static void publish_number(const json_t *object, const char *key, struct odb_buf *out)
{
    const json_t *number = json_object_get(object, key);
    static const char *const words[] = {"inf", "-inf", "nan"};
    const char *text = json_string_value(number);
    for (size_t i = 0; text && i < ODB_COUNT(words); i++)
        if (!strcmp(text, words[i]))
            odb_buf_puts(out, text);
    if (json_is_number(number))
        odb_buf_printf(out, "%.9g", json_number_value(number));
}

static const json_t *publish_at(const json_t *report, const char *list, const json_t *index)
{
    return json_is_integer(index)
               ? json_array_get(json_object_get(report, list), (size_t)json_integer_value(index))
               : NULL;
}

/* The node that makes a value; NULL: an input, or the model is not at hand. */
static const json_t *publish_producer(const json_t *report, const json_t *value)
{
    return publish_at(report, "nodes", json_object_get(value, "node"));
}

/* A report, and its culprits by what they are: "NODE VALUE" -> place in the list. */
struct publish {
    const json_t *report;     /* borrowed */
    struct odb_map *culprits; /* owned */
    enum odb_outcome outcome;
    bool little_shown; /* and that is a pass */
};

/* The caller's. */
static char *publish_key(const json_t *node, const char *value)
{
    return odb_xasprintf("%lld %s", (long long)json_integer_value(node), value);
}

static struct publish publish_begin(const json_t *report)
{
    struct publish p = {
        .report = report, .culprits = odb_map_new(), .outcome = odb_outcome_of_json(report)};
    p.little_shown =
        p.outcome == ODB_OUTCOME_PASS && json_is_true(json_object_get(report, "little_shown"));
    size_t i;
    const json_t *culprit;
    json_array_foreach(json_object_get(report, "culprits"), i, culprit) {
        const json_t *index = json_object_get(culprit, "index");
        char *key = publish_key(index, publish_text(culprit, "value"));
        if (json_is_integer(index))
            odb_map_add(p.culprits, key, i);
        free(key);
    }
    return p;
}

static const json_t *publish_culprit(const struct publish *p, const json_t *value)
{
    const json_t *node = json_object_get(value, "node");
    char *key = publish_key(node, publish_text(value, "name"));
    size_t i;
    bool found = json_is_integer(node) && odb_map_get(p->culprits, key, &i);
    free(key);
    return found ? json_array_get(json_object_get(p->report, "culprits"), i) : NULL;
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* A spreadsheet computes what begins like a formula, whatever the quotes; behind an apostrophe it
 * is a text. Line ends and the like are shown, so that every line is a row. */
static void publish_cell(struct odb_buf *out, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_puts(&shown, *text && strchr("=+-@", *text) ? "'" : "");
    odb_buf_put_shown(&shown, text);
    bool quoted = shown.len && strpbrk(shown.data, ",\"") != NULL;
    odb_buf_puts(out, quoted ? "\"" : "");
    for (const char *p = odb_buf_text(&shown); *p; p++)
        odb_buf_puts(out, *p == '"' ? "\"\"" : (char[]){*p, 0});
    odb_buf_puts(out, quoted ? "\"," : ",");
    odb_buf_dispose(&shown);
}

void odb_publish_csv(const json_t *report, struct odb_buf *out)
{
    static const char *const numbers[] = {"error", "error_mean", "local_error", "inherited_error",
                                          "gain",  "noise",      "local_noise"};
    size_t i;
    const json_t *value;
    struct publish publish = publish_begin(report), *p = &publish;
    odb_buf_puts(out, "index,name,op_type,value,verdict,");
    for (size_t n = 0; n < ODB_COUNT(numbers); n++)
        odb_buf_printf(out, "%s,", numbers[n]);
    odb_buf_puts(out, "culprit,model_verdict\r\n");
    json_array_foreach(json_object_get(report, "values"), i, value) {
        const json_t *node = publish_producer(report, value), *at = json_object_get(value, "node");
        if (json_is_integer(at))
            odb_buf_printf(out, "%d", (int)json_integer_value(at));
        odb_buf_putc(out, ',');
        publish_cell(out, publish_text(node, "name"));
        publish_cell(out, publish_text(node, "op_type"));
        publish_cell(out, publish_text(value, "name"));
        publish_cell(out, publish_text(value, "verdict"));
        for (size_t n = 0; n < ODB_COUNT(numbers); n++) {
            publish_number(value, numbers[n], out);
            odb_buf_putc(out, ',');
        }
        publish_cell(out, publish_text(publish_culprit(p, value), "kind"));
        odb_buf_printf(out, "%s\r\n", odb_outcome_name(p->outcome));
    }
    odb_map_free(publish.culprits);
}

/* --- JUnit ------------------------------------------------------------------------------------ */

/* seconds: what has them; NULL: no time of its own, for values are judged in the runs that the
 * outputs take. */
static void publish_case(struct odb_buf *out, const char *class, const char *name,
                         const json_t *seconds)
{
    odb_buf_puts(out, "  <testcase classname=\"");
    odb_put_xml(out, class);
    odb_buf_puts(out, "\" name=\"");
    odb_put_xml(out, name);
    odb_buf_puts(out, "\" time=\"");
    if (seconds)
        publish_number(seconds, "seconds", out);
    else
        odb_buf_puts(out, "0");
    odb_buf_puts(out, "\">");
}

/* element: "failure", or "error" where there is no verdict. */
static void publish_failure(struct odb_buf *out, const char *element, const char *type,
                            const char *message, const char *text)
{
    odb_buf_printf(out, "<%s type=\"", element);
    odb_put_xml(out, type);
    odb_buf_puts(out, "\" message=\"");
    odb_put_xml(out, message);
    odb_buf_puts(out, "\">");
    odb_put_xml(out, text);
    odb_buf_printf(out, "</%s>", element);
}

enum publish_result {
    PUBLISH_PASSED,
    PUBLISH_FAILED,
    PUBLISH_SKIPPED,
    PUBLISH_UNKNOWN,
    PUBLISH_RESULTS
};

/* The value of a culprit has failed, whatever its verdict: a search may blame what it did not
 * ask. Where the model passes, one that is off on the way there has not failed. */
static enum publish_result publish_result(const struct publish *p, const json_t *value)
{
    static const char *const skipped[] = {"untested", "untestable", "unsupported"};
    const char *verdict = publish_text(value, "verdict");
    if (publish_culprit(p, value))
        return PUBLISH_FAILED;
    for (size_t i = 0; i < ODB_COUNT(skipped); i++)
        if (!strcmp(verdict, skipped[i]))
            return PUBLISH_SKIPPED;
    if (!strcmp(verdict, "pass"))
        return PUBLISH_PASSED;
    return p->outcome == ODB_OUTCOME_PASS ? PUBLISH_SKIPPED : PUBLISH_FAILED;
}

static void publish_value_case(const struct publish *p, const json_t *value, struct odb_buf *out)
{
    const json_t *node = publish_producer(p->report, value), *culprit;
    publish_case(out, node ? publish_text(node, "op_type") : "value", publish_text(value, "name"),
                 NULL);
    if (publish_result(p, value) == PUBLISH_SKIPPED) {
        odb_buf_puts(out, "<skipped message=\"");
        odb_put_xml(out, publish_text(value, "verdict"));
        odb_buf_puts(out, "\"/>");
    } else if ((culprit = publish_culprit(p, value))) {
        publish_failure(out, "failure", publish_text(culprit, "kind"), "culprit",
                        publish_text(culprit, "text"));
    } else if (publish_result(p, value) == PUBLISH_FAILED) {
        struct odb_buf error = ODB_BUF_INIT;
        odb_buf_printf(&error, "%s, error ", publish_text(value, "verdict"));
        publish_number(value, "error", &error);
        publish_failure(out, "failure", "inherited", odb_buf_text(&error),
                        publish_text(value, "reason"));
        odb_buf_dispose(&error);
    }
    odb_buf_puts(out, "</testcase>\n");
}

/* The tag that opens element, all of it counted there. */
static void publish_counts(const json_t *report, const char *element,
                           const size_t n[PUBLISH_RESULTS], struct odb_buf *out)
{
    size_t all = 0;
    for (int i = 0; i < PUBLISH_RESULTS; i++)
        all += n[i];
    odb_buf_printf(out, "<%s name=\"", element);
    odb_put_xml(out, publish_text(json_object_get(report, "model"), "path"));
    odb_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"",
                   all, n[PUBLISH_FAILED], n[PUBLISH_UNKNOWN], n[PUBLISH_SKIPPED]);
    publish_number(report, "seconds", out);
    odb_buf_puts(out, "\">\n");
}

/* The first case: the model itself. */
static void publish_model_case(const struct publish *p, struct odb_buf *out)
{
    const char *signature = publish_text(p->report, "signature"); /* "": no node is at fault */
    const char *steps = publish_text(json_object_get(p->report, "sequence"), "text");
    publish_case(out, "model", "outputs", p->report);
    if (p->outcome == ODB_OUTCOME_DIVERGES)
        publish_failure(out, "failure", "diverges", *signature ? signature : steps, steps);
    else if (p->outcome == ODB_OUTCOME_NONE)
        publish_failure(out, "error", "none", publish_text(p->report, "failure"), "");
    else if (p->little_shown)
        odb_buf_puts(out, "<system-out>it passes " ODB_REPORT_LITTLE "</system-out>");
    odb_buf_puts(out, "</testcase>\n");
}

void odb_publish_junit(const json_t *report, struct odb_buf *out)
{
    static const enum publish_result results[] = {[ODB_OUTCOME_NONE] = PUBLISH_UNKNOWN,
                                                  [ODB_OUTCOME_PASS] = PUBLISH_PASSED,
                                                  [ODB_OUTCOME_DIVERGES] = PUBLISH_FAILED};
    struct publish publish = publish_begin(report), *p = &publish;
    size_t i, n[PUBLISH_RESULTS] = {0};
    const json_t *value, *values = json_object_get(report, "values");
    n[results[p->outcome]]++;
    json_array_foreach(values, i, value)
        n[publish_result(p, value)]++;
    odb_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    publish_counts(report, "testsuites", n, out);
    publish_counts(report, "testsuite", n, out);
    publish_model_case(p, out);
    json_array_foreach(values, i, value)
        publish_value_case(p, value, out);
    odb_buf_puts(out, "</testsuite>\n</testsuites>\n");
    odb_map_free(publish.culprits);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void publish_line(struct odb_buf *out, const char *what, const char *text)
{
    if (!*text)
        return;
    odb_buf_printf(out, "- %s: ", what);
    odb_put_markdown(out, text);
    odb_buf_putc(out, '\n');
}

static void publish_row(const struct publish *p, const json_t *value, struct odb_buf *out)
{
    const json_t *node = publish_producer(p->report, value);
    odb_buf_printf(out, "| %d | ", (int)json_integer_value(json_object_get(value, "node")));
    odb_put_markdown(out, publish_text(node, "op_type"));
    odb_buf_puts(out, " | ");
    odb_put_markdown(out, publish_text(value, "name"));
    odb_buf_puts(out, " | ");
    odb_put_markdown(out, publish_text(value, "verdict"));
    odb_buf_puts(out, publish_culprit(p, value) ? ", **culprit** | " : " | ");
    publish_number(value, "error", out);
    odb_buf_puts(out, " | ");
    publish_number(value, "noise", out);
    odb_buf_puts(out, " |\n");
}

static void publish_around(const struct publish *p, const json_t *culprit, struct odb_buf *out)
{
    size_t i, rows = 0;
    const json_t *value;
    json_int_t index = json_integer_value(json_object_get(culprit, "index"));
    index = ODB_MIN(ODB_MAX(index, 0), INT32_MAX); /* as those of nodes are */
    odb_buf_puts(out, "| # | operator | value | verdict | error | noise |\n"
                      "| ---: | --- | --- | --- | ---: | ---: |\n");
    json_array_foreach(json_object_get(p->report, "values"), i, value) {
        const json_t *at = json_object_get(value, "node");
        if (json_is_integer(at) && json_integer_value(at) >= index - PUBLISH_AROUND &&
            json_integer_value(at) <= index + PUBLISH_AROUND && rows++ < PUBLISH_ROWS)
            publish_row(p, value, out);
    }
    odb_buf_putc(out, '\n');
}

/* --- steps of a sequence ---------------------------------------------------------------------- */

static void publish_steps_name(const char *name, struct odb_buf *out)
{
    odb_buf_put_field(out, name, PUBLISH_NAME);
    odb_buf_putc(out, ' ');
}

/* What a step gave of output number o: right, wrong where the step is, nothing, not judged. */
static char publish_mark(const json_t *step, size_t o)
{
    enum odb_verdict verdict, forced;
    const json_t *output = json_array_get(json_object_get(step, "outputs"), o);
    if (*publish_text(step, "failure"))
        return '!';
    if (!odb_verdict_parse(&verdict, publish_text(output, "verdict")) ||
        !odb_verdict_parse(&forced, publish_text(step, "forced")) ||
        (verdict != ODB_VERDICT_PASS && !odb_verdict_is_bad(verdict)))
        return '-';
    if (json_is_true(json_object_get(step, "moved")))
        return 'o';
    return odb_verdict_is_bad(verdict) && odb_verdict_is_bad(forced) ? 'x' : '.';
}

/* Outputs, and nodes that were tried alone, by steps [first, end). */
static void publish_some_steps(const json_t *sequence, size_t first, size_t end,
                               struct odb_buf *out)
{
    const json_t *steps = json_object_get(sequence, "steps"), *item;
    size_t i;
    publish_steps_name("step", out);
    for (size_t k = first; k < end; k++)
        odb_buf_printf(out, "%zu", k % 10);
    odb_buf_putc(out, '\n');
    json_array_foreach(json_object_get(json_array_get(steps, 0), "outputs"), i, item) {
        publish_steps_name(publish_text(item, "name"), out);
        for (size_t k = first; k < end; k++)
            odb_buf_putc(out, publish_mark(json_array_get(steps, k), i));
        odb_buf_putc(out, '\n');
    }
    json_array_foreach(json_object_get(sequence, "nodes"), i, item) {
        const char *marks = publish_text(item, "steps");
        size_t n = strlen(marks);
        char *name =
            odb_xasprintf("#%d %s", (int)json_integer_value(json_object_get(item, "index")),
                          publish_text(item, "name"));
        publish_steps_name(name, out);
        free(name);
        for (size_t k = first; k < end; k++)
            odb_buf_putc(out, k < n && strchr("x.", marks[k]) ? marks[k] : '-');
        odb_buf_putc(out, '\n');
    }
}

/* A block of code, whose fence no name can end: what ends a line is escaped in it. */
static void publish_steps(const json_t *report, struct odb_buf *out)
{
    const json_t *sequence = json_object_get(report, "sequence");
    size_t n = json_array_size(json_object_get(sequence, "steps"));
    if (!n)
        return;
    odb_buf_puts(out, "```text\n");
    for (size_t first = 0; first < n; first += PUBLISH_STEPS)
        publish_some_steps(sequence, first, ODB_MIN(first + PUBLISH_STEPS, n), out);
    odb_buf_puts(
        out,
        ". agrees   x diverges   o hangs on the order   - not judged   ! gave nothing\n```\n\n");
}

/* --- all of it -------------------------------------------------------------------------------- */

void odb_publish_markdown(const json_t *report, struct odb_buf *out)
{
    static const char *const titles[] = {[ODB_OUTCOME_NONE] = "no verdict",
                                         [ODB_OUTCOME_PASS] = "nothing diverges",
                                         [ODB_OUTCOME_DIVERGES] = "the target diverges"};
    struct publish publish = publish_begin(report), *p = &publish;
    size_t i;
    const json_t *culprit, *culprits = json_object_get(report, "culprits");
    const json_t *model = json_object_get(report, "model");
    odb_buf_puts(out, "## ");
    odb_put_markdown(out, publish_text(model, "path"));
    odb_buf_printf(out, ": %s%s\n\n", titles[p->outcome],
                   p->little_shown ? ", " ODB_REPORT_LITTLE : "");
    publish_line(out, "verdict", odb_outcome_name(p->outcome));
    publish_line(out, p->outcome == ODB_OUTCOME_NONE ? "for" : "the search did not end",
                 publish_text(report, "failure"));
    publish_line(out, "steps", publish_text(json_object_get(report, "sequence"), "text"));
    publish_line(out, "target", publish_text(report, "target"));
    publish_line(out, "which is", publish_text(report, "target_description"));
    publish_line(out, "not given the file itself",
                 publish_text(json_object_get(report, "plain_model"), "text"));
    publish_line(out, "reference", publish_text(report, "reference"));
    publish_line(out, "tolerance", publish_text(report, "tolerance"));
    publish_line(out, "chosen for inputs", publish_text(p->report, "chosen"));
    publish_line(out, "model's SHA-256", publish_text(model, "sha256"));
    publish_line(out, "searched on", publish_text(report, "host"));
    publish_line(out, "by onnxdbg", publish_text(report, "onnxdbg"));
    odb_buf_putc(out, '\n');
    publish_steps(report, out);
    json_array_foreach(culprits, i, culprit) {
        if (i == PUBLISH_CULPRITS) {
            odb_buf_printf(out, "%zu more culprits are in the report.\n\n",
                           json_array_size(culprits) - i);
            break;
        }
        odb_buf_printf(out, "### #%d ", (int)json_integer_value(json_object_get(culprit, "index")));
        odb_put_markdown(out, publish_text(culprit, "name"));
        odb_buf_puts(out, " (");
        odb_put_markdown(out, publish_text(culprit, "op_type"));
        odb_buf_puts(out, "): ");
        odb_put_markdown(out, publish_text(culprit, "kind"));
        odb_buf_puts(out, ", confidence ");
        odb_put_markdown(out, publish_text(culprit, "confidence"));
        odb_buf_puts(out, "\n\n");
        odb_put_markdown(out, publish_text(culprit, "text"));
        odb_buf_puts(out, "\n\n");
        publish_around(p, culprit, out);
    }
    json_array_foreach(json_object_get(report, "warnings"), i, culprit) {
        odb_buf_puts(out, "Warning: ");
        odb_put_markdown(out, json_string_value(culprit));
        odb_buf_puts(out, "\n\n");
    }
    odb_map_free(publish.culprits);
}
