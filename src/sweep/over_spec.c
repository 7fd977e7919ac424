/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --over says, read and put together again.
 */
#include "sweep/over.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"

#define OVER_LEVELS 256 /* in a range of numbers */

static enum odb_status over_refuse(struct odb_error *err, const char *why)
{
    odb_fail(err, ODB_E_USAGE, "%s", why);
    odb_error_remedy(err, "write SPEC;SPEC;…, SPEC,KEY=LOW..HIGH, SPEC,KEY={A|B|…}, "
                          "SPEC,{OPTION|OPTION|…} or ort,{optimizers}");
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

static bool over_innermost(const struct odb_spec *spec, void *payload)
{
    const struct odb_executor_ops **row = payload;
    *row = spec->row;
    return true;
}

/* Those of the executor that stands last in the base, which is where options are added. */
static enum odb_status over_optimizers(struct odb_over *over, struct odb_error *err)
{
    const struct odb_executor_ops *row = NULL;
    ODB_TRY(odb_spec_walk(over->base, over_innermost, &row, err));
    if (!row || !row->optimizers) /* a class or a library that hands them on */
        row = odb_executor_usual_row();
    if (!row->optimizers)
        return over_refuse(err, "that executor names no optimizers of its own");
    for (const char *const *name = row->optimizers->names; *name; name++)
        odb_push(&over->parts, odb_xstrdup(*name));
    over->disable = row->optimizers->option;
    return ODB_OK;
}

/* "SPEC,KEY={A|B|C}": as many specs, in this order; what follows the brace belongs to each. */
static enum odb_status over_parse_order(struct odb_over *out, const char *text, const char *open,
                                        const char *close, struct odb_error *err)
{
    struct odb_over values = {.kind = ODB_OVER_LIST};
    if (strchr(close, '{'))
        return over_refuse(err, "one option at a time can have a list behind it");
    out->kind = ODB_OVER_ORDER;
    over_split(&values, open + 1, (size_t)(close - open - 1), '|');
    for (size_t i = 0; i < values.parts.n; i++)
        odb_push(&out->parts, odb_xasprintf("%.*s%s%s", (int)(open - text), text,
                                            values.parts.items[i], close + 1));
    odb_over_dispose(&values);
    return out->parts.n > 1 ? ODB_OK : over_refuse(err, "there are no two values to compare");
}

/* "SPEC,{…}": what follows the brace belongs to the spec. */
static enum odb_status over_parse_set(struct odb_over *out, const char *text, const char *open,
                                      struct odb_error *err)
{
    const char *close = strchr(open, '}');
    size_t before = (size_t)(open - text);
    if (close && before > 2 && text[before - 1] == '=')
        return over_parse_order(out, text, open, close, err);
    if (!close || before < 2 || text[before - 1] != ',')
        return over_refuse(err, "a set is written SPEC,{OPTION|OPTION}");
    out->base = odb_xasprintf("%.*s%s", (int)before - 1, text, close + 1);
    if (!strncmp(open, "{optimizers}", 12)) {
        out->kind = ODB_OVER_OPTIMIZERS;
        return over_optimizers(out, err);
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
    long a = strtol(low, &end, 10), b, apart;
    if (end == low || strncmp(end, "..", 2) != 0)
        return false;
    b = strtol(high, &end, 10);
    if (end == high || end != tail || __builtin_sub_overflow(b, a, &apart) ||
        apart >= OVER_LEVELS || apart <= -OVER_LEVELS)
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

/* The dots of a range, which those of a path are not; NULL: there are none. */
static const char *over_dots(const char *text)
{
    for (const char *dots = strstr(text, ".."); dots; dots = strstr(dots + 2, "..")) {
        const char *from = dots, *to = dots + strcspn(dots, ",@");
        while (from > text && !strchr(",=@", from[-1]))
            from--;
        if (dots[2] && !memchr(from, '/', (size_t)(to - from)))
            return dots;
    }
    return NULL;
}

static enum odb_status over_parse(struct odb_over *out, const char *text, struct odb_error *err)
{
    const char *open = strchr(text, '{'), *dots = strchr(text, ';') ? NULL : over_dots(text);
    if (open)
        return over_parse_set(out, text, open, err);
    if (dots)
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
            n++ ? odb_buf_printf(&out, ";%s", over->parts.items[i])
                : odb_buf_printf(&out, ",%s=%s", over->disable, over->parts.items[i]);
    }
    return odb_buf_take(&out);
}
