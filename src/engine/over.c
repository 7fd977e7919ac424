/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/over.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/blame.h"
#include "engine/ddmin.h"
#include "engine/hooks.h"
#include "engine/json.h"
#include "engine/probe.h"
#include "engine/trace.h"
#include "executor/executor.h"

#define OVER_EACH 16    /* options that are asked one by one where all together pass */
#define OVER_LEVELS 256 /* in a range of numbers */
#define OVER_DISABLE "config.optimization.disable_specified_optimizers="

/* --- levels ----------------------------------------------------------------------------------- */

struct over_levels {
    struct odb_over_level *levels; /* borrowed */
    size_t n;
    enum odb_status (*ask)(void *payload, size_t level, enum odb_answer *answer,
                           struct odb_error *err);
    void *payload;
};

static enum odb_status over_ask(struct over_levels *l, size_t i, struct odb_error *err)
{
    if (l->levels[i].asked)
        return ODB_OK;
    ODB_TRY(l->ask(l->payload, i, &l->levels[i].answer, err));
    l->levels[i].asked = true;
    return ODB_OK;
}

static bool over_tested(const struct over_levels *l, size_t i)
{
    return l->levels[i].asked && l->levels[i].answer != ODB_ANSWER_UNTESTABLE;
}

/* The level nearest to the middle of low … high, not among them, that can be tested; low: none. */
static enum odb_status over_middle(struct over_levels *l, size_t low, size_t high, size_t *at,
                                   struct odb_error *err)
{
    size_t middle = low + (high - low) / 2;
    *at = low;
    for (size_t d = 0; d < high - low; d++)
        for (int side = 0; side < 2; side++) {
            size_t i = side ? middle + d : middle - d;
            if ((!side && middle < low + d) || i <= low || i >= high || (side && !d))
                continue;
            ODB_TRY(over_ask(l, i, err));
            if (over_tested(l, i)) {
                *at = i;
                return ODB_OK;
            }
        }
    return ODB_OK;
}

static enum odb_status over_halve(struct over_levels *l, size_t low, size_t high,
                                  struct odb_error *err)
{
    for (;;) {
        size_t at;
        ODB_TRY(over_middle(l, low, high, &at, err));
        if (at == low)
            return ODB_OK;
        if (l->levels[at].answer == l->levels[low].answer)
            low = at;
        else
            high = at;
    }
}

/* The first change from good to bad among what was asked, else the first from bad to good. */
static void over_conclude(const struct over_levels *l, struct odb_over_change *change)
{
    int last = -1;
    bool breaks = false;
    *change = (struct odb_over_change){-1, -1, 0};
    for (size_t i = 0; i < l->n; i++) {
        if (!over_tested(l, i))
            continue;
        bool bad = l->levels[i].answer == ODB_ANSWER_BAD;
        if (last >= 0 && l->levels[last].answer != l->levels[i].answer) {
            change->changes++;
            if (change->good < 0 || (bad && !breaks)) {
                change->good = bad ? last : (int)i;
                change->bad = bad ? (int)i : last;
            }
            breaks |= bad;
        }
        last = (int)i;
    }
}

enum odb_status
odb_over_levels(struct odb_over_level *levels, size_t n, bool all, struct odb_over_change *change,
                enum odb_status (*ask)(void *, size_t, enum odb_answer *, struct odb_error *),
                void *payload, struct odb_error *err)
{
    struct over_levels l = {levels, n, ask, payload};
    size_t low = 0, high = n ? n - 1 : 0;
    enum odb_status status = ODB_OK;
    for (; low < n && status == ODB_OK; low++)
        if ((status = over_ask(&l, low, err)) == ODB_OK && over_tested(&l, low))
            break;
    for (; high > low && status == ODB_OK; high--)
        if ((status = over_ask(&l, high, err)) == ODB_OK && over_tested(&l, high))
            break;
    ODB_TRY(status);
    bool differ = low < high && levels[low].answer != levels[high].answer;
    if (differ && !all)
        ODB_TRY(over_halve(&l, low, high, err));
    for (size_t i = 0; i < n && (!differ || all); i++)
        ODB_TRY(over_ask(&l, i, err));
    over_conclude(&l, change);
    return ODB_OK;
}

/* --- sets ------------------------------------------------------------------------------------- */

struct over_set {
    bool *on; /* borrowed: the smallest so far that fails */
    size_t n;
    bool *trial; /* owned: one alone */
    enum odb_status (*ask)(void *payload, const bool *on, enum odb_answer *answer,
                           struct odb_error *err);
    void *payload;
};

static enum odb_status over_narrow_ask(void *payload, bool *keep, enum odb_answer *answer,
                                       struct odb_error *err)
{
    const struct over_set *s = payload;
    *answer = ODB_ANSWER_UNTESTABLE;
    return odb_count_marks(keep, s->n) ? s->ask(s->payload, keep, answer, err)
                                       : ODB_OK; /* none was */
}

/* All together pass: does one alone fail? */
static enum odb_status over_singles(struct over_set *s, bool *fails, struct odb_error *err)
{
    *fails = true;
    for (size_t i = 0; i < s->n && s->n <= OVER_EACH; i++) {
        enum odb_answer answer;
        memset(s->trial, 0, s->n * sizeof *s->trial);
        s->trial[i] = true;
        ODB_TRY(s->ask(s->payload, s->trial, &answer, err));
        if (answer != ODB_ANSWER_BAD)
            continue;
        memcpy(s->on, s->trial, s->n * sizeof *s->on);
        return ODB_OK;
    }
    *fails = false;
    return ODB_OK;
}

static enum odb_status over_smallest(struct over_set *s, enum odb_over_outcome *outcome,
                                     struct odb_error *err)
{
    enum odb_answer none, all;
    memset(s->on, 0, s->n * sizeof *s->on);
    ODB_TRY(s->ask(s->payload, s->on, &none, err));
    *outcome = ODB_OVER_ALWAYS;
    if (none == ODB_ANSWER_BAD)
        return ODB_OK;
    for (size_t i = 0; i < s->n; i++)
        s->on[i] = true;
    ODB_TRY(s->ask(s->payload, s->on, &all, err));
    bool fails = all == ODB_ANSWER_BAD;
    if (fails)
        ODB_TRY(odb_ddmin(s->on, s->n, &(struct odb_ddmin){over_narrow_ask, s}, err));
    else
        ODB_TRY(over_singles(s, &fails, err));
    *outcome = fails ? (none == ODB_ANSWER_GOOD ? ODB_OVER_SOME : ODB_OVER_UNKNOWN)
                     : (all == ODB_ANSWER_GOOD ? ODB_OVER_NEVER : ODB_OVER_UNKNOWN);
    return ODB_OK;
}

enum odb_status odb_over_smallest(bool *on, size_t n, enum odb_over_outcome *outcome,
                                  enum odb_status (*ask)(void *, const bool *, enum odb_answer *,
                                                         struct odb_error *),
                                  void *payload, struct odb_error *err)
{
    struct over_set s = {
        .on = on, .n = n, .trial = odb_new_n(bool, n + 1), .ask = ask, .payload = payload};
    enum odb_status status = over_smallest(&s, outcome, err);
    free(s.trial);
    return status;
}

/* --- the grammar ------------------------------------------------------------------------------ */

static enum odb_status over_refuse(struct odb_error *err, const char *why)
{
    odb_fail(err, ODB_E_USAGE, "%s", why);
    odb_error_remedy(err, "write SPEC;SPEC;…, SPEC,KEY=LOW..HIGH, SPEC,{OPTION|OPTION|…} or "
                          "ort,{optimizers}");
    return odb_error_at(err, "--over");
}

/* Appends the pieces of text between separators, which a backslash escapes. */
static void over_split(struct odb_over *over, const char *text, size_t n, char separator)
{
    struct odb_buf piece = ODB_BUF_INIT;
    for (size_t i = 0; i <= n; i++) {
        bool escaped = i + 1 < n && text[i] == '\\' && text[i + 1] == separator;
        if (i < n && (escaped || text[i] != separator)) {
            odb_buf_putc(&piece, text[escaped ? ++i : i]);
        } else if (piece.len) {
            odb_push(&over->parts, odb_buf_take(&piece));
        }
    }
    odb_buf_dispose(&piece);
}

static void over_optimizers(struct odb_over *over)
{
    static const char *const names[] = {
#define OPTIMIZER(name) #name,
#include "engine/optimizers.def"
#undef OPTIMIZER
    };
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        odb_push(&over->parts, odb_xstrdup(names[i]));
}

/* "SPEC,{…}": what follows the brace belongs to the spec. */
static enum odb_status over_parse_set(struct odb_over *out, const char *text, const char *open,
                                      struct odb_error *err)
{
    const char *close = strchr(open, '}');
    size_t before = (size_t)(open - text);
    if (!close || before < 2 || text[before - 1] != ',')
        return over_refuse(err, "a set is written SPEC,{OPTION|OPTION}");
    out->base = odb_xasprintf("%.*s%s", (int)before - 1, text, close + 1);
    if (!strncmp(open, "{optimizers}", 12)) {
        out->kind = ODB_OVER_OPTIMIZERS;
        over_optimizers(out);
        return ODB_OK;
    }
    out->kind = ODB_OVER_SET;
    over_split(out, open + 1, (size_t)(close - open - 1), '|');
    return out->parts.n ? ODB_OK : over_refuse(err, "the set is empty");
}

static enum odb_status over_refuse_levels(struct odb_error *err, const char *executor,
                                          const char *key, const struct odb_executor_option *row)
{
    int n = (int)strcspn(key, "=");
    if (row && row->values)
        odb_fail(err, ODB_E_USAGE, "levels of %.*s stand among %s", n, key, row->values);
    else
        odb_fail(err, ODB_E_USAGE, "%.*s has no option %.*s with choices that have an order",
                 (int)strcspn(executor, ",:"), executor, n, key);
    odb_error_remedy(err, "`onnxdbg executors` lists options; or write SPEC;SPEC;…");
    return odb_error_at(err, "--over");
}

/* Where a word stands among "a|b|c"; -1: nowhere. */
static int over_choice(const char *choices, const char *word, size_t n)
{
    int at = 0;
    for (const char *p = choices; p; at++) {
        size_t k = strcspn(p, "|");
        if (k == n && !strncmp(p, word, n))
            return at;
        p = p[k] ? p + k + 1 : NULL;
    }
    return -1;
}

static char *over_word(const char *choices, int at)
{
    const char *p = choices;
    for (; at > 0; at--)
        p += strcspn(p, "|") + 1;
    return odb_xstrndup(p, strcspn(p, "|"));
}

/* Levels of numbers, LOW..HIGH. False: they are none. */
static bool over_numbers(struct odb_over *out, const char *text, size_t head, const char *low,
                         const char *high, const char *tail)
{
    char *end;
    long a = strtol(low, &end, 10), b;
    if (end == low || strncmp(end, "..", 2) != 0)
        return false;
    b = strtol(high, &end, 10);
    if (end == high || end != tail || labs(b - a) >= OVER_LEVELS)
        return false;
    for (long v = a;; v += a < b ? 1 : -1) {
        odb_push(&out->parts, odb_xasprintf("%.*s%ld%s", (int)head, text, v, tail));
        if (v == b)
            return true;
    }
}

/* "SPEC,KEY=LOW..HIGH": in the order of the option's choices, or of numbers. */
static enum odb_status over_parse_levels(struct odb_over *out, const char *text, const char *dots,
                                         struct odb_error *err)
{
    const char *low = dots, *key, *high = dots + 2, *tail = high + strcspn(high, ",@");
    while (low > text && low[-1] != '=' && low[-1] != ',')
        low--;
    if (low == text || low[-1] != '=')
        return over_refuse(err, "levels are written KEY=LOW..HIGH");
    for (key = low - 1; key > text && key[-1] != ',';)
        key--;
    out->kind = ODB_OVER_LEVELS;
    if (over_numbers(out, text, (size_t)(low - text), low, high, tail))
        return ODB_OK;
    const char *inner = text;
    for (const char *p = text; p < key; p++)
        inner = *p == '@' ? p + 1 : inner;
    char *kind = odb_xstrndup(inner, strcspn(inner, ",:"));
    char *name = odb_xstrndup(key, (size_t)(low - 1 - key));
    const struct odb_executor_ops *ops = odb_executor_find(kind);
    const struct odb_executor_option *row = ops ? odb_spec_row(ops->options, name) : NULL;
    free(kind);
    free(name);
    int from = row && row->values ? over_choice(row->values, low, (size_t)(dots - low)) : -1;
    int to = row && row->values ? over_choice(row->values, high, (size_t)(tail - high)) : -1;
    if (!row || from < 0 || to < 0)
        return over_refuse_levels(err, inner, key, row);
    for (int v = from;; v += from < to ? 1 : -1) {
        char *word = over_word(row->values, v);
        odb_push(&out->parts, odb_xasprintf("%.*s%s%s", (int)(low - text), text, word, tail));
        free(word);
        if (v == to)
            return ODB_OK;
    }
}

/* "ort:opt=…" is "ort,opt=…" where the executor has that very option. Owned by the caller. */
static char *over_with_comma(const char *text)
{
    char *copy = odb_xstrdup(text);
    size_t kind = strcspn(text, ":,;@{");
    size_t key = text[kind] == ':' ? strcspn(text + kind + 1, "=,;@{") : 0;
    if (!key || text[kind + 1 + key] != '=')
        return copy;
    copy[kind] = copy[kind + 1 + key] = '\0';
    const struct odb_executor_ops *ops = odb_executor_find(copy);
    const struct odb_executor_option *row =
        ops ? odb_spec_row(ops->options, copy + kind + 1) : NULL;
    bool option = row && !strchr(row->key, '*'); /* any key may be part of its argument */
    copy[kind] = option ? ',' : ':';
    copy[kind + 1 + key] = '=';
    return copy;
}

static enum odb_status over_parse(struct odb_over *out, const char *text, struct odb_error *err)
{
    const char *open = strchr(text, '{'), *dots = strstr(text, "..");
    if (open)
        return over_parse_set(out, text, open, err);
    if (dots && !strchr(text, ';') && dots[2] && dots[2] != '/')
        return over_parse_levels(out, text, dots, err);
    over_split(out, text, strlen(text), ';');
    return out->parts.n > 1 ? ODB_OK : over_refuse(err, "there are no two specs to compare");
}

enum odb_status odb_over_parse(struct odb_over *out, const char *text, struct odb_error *err)
{
    char *plain = over_with_comma(text);
    *out = (struct odb_over){.kind = ODB_OVER_LIST};
    enum odb_status status = over_parse(out, plain, err);
    free(plain);
    return status;
}

void odb_over_dispose(struct odb_over *over)
{
    for (size_t i = 0; i < over->parts.n; i++)
        free(over->parts.items[i]);
    free(over->parts.items);
    free(over->base);
}

char *odb_over_spec(const struct odb_over *over, const bool *on)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = 0;
    odb_buf_puts(&out, over->base); /* what a wrapper wraps stands last */
    for (size_t i = 0; i < over->parts.n; i++) {
        if (over->kind == ODB_OVER_SET && on[i])
            odb_buf_printf(&out, ",%s", over->parts.items[i]);
        if (over->kind == ODB_OVER_OPTIMIZERS && !on[i])
            odb_buf_printf(&out, "%s%s", n++ ? ";" : "," OVER_DISABLE, over->parts.items[i]);
    }
    return odb_buf_take(&out);
}

/* --- runs ------------------------------------------------------------------------------------- */

struct over {
    const struct odb_over *what;
    const struct odb_model *model;
    const struct odb_feeds *feeds;
    const struct odb_bisect_options *options;
    struct odb_over_found *out;
    int *outputs; /* owned */
    size_t n_outputs;
    struct odb_error refusal; /* the last */
};

struct over_judging {
    const struct over *over;
    struct odb_over_run *run;
};

/* The outputs that a plain run gave. */
static enum odb_status over_judge(void *payload, const struct odb_probe *probe,
                                  enum odb_verdict *shown, struct odb_error *err)
{
    const struct over_judging *j = payload;
    const struct odb_bisect_options *options = j->over->options;
    struct odb_judge judge = {options->trace, &options->tolerance};
    double *error = &j->run->error;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
        if (report.error.known)
            *error = isnan(*error) ? report.error.v : fmax(*error, report.error.v);
    }
    return ODB_OK;
}

static enum odb_status over_ask_target(struct over *o, struct odb_pool *pool,
                                       struct odb_over_run *run, struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_probed probed;
    struct over_judging judging = {o, run};
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, o->n_outputs + 1);
    struct odb_probe probe = {.what = run->spec,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = o->outputs,
                              .n_values = o->n_outputs,
                              .outputs = had};
    run->error = NAN;
    odb_prober_init(&prober, o->model, o->feeds, o->options->trace, pool, o->options->hooks);
    enum odb_status status = odb_probe_ask(&prober, &probe, over_judge, &judging, &probed, err);
    run->verdict = probed.verdict;
    if (status == ODB_OK && probed.had != ODB_OK) {
        *err = probed.why;
        status = probed.had;
    }
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    free(had);
    return status;
}

static enum odb_answer over_answer(enum odb_verdict verdict)
{
    return odb_verdict_is_bad(verdict)   ? ODB_ANSWER_BAD
           : verdict == ODB_VERDICT_PASS ? ODB_ANSWER_GOOD
                                         : ODB_ANSWER_UNTESTABLE;
}

/* Asks a spec, once. What the target says of it is no failure of the search. Takes spec and label.
 */
static enum odb_status over_run_take(struct over *o, char *spec, char *label,
                                     enum odb_answer *answer, struct odb_error *err)
{
    struct odb_over_run run = {
        .spec = spec, .label = label, .verdict = ODB_VERDICT_UNTESTABLE, .error = NAN};
    struct odb_pool *pool = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (!strcmp(o->out->runs.items[i].spec, spec)) {
            *answer = over_answer(o->out->runs.items[i].verdict);
            free(spec);
            free(label);
            return ODB_OK;
        }
    enum odb_status status = odb_hooks_cancelled(&o->options->hooks, &why);
    if (status == ODB_OK)
        status = odb_pool_open(&pool, spec, &why);
    if (status == ODB_OK)
        status = over_ask_target(o, pool, &run, &why);
    odb_pool_close(pool);
    *answer = over_answer(run.verdict);
    odb_push(&o->out->runs, run);
    bool fatal = status == ODB_CANCELLED || status == ODB_E_USAGE || status == ODB_E_NOMEM;
    if (status != ODB_OK)
        o->refusal = why;
    if (fatal && err)
        *err = why;
    return fatal ? status : ODB_OK;
}

static enum odb_status over_level(void *payload, size_t level, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct over *o = payload;
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n,
                       o->what->parts.n);
    return over_run_take(o, odb_xstrdup(o->what->parts.items[level]), NULL, answer, err);
}

static char *over_label(const struct over *o, const bool *on)
{
    size_t n = o->what->parts.n, count = odb_count_marks(on, n);
    if (o->what->kind != ODB_OVER_OPTIMIZERS || count == n)
        return NULL;
    return odb_xasprintf("%s with %zu of %zu optimizers", o->what->base, count, n);
}

static enum odb_status over_subset(void *payload, const bool *on, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct over *o = payload;
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n, 0);
    return over_run_take(o, odb_over_spec(o->what, on), over_label(o, on), answer, err);
}

/* --- what it came to -------------------------------------------------------------------------- */

static const struct odb_over_run *over_find(const struct over *o, const char *spec)
{
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (!strcmp(o->out->runs.items[i].spec, spec))
            return &o->out->runs.items[i];
    return NULL;
}

/* "SPEC passes (error 2e-07)" */
static void over_put_run(const struct over *o, const char *spec, const char *called,
                         struct odb_buf *out)
{
    const struct odb_over_run *run = over_find(o, spec);
    odb_buf_put_shown(out, called);
    if (!run)
        return;
    bool plain = run->verdict == ODB_VERDICT_PASS || run->verdict == ODB_VERDICT_FAIL;
    odb_buf_puts(out, run->verdict == ODB_VERDICT_PASS   ? " passes"
                      : odb_verdict_is_bad(run->verdict) ? " fails"
                                                         : " cannot be tested");
    if (!plain && run->verdict != ODB_VERDICT_UNTESTABLE)
        odb_buf_printf(out, " (%s)", odb_verdict_name(run->verdict));
    else if (plain && !isnan(run->error))
        odb_buf_printf(out, " (error %.3g)", run->error);
}

/* The part of one spec where another differs: "opt=extended"; all of it where that is no option. */
static char *over_difference(const char *spec, const char *other)
{
    size_t same = 0, n = strlen(spec), m = strlen(other), end = 0;
    while (spec[same] && spec[same] == other[same])
        same++;
    while (same && spec[same - 1] != ',')
        same--;
    while (end < n - same && end < m - ODB_MIN(m, same) && spec[n - end - 1] == other[m - end - 1])
        end++;
    while (end && spec[n - end] != ',' && spec[n - end] != '@')
        end--;
    return same && n - end > same ? odb_xstrndup(spec + same, n - end - same) : odb_xstrdup(spec);
}

static void over_tell_levels(struct over *o, const struct odb_over_change *change)
{
    char *const *specs = o->what->parts.items;
    struct odb_buf out = ODB_BUF_INIT;
    size_t last = o->what->parts.n - 1, tested = 0, failed = 0;
    for (size_t i = 0; i < o->out->runs.n; i++) {
        enum odb_answer answer = over_answer(o->out->runs.items[i].verdict);
        tested += answer != ODB_ANSWER_UNTESTABLE;
        failed += answer == ODB_ANSWER_BAD;
    }
    o->out->fails = failed > 0;
    if (change->good >= 0) {
        const char *good = specs[change->good], *bad = specs[change->bad];
        char *here = over_difference(bad, good), *there = over_difference(good, bad);
        odb_buf_printf(&out, "%s %s: ", change->good < change->bad ? here : there,
                       change->good < change->bad ? "brings it" : "hides it");
        over_put_run(o, change->good < change->bad ? good : bad,
                     change->good < change->bad ? there : here, &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, change->good < change->bad ? bad : good,
                     change->good < change->bad ? here : there, &out);
        if (change->changes > 1)
            odb_buf_puts(&out, "; but there is no order in it: it comes and goes more than once");
        o->out->target = odb_xstrdup(bad);
        free(here);
        free(there);
    } else {
        odb_buf_printf(&out,
                       failed ? "no option brings it: all %zu specs that were tested fail"
                              : "all %zu specs that were tested pass",
                       tested);
        o->out->target = odb_xstrdup(specs[failed ? 0 : last]);
        for (size_t i = 0; i <= last && failed; i++) /* the first that can be tested */
            if (over_find(o, specs[i]) &&
                over_answer(over_find(o, specs[i])->verdict) == ODB_ANSWER_BAD) {
                free(o->out->target);
                o->out->target = odb_xstrdup(specs[i]);
                break;
            }
    }
    o->out->text = odb_buf_take(&out);
}

static void over_put_set(const struct over *o, const bool *on, struct odb_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < o->what->parts.n; i++)
        if (on[i]) {
            odb_buf_puts(out, n++ ? " with " : "");
            odb_buf_put_shown(out, o->what->parts.items[i]);
        }
}

/* All but those that bring it: what to do until it is mended. */
static enum odb_status over_without(struct over *o, const bool *on, struct odb_buf *out,
                                    struct odb_error *err)
{
    enum odb_answer answer;
    size_t n = o->what->parts.n;
    bool *rest = odb_new_n(bool, n + 1);
    for (size_t i = 0; i < n; i++)
        rest[i] = !on[i];
    char *spec = odb_over_spec(o->what, rest);
    enum odb_status status = over_run_take(o, odb_xstrdup(spec), over_label(o, rest), &answer, err);
    if (status == ODB_OK && answer == ODB_ANSWER_GOOD)
        over_put_run(o, spec, ", and all without it", out);
    if (status == ODB_OK && answer == ODB_ANSWER_BAD)
        over_put_run(o, spec, "; but all without it, too,", out);
    free(spec);
    free(rest);
    return status;
}

static enum odb_status over_tell_set(struct over *o, bool *on, enum odb_over_outcome outcome,
                                     struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    size_t n = o->what->parts.n;
    char *bad = odb_over_spec(o->what, on);
    bool *none = odb_new_n(bool, n + 1);
    char *off = odb_over_spec(o->what, none);
    const char *kind = o->what->kind == ODB_OVER_SET ? "options" : "optimizers";
    const struct odb_over_run *worst = over_find(o, bad);
    o->out->fails = worst && odb_verdict_is_bad(worst->verdict);
    o->out->unknown = outcome == ODB_OVER_UNKNOWN;
    if (outcome == ODB_OVER_SOME) {
        over_put_set(o, on, &out);
        odb_buf_puts(&out, odb_count_marks(on, n) > 1 ? " bring it together: " : " brings it: ");
        over_put_run(o, off, "without any", &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, bad, odb_count_marks(on, n) > 1 ? "with these alone" : "with that alone",
                     &out);
        status = over_without(o, on, &out, err);
    } else if (outcome == ODB_OVER_ALWAYS) {
        odb_buf_printf(&out, "none of the %zu %s brings it: ", n, kind);
        over_put_run(o, off, "it without any", &out);
    } else if (outcome == ODB_OVER_UNKNOWN) {
        odb_buf_printf(&out, "whether one of the %zu %s brings it cannot be told: ", n, kind);
        over_put_run(o, off, "it without any", &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, bad, odb_count_marks(on, n) == n ? "with all" : "with some", &out);
        if (odb_count_marks(on, n) < n) {
            odb_buf_puts(&out, ": ");
            over_put_set(o, on, &out);
        }
    } else {
        odb_buf_printf(&out, "none of the %zu %s brings an error: ", n, kind);
        over_put_run(o, bad, "it with all", &out);
    }
    const struct odb_over_run *base = over_find(o, o->what->base);
    o->out->target = bad;
    if (o->what->kind == ODB_OVER_OPTIMIZERS && outcome == ODB_OVER_SOME && base &&
        odb_verdict_is_bad(base->verdict)) { /* as good, and not so long */
        free(bad);
        o->out->target = odb_xstrdup(o->what->base);
    }
    o->out->text = odb_buf_take(&out);
    free(off);
    free(none);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status over_search(struct over *o, struct odb_error *err)
{
    size_t n = o->what->parts.n;
    odb_hooks_phase(&o->options->hooks, "option search", n);
    if (o->what->kind == ODB_OVER_LIST || o->what->kind == ODB_OVER_LEVELS) {
        struct odb_over_level *levels = odb_new_n(struct odb_over_level, n + 1);
        struct odb_over_change change;
        enum odb_status status =
            odb_over_levels(levels, n, o->what->kind == ODB_OVER_LIST, &change, over_level, o, err);
        free(levels);
        if (status == ODB_OK)
            over_tell_levels(o, &change);
        return status;
    }
    bool *on = odb_new_n(bool, n + 1);
    enum odb_over_outcome outcome;
    enum odb_status status = odb_over_smallest(on, n, &outcome, over_subset, o, err);
    if (status == ODB_OK)
        status = over_tell_set(o, on, outcome, err);
    free(on);
    return status;
}

enum odb_status odb_over_search(struct odb_over_found *out, const struct odb_over *over,
                                const struct odb_model *model, const struct odb_feeds *feeds,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    struct over o = {.what = over,
                     .model = model,
                     .feeds = feeds,
                     .options = options,
                     .out = out,
                     .outputs = odb_new_n(int, graph->n_outputs + 1),
                     .refusal = ODB_ERROR_INIT};
    *out = (struct odb_over_found){0};
    for (size_t i = 0; i < graph->n_outputs; i++)
        if (graph->values[graph->outputs[i]].producer != ODB_NO_NODE &&
            !odb_trace_drawn(options->trace, graph->outputs[i]))
            o.outputs[o.n_outputs++] = graph->outputs[i];
    enum odb_status status = over_search(&o, err);
    size_t tested = 0;
    for (size_t i = 0; i < out->runs.n; i++)
        tested += over_answer(out->runs.items[i].verdict) != ODB_ANSWER_UNTESTABLE;
    if (status == ODB_OK && !tested) {
        if (err)
            *err = o.refusal;
        status = odb_fail(err, ODB_E_EXECUTOR, "none of the specs can be tested: %.300s",
                          o.refusal.what);
    }
    free(o.outputs);
    return status;
}

void odb_over_found_dispose(struct odb_over_found *found)
{
    for (size_t i = 0; i < found->runs.n; i++) {
        free(found->runs.items[i].spec);
        free(found->runs.items[i].label);
    }
    free(found->runs.items);
    free(found->target);
    free(found->text);
}

struct json_t *odb_over_json(const struct odb_over_found *found)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < found->runs.n; i++) {
        const struct odb_over_run *run = &found->runs.items[i];
        json_array_append_new(
            runs, json_pack("{so,so,so}", "spec", odb_json_text(run->spec), "verdict",
                            odb_json_text(odb_verdict_name(run->verdict)), "error",
                            isnan(run->error) ? json_null() : odb_json_real(run->error)));
    }
    return json_pack("{so,s{sb,so,so}}", "over", runs, "over_found", "fails", (int)found->fails,
                     "target", odb_json_text(found->target), "text", odb_json_text(found->text));
}
