/* SPDX-License-Identifier: MIT
 *
 * Only whether a text matches is asked, never where, so order of preference does not matter and
 * lazy operators are as good as greedy ones. So PCRE2's other algorithm will do, which follows all
 * ways through the pattern at once, as RE2 does, and takes no time that grows exponentially.
 */
#include "kernels/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define REGEX_MOST_REPEATS 1000 /* RE2's limit */
#define REGEX_MOST_ROOM ((size_t)1 << 24)

struct odb_regex {
    pcre2_code *code;        /* owned */
    pcre2_match_data *match; /* owned */
    int *room;               /* owned: for the states that a match is in */
    size_t n_room;
};

/* --- from RE2's syntax to PCRE2's ------------------------------------------------------------- */

struct regex_scope {
    bool lines; /* (?m): ^ and $ are at lines' ends, too */
    bool fold;  /* (?i) */
};

struct regex_reader {
    const char *p, *end;
    struct odb_buf out;
    ODB_VEC(struct regex_scope) scopes; /* of open groups, the innermost last */
    struct odb_error *err;
};

#define REGEX_FAIL(r, ...) odb_fail((r)->err, ODB_E_OPERATOR, "pattern: " __VA_ARGS__)

static struct regex_scope *regex_scope(struct regex_reader *r)
{
    return &r->scopes.items[r->scopes.n - 1];
}

static void regex_take(struct regex_reader *r, size_t n)
{
    odb_buf_add(&r->out, r->p, n);
    r->p += n;
}

static bool regex_sees(const struct regex_reader *r, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

/* \Q … \E, letter by letter: PCRE2 and RE2 disagree on what may stand inside. */
static enum odb_status regex_quoted(struct regex_reader *r)
{
    r->p += 2;
    while (r->p < r->end && !regex_sees(r, "\\E")) {
        if (ispunct((unsigned char)*r->p))
            odb_buf_printf(&r->out, "\\%c", *r->p);
        else
            odb_buf_putc(&r->out, *r->p);
        r->p++;
    }
    if (r->p < r->end)
        r->p += 2;
    return ODB_OK;
}

/* Hexadecimal digits of \xHH and \x{H…}; p stands behind the x. */
static enum odb_status regex_hex(struct regex_reader *r)
{
    uint32_t code = 0;
    int digits = 0;
    bool braces = r->p < r->end && *r->p == '{';
    r->p += braces;
    for (; r->p < r->end && isxdigit((unsigned char)*r->p) && digits < (braces ? 8 : 2); r->p++) {
        int c = tolower((unsigned char)*r->p);
        code = code * 16 + (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
        digits++;
    }
    bool closed = !braces || (r->p < r->end && *r->p == '}');
    if (digits == 0 || !closed || (!braces && digits != 2) || code > 0x10ffff)
        return REGEX_FAIL(r, "\\x without the number of a character");
    r->p += braces;
    if (code >= 0xd800 && code < 0xe000)
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: \\x{%x} is half a character", code);
    odb_buf_printf(&r->out, "\\x{%x}", code);
    return ODB_OK;
}

/* \123 and \0: octal where RE2 takes it so, else a reference back, which it does not have. */
static enum odb_status regex_octal(struct regex_reader *r)
{
    unsigned code = 0;
    int digits = 0;
    bool zero = *r->p == '0';
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '7' && digits < 3; digits++)
        code = code * 8 + (unsigned)(*r->p++ - '0');
    if (digits < 2 && !zero)
        return REGEX_FAIL(r, "references back are not part of RE2's syntax");
    odb_buf_printf(&r->out, "\\x{%x}", code);
    return ODB_OK;
}

/* Classes of characters as the inside of [], where the two differ: PCRE2's \s has the vertical tab,
 * and with (?i) RE2 adds to ASCII letters what folds to them, the long s and the sign of Kelvin. */
#define REGEX_FOLDED "\\x{17f}\\x{212a}"

static const struct regex_set {
    char letter;
    const char *plain, *folded;
} regex_sets[] = {
    {'d', "\\d", "\\d"},
    {'D', "\\D", "\\D"},
    {'w', "\\w", "\\w" REGEX_FOLDED},
    {'W', "\\W", "\\x{0}-/:-@\\[-\\^`{-\\x{17e}\\x{180}-\\x{2129}\\x{212b}-\\x{10ffff}"},
    {'s', "\\t\\n\\f\\r ", "\\t\\n\\f\\r "},
    {'S', "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}",
     "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}"},
};

/* What \d, \w and their kin stand for here; NULL: c is none of them. */
static const char *regex_set(struct regex_reader *r, char c)
{
    for (size_t i = 0; i < ODB_COUNT(regex_sets); i++)
        if (regex_sets[i].letter == c)
            return regex_scope(r)->fold ? regex_sets[i].folded : regex_sets[i].plain;
    return NULL;
}

/* \pL, \p{Greek}, \p{^Greek} */
static enum odb_status regex_property(struct regex_reader *r)
{
    const char *name = r->p + 2, *end = name + 1;
    if (r->end - r->p < 3)
        return REGEX_FAIL(r, "\\p without a name");
    if (*name == '{') {
        name++;
        end = memchr(name, '}', (size_t)(r->end - name));
        if (!end)
            return REGEX_FAIL(r, "\\p{ without }");
        name += *name == '^';
    }
    for (const char *c = name; c < end; c++)
        if (!(c == name ? isupper((unsigned char)*c) : isalpha((unsigned char)*c) || *c == '_'))
            return REGEX_FAIL(r, "\\p without a name of RE2's");
    if (regex_scope(r)->fold)
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: \\p after (?i)");
    regex_take(r, (size_t)(end - r->p) + (r->p[2] == '{'));
    return ODB_OK;
}

/* A backslash and what follows. What stands for itself does in both syntaxes. */
static enum odb_status regex_escape(struct regex_reader *r, bool in_class)
{
    if (r->end - r->p < 2)
        return REGEX_FAIL(r, "a backslash at the end");
    char c = r->p[1];
    const char *set = regex_set(r, c);
    if (c == 'Q' && !in_class)
        return regex_quoted(r);
    if (c == 'p' || c == 'P')
        return regex_property(r);
    if (c == 'C')
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: \\C (a single byte)");
    r->p += 1;
    if (c >= '0' && c <= '7')
        return regex_octal(r);
    r->p += 1;
    if (c == 'x')
        return regex_hex(r);
    if (set)
        odb_buf_printf(&r->out, "%s%s%s", in_class ? "" : "[", set, in_class ? "" : "]");
    else if (c == 'v')
        odb_buf_puts(&r->out, "\\x0b");
    else if (c > 0 && (strchr("afnrt", c) || !isalnum((unsigned char)c)))
        odb_buf_printf(&r->out, "\\%c", c);
    else if (c > 0 && !in_class && strchr("AzbB", c))
        odb_buf_printf(&r->out, "(?:\\%c)", c);
    else
        return REGEX_FAIL(r, "\\%c is not part of RE2's syntax",
                          isprint((unsigned char)c) ? c : '?');
    return ODB_OK;
}

/* [:alpha:] and its kin, inside a class. */
static enum odb_status regex_posix(struct regex_reader *r)
{
    static const char *const unfolded[] = {"digit", "xdigit", "blank", "space", "cntrl", "punct"};
    const char *name = r->p + 2, *close = memmem(name, (size_t)(r->end - name), ":]", 2);
    if (!close)
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: [: in a class");
    bool negated = *name == '^', folds = regex_scope(r)->fold;
    size_t n = (size_t)(close - (name += negated));
    for (size_t i = 0; i < ODB_COUNT(unfolded); i++)
        folds &= strlen(unfolded[i]) != n || memcmp(unfolded[i], name, n) != 0;
    if (folds && negated)
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: [:^…:] after (?i)");
    regex_take(r, (size_t)(close - r->p) + 2);
    if (folds)
        odb_buf_puts(&r->out, REGEX_FOLDED);
    return ODB_OK;
}

static enum odb_status regex_class(struct regex_reader *r)
{
    bool set = false; /* no range begins with a set */
    regex_take(r, 1);
    if (r->p < r->end && *r->p == '^')
        regex_take(r, 1);
    for (bool first = true; r->p < r->end && (first || *r->p != ']'); first = false) {
        char c = *r->p;
        bool literal = c == ']' || (c == '-' && set) || (c == '[' && !regex_sees(r, "[:"));
        set = false;
        if (literal) {
            odb_buf_printf(&r->out, "\\%c", c);
            r->p++;
        } else if (c == '[') {
            ODB_TRY(regex_posix(r));
            set = true;
        } else if (c == '\\') {
            set = r->end - r->p > 1 && r->p[1] && strchr("dDwWsSpP", r->p[1]);
            ODB_TRY(regex_escape(r, true));
        } else {
            regex_take(r, 1);
        }
    }
    if (r->p == r->end)
        return REGEX_FAIL(r, "[ without ]");
    regex_take(r, 1);
    return ODB_OK;
}

/* (?P<name> and (?<name>; the name does not matter. */
static enum odb_status regex_named(struct regex_reader *r)
{
    const char *name = r->p + (r->p[2] == 'P' ? 4 : 3), *p = name;
    while (p < r->end && (isalnum((unsigned char)*p) || *p == '_'))
        p++;
    if (p == r->end || *p != '>' || p == name)
        return REGEX_FAIL(r, "a group without a name");
    odb_buf_putc(&r->out, '(');
    r->p = p + 1;
    odb_push(&r->scopes, *regex_scope(r));
    return ODB_OK;
}

/* (?flags) for the rest of the group, (?flags: for a group of its own; (?: is one of these. */
static enum odb_status regex_flags(struct regex_reader *r)
{
    const char *first = r->p + 2, *p = first, *minus = NULL;
    struct regex_scope scope = *regex_scope(r);
    for (; p < r->end && *p && strchr("imsU-", *p) && !(minus && *p == '-'); p++) {
        minus = *p == '-' ? p : minus;
        scope.lines = *p == 'm' ? !minus : scope.lines;
        scope.fold = *p == 'i' ? !minus : scope.fold;
    }
    bool closed = p < r->end && (*p == ':' || *p == ')');
    if (!closed || (minus && p == minus + 1))
        return REGEX_FAIL(r, "'%.*s' is not part of RE2's syntax",
                          (int)ODB_MIN(r->end - r->p, (ptrdiff_t)4), r->p);
    if (*p == ':')
        odb_push(&r->scopes, scope);
    else
        *regex_scope(r) = scope;
    regex_take(r, (size_t)(p + 1 - r->p));
    return ODB_OK;
}

/* Of all that may follow (? only names and flags are RE2's. */
static enum odb_status regex_group(struct regex_reader *r)
{
    if (regex_sees(r, "(?P<") || regex_sees(r, "(?<"))
        return regex_named(r);
    if (regex_sees(r, "(?"))
        return regex_flags(r);
    if (regex_sees(r, "(*"))
        return REGEX_FAIL(r, "nothing to repeat");
    odb_push(&r->scopes, *regex_scope(r));
    regex_take(r, 1);
    return ODB_OK;
}

static void regex_close(struct regex_reader *r)
{
    if (r->scopes.n > 1)
        r->scopes.n--;
    regex_take(r, 1);
}

/* ^ and $ in groups, because PCRE2 does not repeat them otherwise; its own $ is before a last
 * newline, too. */
static void regex_anchor(struct regex_reader *r)
{
    odb_buf_puts(&r->out, *r->p == '^' ? "(?:^)" : regex_scope(r)->lines ? "(?:$)" : "(?:\\z)");
    r->p++;
}

/* The length of {n}, {n,} or {n,m} at p, 0 where the brace is an ordinary character. */
static size_t regex_braces(const struct regex_reader *r, long *most)
{
    const char *p = r->p + 1;
    long v[2] = {0, 0};
    int n = 0;
    for (; n < 2; n++) {
        const char *from = p;
        for (; p < r->end && isdigit((unsigned char)*p); p++)
            v[n] = ODB_MIN(v[n] * 10 + (*p - '0'), 1000000);
        if (p == r->end || (n == 0 && p == from))
            return 0;
        if (*p != ',' || n == 1)
            break;
        p++;
    }
    *most = ODB_MAX(v[0], v[1]);
    return p < r->end && *p == '}' ? (size_t)(p + 1 - r->p) : 0;
}

/* * + ? {n,m}, and ? behind them. RE2 has no possessive ones and no repeats of repeats. */
static enum odb_status regex_repeat(struct regex_reader *r)
{
    long most = 0;
    size_t n = *r->p == '{' ? regex_braces(r, &most) : 1;
    if (n == 0) {
        odb_buf_puts(&r->out, "\\{");
        r->p++;
        return ODB_OK;
    }
    if (most > REGEX_MOST_REPEATS)
        return REGEX_FAIL(r, "more than %d repeats", REGEX_MOST_REPEATS);
    regex_take(r, n);
    if (r->p < r->end && *r->p == '?')
        regex_take(r, 1);
    if (r->p < r->end && (strchr("*+?", *r->p) || (*r->p == '{' && regex_braces(r, &most))) &&
        *r->p)
        return REGEX_FAIL(r, "a repeat of a repeat");
    return ODB_OK;
}

static enum odb_status regex_rewrite(struct regex_reader *r)
{
    while (r->p < r->end) {
        if (*r->p == '\\')
            ODB_TRY(regex_escape(r, false));
        else if (*r->p == '[')
            ODB_TRY(regex_class(r));
        else if (*r->p == '(')
            ODB_TRY(regex_group(r));
        else if (*r->p && strchr("*+?{", *r->p))
            ODB_TRY(regex_repeat(r));
        else if (*r->p == ')')
            regex_close(r);
        else if (*r->p == '^' || *r->p == '$')
            regex_anchor(r);
        else
            regex_take(r, 1);
    }
    return ODB_OK;
}

/* --- PCRE2 ------------------------------------------------------------------------------------ */

static enum odb_status regex_complain(struct odb_error *err, enum odb_status status, int code,
                                      const char *what)
{
    PCRE2_UCHAR text[200] = "";
    pcre2_get_error_message(code, text, sizeof text);
    return odb_fail(err, status, "%s: %s", what, (const char *)text);
}

enum odb_status odb_regex_new(struct odb_regex **out, struct odb_str pattern, struct odb_error *err)
{
    struct regex_reader r = {pattern.data, pattern.data + pattern.len, ODB_BUF_INIT, {0}, err};
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code = NULL;
    enum odb_status status;
    PCRE2_SIZE where;
    int why = 0;
    *out = NULL;
    odb_push(&r.scopes, (struct regex_scope){false, false});
    ODB_TRY_OUT(regex_rewrite(&r));
    if (context && pcre2_set_newline(context, PCRE2_NEWLINE_LF) == 0)
        code =
            pcre2_compile((PCRE2_SPTR)odb_buf_text(&r.out), r.out.len,
                          PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ALT_CIRCUMFLEX | PCRE2_NO_AUTO_CAPTURE,
                          &why, &where, context);
    if (!code) {
        status = regex_complain(err, ODB_E_OPERATOR, why, "pattern");
        goto out;
    }
    *out = odb_new(struct odb_regex);
    (*out)->code = code;
    (*out)->match = pcre2_match_data_create(1, NULL);
    (*out)->n_room = 1000;
    (*out)->room = odb_new_n(int, (*out)->n_room);
out:
    pcre2_compile_context_free(context);
    odb_buf_dispose(&r.out);
    free(r.scopes.items);
    return status;
}

void odb_regex_free(struct odb_regex *regex)
{
    if (!regex)
        return;
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    free(regex->room);
    free(regex);
}

enum odb_status odb_regex_match(struct odb_regex *regex, struct odb_str text, bool *out,
                                struct odb_error *err)
{
    int n;
    while ((n = pcre2_dfa_match(regex->code, (PCRE2_SPTR)text.data, text.len, 0, 0, regex->match,
                                NULL, regex->room, regex->n_room)) == PCRE2_ERROR_DFA_WSSIZE &&
           regex->n_room < REGEX_MOST_ROOM) {
        regex->n_room *= 4;
        regex->room = odb_xrealloc(regex->room, regex->n_room, sizeof *regex->room);
    }
    /* the longest of all matches that begin where the text does comes first */
    *out = n >= 0 && pcre2_get_ovector_pointer(regex->match)[1] == text.len;
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
        return ODB_OK;
    bool invalid = n <= PCRE2_ERROR_UTF8_ERR1 && n >= PCRE2_ERROR_UTF8_ERR21;
    return regex_complain(err, invalid ? ODB_E_OPERATOR : ODB_UNSUPPORTED, n, "text");
}
