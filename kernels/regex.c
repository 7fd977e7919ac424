/* SPDX-License-Identifier: MIT
 *
 * Only whether a text matches is asked, never where, so order of preference does not matter and
 * lazy operators are as good as greedy ones. So PCRE2's other algorithm will do, which follows all
 * ways through the pattern at once, as RE2 does, and takes no time that grows exponentially.
 */
#include "kernels/regex.h"

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

struct regex_reader {
    const char *p, *end;
    struct odb_buf out;
    ODB_VEC(bool) lines; /* per open group: whether ^ and $ are at lines' ends too */
    struct odb_error *err;
};

#define REGEX_FAIL(r, ...) odb_fail((r)->err, ODB_E_OPERATOR, "pattern: " __VA_ARGS__)

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

/* \pL, \p{Greek}, \p{^Greek} */
static enum odb_status regex_property(struct regex_reader *r)
{
    size_t n = 3;
    if (r->end - r->p < 3)
        return REGEX_FAIL(r, "\\p without a name");
    if (r->p[2] == '{') {
        const char *close = memchr(r->p, '}', (size_t)(r->end - r->p));
        if (!close)
            return REGEX_FAIL(r, "\\p{ without }");
        n = (size_t)(close - r->p) + 1;
        for (const char *c = r->p + 3; c < close; c++)
            if (!isalpha((unsigned char)*c) && *c != '_' && !(*c == '^' && c == r->p + 3))
                return REGEX_FAIL(r, "'%.*s' is no class of characters",
                                  (int)ODB_MIN(n, (size_t)40), r->p);
    }
    regex_take(r, n);
    return ODB_OK;
}

/* What \s and \S are in RE2, as the inside of a class; PCRE2 has the vertical tab among them. */
#define REGEX_SPACE "\\t\\n\\f\\r "
#define REGEX_NO_SPACE "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}"

/* A backslash and what follows; both parties agree on the letters in the second list. */
static enum odb_status regex_escape(struct regex_reader *r, bool in_class)
{
    if (r->end - r->p < 2)
        return REGEX_FAIL(r, "a backslash at the end");
    char c = r->p[1];
    if (c == 'Q' && !in_class)
        return regex_quoted(r);
    if (c == 'p' || c == 'P')
        return regex_property(r);
    if (c == 'C')
        return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: \\C (a single byte)");
    if (c >= '0' && c <= '7') {
        r->p++;
        return regex_octal(r);
    }
    if (c == 'x') {
        r->p += 2;
        return regex_hex(r);
    }
    const char *same = in_class ? "dDwWafnrt" : "dDwWafnrtAzbB";
    bool itself = c > 0 && !isalnum((unsigned char)c); /* a letter escaped for nothing is refused */
    if (itself || (c > 0 && strchr(same, c))) {
        regex_take(r, 2);
        return ODB_OK;
    }
    const char *more = c == 's'   ? REGEX_SPACE
                       : c == 'S' ? REGEX_NO_SPACE
                       : c == 'v' ? "\\x0b"
                                  : NULL;
    if (!more)
        return REGEX_FAIL(r, "\\%c is not part of RE2's syntax",
                          isprint((unsigned char)c) ? c : '?');
    bool bare = in_class || c == 'v';
    odb_buf_printf(&r->out, "%s%s%s", bare ? "" : "[", more, bare ? "" : "]");
    r->p += 2;
    return ODB_OK;
}

static enum odb_status regex_class(struct regex_reader *r)
{
    regex_take(r, 1);
    if (r->p < r->end && *r->p == '^')
        regex_take(r, 1);
    if (r->p < r->end && *r->p == ']') {
        odb_buf_puts(&r->out, "\\]");
        r->p++;
    }
    while (r->p < r->end && *r->p != ']') {
        if (regex_sees(r, "[:")) {
            const char *close = memmem(r->p, (size_t)(r->end - r->p), ":]", 2);
            if (!close)
                return odb_fail(r->err, ODB_UNSUPPORTED, "pattern: [: in a class");
            regex_take(r, (size_t)(close - r->p) + 2);
        } else if (*r->p == '\\') {
            ODB_TRY(regex_escape(r, true));
        } else if (*r->p == '[') { /* PCRE2 takes [. and [= for more than they are */
            odb_buf_puts(&r->out, "\\[");
            r->p++;
        } else {
            regex_take(r, 1);
        }
    }
    if (r->p == r->end)
        return REGEX_FAIL(r, "[ without ]");
    regex_take(r, 1);
    return ODB_OK;
}

static bool *regex_lines(struct regex_reader *r)
{
    return &r->lines.items[r->lines.n - 1];
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
    odb_push(&r->lines, *regex_lines(r));
    return ODB_OK;
}

/* (?flags) for the rest of the group, (?flags: for a group of its own; (?: is one of these. */
static enum odb_status regex_flags(struct regex_reader *r)
{
    const char *first = r->p + 2, *p = first, *minus = NULL;
    bool lines = *regex_lines(r);
    for (; p < r->end && *p && strchr("imsU-", *p) && !(minus && *p == '-'); p++) {
        minus = *p == '-' ? p : minus;
        lines = *p == 'm' ? !minus : lines;
    }
    bool closed = p < r->end && (*p == ':' || (*p == ')' && p > first));
    if (!closed || (minus && p == minus + 1))
        return REGEX_FAIL(r, "'%.*s' is not part of RE2's syntax",
                          (int)ODB_MIN(r->end - r->p, (ptrdiff_t)4), r->p);
    if (*p == ':')
        odb_push(&r->lines, lines);
    else
        *regex_lines(r) = lines;
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
    odb_push(&r->lines, *regex_lines(r));
    regex_take(r, 1);
    return ODB_OK;
}

static void regex_close(struct regex_reader *r)
{
    if (r->lines.n > 1)
        r->lines.n--;
    regex_take(r, 1);
}

/* PCRE2's own $ is before a last newline, too. */
static void regex_dollar(struct regex_reader *r)
{
    odb_buf_puts(&r->out, *regex_lines(r) ? "$" : "\\z");
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
        else if (*r->p == '$')
            regex_dollar(r);
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
    odb_push(&r.lines, false);
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
    free(r.lines.items);
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
