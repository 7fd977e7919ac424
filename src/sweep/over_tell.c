/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a sweep over options came to, in a sentence and as JSON.
 */
#include "sweep/over_int.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "executor/executor.h"
#include "report/json.h"

#define OVER_REASON 200 /* bytes of a refusal that a sentence quotes */

static void over_put_why(const struct odb_over_run *run, struct odb_buf *out)
{
    char text[OVER_REASON];
    odb_text_fit(text, sizeof text, "%s", run->why.what);
    odb_buf_puts(out, " (");
    odb_buf_put_shown(out, text);
    odb_buf_putc(out, ')');
}

/* "SPEC passes (error 2e-07)", "SPEC is refused (GEMM: Dimension mismatch)" */
static void over_put_run(const struct over *o, const char *spec, const char *called,
                         struct odb_buf *out)
{
    const struct odb_over_run *run = over_find(o, spec);
    odb_buf_put_shown(out, called);
    if (!run)
        return;
    enum odb_verdict verdict = run->verdict;
    bool measured = verdict == ODB_VERDICT_PASS || verdict == ODB_VERDICT_FAIL;
    odb_buf_puts(out, verdict == ODB_VERDICT_PASS      ? " passes"
                      : verdict == ODB_VERDICT_REFUSED ? " is refused"
                      : odb_verdict_is_bad(verdict)    ? " fails"
                                                       : " cannot be tested");
    if (verdict == ODB_VERDICT_REFUSED ||
        (verdict == ODB_VERDICT_UNTESTABLE && run->status != ODB_OK))
        over_put_why(run, out);
    else if (!measured && verdict != ODB_VERDICT_UNTESTABLE)
        odb_buf_printf(out, " (%s)", odb_verdict_name(verdict));
    else if (measured && !isnan(run->error))
        odb_buf_printf(out, " (error %.3g)", run->error);
}

/* --- levels ----------------------------------------------------------------------------------- */

/* The part of one spec where another differs: "opt=extended"; all of it where that is no option. */
static char *over_part(const char *spec, const char *other)
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

/* The same, with the version where they differ by it. */
static char *over_difference(const struct over *o, const char *spec, const char *other)
{
    const struct odb_over_run *run = over_find(o, spec), *against = over_find(o, other);
    char *part = over_part(spec, other);
    if (!run || !against || !run->version[0] || !strcmp(run->version, against->version))
        return part;
    char *both = odb_xasprintf("%s (%s)", part, run->version);
    free(part);
    return both;
}

/* Between which two it changes. */
static void over_tell_change(struct over *o, const struct odb_over_change *change,
                             struct odb_buf *out)
{
    char *const *specs = o->what->parts.items;
    const char *good = specs[change->good], *bad = specs[change->bad];
    bool breaks = change->good < change->bad;
    char *of_good = over_difference(o, good, bad), *of_bad = over_difference(o, bad, good);
    odb_buf_put_shown(out, breaks ? of_bad : of_good);
    odb_buf_printf(out, " %s: ",
                   breaks                            ? "brings it"
                   : o->what->kind == ODB_OVER_ORDER ? "mends it"
                                                     : "hides it");
    over_put_run(o, breaks ? good : bad, breaks ? of_good : of_bad, out);
    odb_buf_puts(out, ", ");
    over_put_run(o, breaks ? bad : good, breaks ? of_bad : of_good, out);
    if (change->changes > 1)
        odb_buf_puts(out, o->what->kind == ODB_OVER_ORDER
                              ? "; it comes and goes more than once"
                              : "; but there is no order in it: it comes and goes more than once");
    o->out->target = odb_xstrdup(bad);
    o->out->good = odb_xstrdup(good);
    o->out->bad = odb_xstrdup(bad);
    free(of_good);
    free(of_bad);
}

/* The specs that were asked for, without those that were asked to weigh a refusal. */
static void over_count(const struct over *o, size_t *tested, size_t *failed, size_t *silent,
                       const char **first_bad)
{
    *tested = *failed = *silent = 0;
    *first_bad = NULL;
    for (size_t i = 0; i < o->what->parts.n; i++) {
        const struct odb_over_run *run = over_find(o, o->what->parts.items[i]);
        enum odb_answer answer = run ? over_answer(o, run->verdict) : ODB_ANSWER_UNTESTABLE;
        *tested += answer != ODB_ANSWER_UNTESTABLE;
        *failed += answer == ODB_ANSWER_BAD;
        *silent += run && answer == ODB_ANSWER_UNTESTABLE;
        if (answer == ODB_ANSWER_BAD && !*first_bad)
            *first_bad = run->spec;
    }
}

void over_tell_levels(struct over *o, const struct odb_over_change *change)
{
    char *const *specs = o->what->parts.items;
    struct odb_buf out = ODB_BUF_INIT;
    size_t tested, failed, silent;
    const char *bad;
    over_count(o, &tested, &failed, &silent, &bad);
    o->out->fails = failed > 0;
    o->out->unknown = silent && !failed;
    if (change->good >= 0) {
        over_tell_change(o, change, &out);
    } else {
        if (tested == 1)
            odb_buf_printf(&out, "the only spec that could be tested %s",
                           failed ? "fails" : "passes");
        else
            odb_buf_printf(&out,
                           failed ? "no option brings it: all %zu specs that were tested fail"
                                  : "all %zu specs that were tested pass",
                           tested);
        o->out->target = odb_xstrdup(bad ? bad : specs[o->what->parts.n - 1]);
    }
    if (silent)
        odb_buf_printf(&out, "; %zu cannot be tested", silent);
    o->out->text = odb_buf_take(&out);
}

/* --- sets ------------------------------------------------------------------------------------- */

char *over_label(const struct over *o, const bool *on)
{
    size_t n = o->what->parts.n, count = odb_count_marks(on, n);
    if (o->what->kind != ODB_OVER_OPTIMIZERS || count == n)
        return NULL;
    return odb_xasprintf("%s with %zu of %zu optimizers", o->what->base, count, n);
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

/* Which optimizers there are by name is known; opt=disabled, or what it is called there, leaves out
 * what has none as well. */
static enum odb_status over_nameless(struct over *o, struct odb_buf *out, struct odb_error *err)
{
    char *plain = o->what->kind == ODB_OVER_OPTIMIZERS ? odb_executor_plain(o->what->base) : NULL;
    enum odb_answer answer;
    enum odb_status status =
        plain ? over_run_take(o, odb_xstrdup(plain), NULL, &answer, err) : ODB_OK;
    if (plain && status == ODB_OK && answer == ODB_ANSWER_GOOD) {
        odb_buf_puts(out, "; but ");
        over_put_run(o, plain, plain, out);
        odb_buf_puts(out, ": what brings it has no name of its own");
        status = over_run_take(o, odb_xstrdup(o->what->base), NULL, &answer, err);
    }
    free(plain);
    return status;
}

/* The spec that is worth a search: one that fails alike and is not so long, with all optimizers or
 * in the executor's own word with none. Owned by the caller. */
static char *over_worth(const struct over *o, const char *bad)
{
    const struct odb_over_run *worst = over_find(o, bad), *run;
    char *plain = odb_executor_plain(o->what->base), *found = NULL;
    const char *shorter[] = {o->what->base, plain};
    for (size_t i = 0; i < ODB_COUNT(shorter) && o->what->kind == ODB_OVER_OPTIMIZERS; i++)
        if (!found && worst && shorter[i] && (run = over_find(o, shorter[i])) &&
            run->verdict == worst->verdict)
            found = odb_xstrdup(shorter[i]);
    free(plain);
    return found ? found : odb_xstrdup(bad);
}

/* The sentence; on[] fails, unless nothing does. */
static enum odb_status over_put_outcome(struct over *o, const bool *on,
                                        enum odb_over_outcome outcome, const char *off,
                                        const char *bad, struct odb_buf *out, struct odb_error *err)
{
    size_t n = o->what->parts.n, count = odb_count_marks(on, n);
    const char *kind = o->what->kind == ODB_OVER_SET ? "options" : "optimizers";
    if (outcome == ODB_OVER_SOME) {
        over_put_set(o, on, out);
        odb_buf_puts(out, count > 1 ? " bring it together: " : " brings it: ");
        over_put_run(o, off, "without any", out);
        odb_buf_puts(out, ", ");
        over_put_run(o, bad, count > 1 ? "with these alone" : "with that alone", out);
        return over_without(o, on, out, err);
    }
    if (outcome == ODB_OVER_ALWAYS) {
        odb_buf_printf(out, "none of the %zu %s brings it: ", n, kind);
        over_put_run(o, off, "it without any", out);
        return over_nameless(o, out, err);
    }
    if (outcome == ODB_OVER_NEVER) {
        odb_buf_printf(out, "none of the %zu %s brings an error: ", n, kind);
        over_put_run(o, bad, "it with all", out);
        return ODB_OK;
    }
    odb_buf_printf(out, "whether one of the %zu %s brings it cannot be decided: ", n, kind);
    over_put_run(o, off, "it without any", out);
    odb_buf_puts(out, ", ");
    over_put_run(o, bad, count == n ? "with all" : "with some", out);
    if (count < n) {
        odb_buf_puts(out, ": ");
        over_put_set(o, on, out);
    }
    return ODB_OK;
}

enum odb_status over_tell_set(struct over *o, bool *on, enum odb_over_outcome outcome,
                              struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    bool *none = odb_new_n(bool, o->what->parts.n + 1);
    char *bad = odb_over_spec(o->what, on), *off = odb_over_spec(o->what, none);
    const struct odb_over_run *worst = over_find(o, bad);
    o->out->fails = worst && odb_verdict_is_bad(worst->verdict);
    o->out->unknown = outcome == ODB_OVER_UNKNOWN;
    enum odb_status status = over_put_outcome(o, on, outcome, off, bad, &out, err);
    o->out->target = over_worth(o, bad);
    o->out->text = odb_buf_take(&out);
    free(bad);
    free(off);
    free(none);
    return status;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *over_json_why(const struct odb_over_run *run)
{
    return odb_json_text(run->status == ODB_OK ? NULL : run->why.what);
}

struct json_t *odb_over_json(const struct odb_over_found *found)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < found->runs.n; i++) {
        const struct odb_over_run *run = &found->runs.items[i];
        json_array_append_new(
            runs, json_pack("{so,so,so,so,so}", "spec", odb_json_text(run->spec), "verdict",
                            odb_json_text(odb_verdict_name(run->verdict)), "error",
                            isnan(run->error) ? json_null() : odb_json_real(run->error), "version",
                            odb_json_text(run->version[0] ? run->version : NULL), "reason",
                            over_json_why(run)));
    }
    return json_pack("{so,s{sb,so,so,so,so}}", "over", runs, "over_found", "fails",
                     (int)found->fails, "target", odb_json_text(found->target), "good",
                     odb_json_text(found->good), "bad", odb_json_text(found->bad), "text",
                     odb_json_text(found->text));
}
