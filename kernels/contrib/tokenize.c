/* SPDX-License-Identifier: MIT
 *
 * Tokenizer (com.microsoft): strings cut at separators, or into what matches an expression.
 *
 * Expressions are RE2's in the operator's definition. Here they may hold characters, escaped ones,
 * ., classes in brackets, and ?, *, + after any of these; they are matched as there, leftmost and
 * as much as possible from the left. What else RE2 knows is unsupported.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "kernels/contrib/contrib.h"
#include "kernels/core/kern.h"

/* --- expressions ------------------------------------------------------------------------------ */

struct tokenize_range {
    uint32_t from, to;
};

/* One character out of some ranges, so many times. */
struct tokenize_atom {
    bool negated;
    bool optional, many;
    size_t first, n; /* ranges */
};

struct tokenize_exp {
    ODB_VEC(struct tokenize_atom) atoms;
    ODB_VEC(struct tokenize_range) ranges;
};

/* The character at *at, which moves on. Invalid UTF-8: ODB_E_OPERATOR. */
static enum odb_status tokenize_char(struct odb_kern *k, const char *s, size_t len, size_t *at,
                                     uint32_t *c)
{
    size_t n = odb_utf8_read(s + *at, len - *at, c);
    *at += n;
    return n ? ODB_OK : ODB_KERN_FAIL(k, "a string is not valid UTF-8");
}

static void tokenize_add_range(struct tokenize_exp *e, uint32_t from, uint32_t to)
{
    odb_push(&e->ranges, (struct tokenize_range){from, to});
    e->atoms.items[e->atoms.n - 1].n++;
}

/* What stands behind a backslash: a sign, or the letter of a class or of a control character. */
static enum odb_status tokenize_escape(struct odb_kern *k, struct tokenize_exp *e, uint32_t c)
{
    static const struct {
        char letter;
        struct tokenize_range ranges[4];
        size_t n;
    } classes[] = {{'d', {{'0', '9'}}, 1},
                   {'s', {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
                   {'w', {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}, 4},
                   {'n', {{'\n', '\n'}}, 1},
                   {'r', {{'\r', '\r'}}, 1},
                   {'t', {{'\t', '\t'}}, 1}};
    for (size_t i = 0; i < ODB_COUNT(classes); i++)
        if (c == (uint32_t)classes[i].letter) {
            for (size_t r = 0; r < classes[i].n; r++)
                tokenize_add_range(e, classes[i].ranges[r].from, classes[i].ranges[r].to);
            return ODB_OK;
        }
    bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (word || c >= 0x80)
        return ODB_KERN_UNSUPPORTED(k, "\\%c in an expression", (char)c);
    tokenize_add_range(e, c, c);
    return ODB_OK;
}

/* A class, from behind its bracket to behind the closing one. */
static enum odb_status tokenize_class(struct odb_kern *k, struct tokenize_exp *e, const char *s,
                                      size_t len, size_t *at)
{
    uint32_t c, to;
    size_t start = *at;
    if (*at < len && s[*at] == '^') {
        e->atoms.items[e->atoms.n - 1].negated = true;
        start = ++*at;
    }
    for (;;) {
        if (*at >= len || (s[*at] == '[' && *at + 1 < len && s[*at + 1] == ':'))
            return ODB_KERN_UNSUPPORTED(k, "the class \"%s\"", s);
        bool first = *at == start;
        ODB_TRY(tokenize_char(k, s, len, at, &c));
        if (c == ']' && !first)
            return ODB_OK;
        if (c == '\\' && *at < len) {
            ODB_TRY(tokenize_char(k, s, len, at, &c));
            ODB_TRY(tokenize_escape(k, e, c));
            continue;
        }
        to = c;
        if (*at + 1 < len && s[*at] == '-' && s[*at + 1] != ']') {
            ++*at;
            ODB_TRY(tokenize_char(k, s, len, at, &to));
            if (to == '\\' || to < c)
                return ODB_KERN_UNSUPPORTED(k, "the class \"%s\"", s);
        }
        tokenize_add_range(e, c, to);
    }
}

static enum odb_status tokenize_parse(struct odb_kern *k, const char *s, size_t len,
                                      struct tokenize_exp *e)
{
    for (size_t at = 0; at < len;) {
        uint32_t c;
        ODB_TRY(tokenize_char(k, s, len, &at, &c));
        if (c < 0x80 && strchr("|(){}^$*+?", (int)c))
            return ODB_KERN_UNSUPPORTED(k, "%c in the expression \"%s\"", (char)c, s);
        odb_push(&e->atoms, (struct tokenize_atom){.first = e->ranges.n});
        if (c == '[') {
            ODB_TRY(tokenize_class(k, e, s, len, &at));
        } else if (c == '.') {
            e->atoms.items[e->atoms.n - 1].negated = true;
            tokenize_add_range(e, '\n', '\n');
        } else if (c == '\\' && at < len) {
            ODB_TRY(tokenize_char(k, s, len, &at, &c));
            ODB_TRY(tokenize_escape(k, e, c));
        } else {
            tokenize_add_range(e, c, c);
        }
        if (at < len && s[at] && strchr("?*+", s[at])) {
            e->atoms.items[e->atoms.n - 1].optional = s[at] != '+';
            e->atoms.items[e->atoms.n - 1].many = s[at] != '?';
            at++;
        }
    }
    return ODB_OK;
}

static void tokenize_exp_free(struct tokenize_exp *e)
{
    free(e->atoms.items);
    free(e->ranges.items);
}

static bool tokenize_fits(const struct tokenize_exp *e, const struct tokenize_atom *a, uint32_t c)
{
    bool found = false;
    for (size_t i = 0; i < a->n && !found; i++)
        found = c >= e->ranges.items[a->first + i].from && c <= e->ranges.items[a->first + i].to;
    return found != a->negated;
}

/* End of the match of atoms from `atom` on that starts at character `at`; -1: none. As many
 * characters as possible for each atom in turn. */
static ptrdiff_t tokenize_match(const struct tokenize_exp *e, size_t atom, const uint32_t *s,
                                size_t n, size_t at)
{
    for (; atom < e->atoms.n; atom++) {
        const struct tokenize_atom *a = &e->atoms.items[atom];
        size_t most = a->many ? n - at : 1, count = 0;
        while (count < most && at + count < n && tokenize_fits(e, a, s[at + count]))
            count++;
        if (!a->optional && count == 0)
            return -1;
        for (; count > (a->optional ? 0u : 1u); count--) {
            ptrdiff_t end = tokenize_match(e, atom + 1, s, n, at + count);
            if (end >= 0)
                return end;
        }
        at += count;
    }
    return (ptrdiff_t)at;
}

/* --- strings ---------------------------------------------------------------------------------- */

struct tokenize_piece {
    size_t from, to; /* characters of its string */
};

struct tokenize_text {
    uint32_t *chars; /* owned */
    size_t *at;      /* owned, [n + 1]: byte at which each begins */
    size_t n;
    ODB_VEC(struct tokenize_piece) pieces;
};

static enum odb_status tokenize_read(struct odb_kern *k, const struct odb_str *s,
                                     struct tokenize_text *t)
{
    t->chars = odb_work_take(s->len + 1, sizeof *t->chars);
    t->at = odb_work_take(s->len + 1, sizeof *t->at);
    if (!t->chars || !t->at)
        return odb_kern_no_memory(k);
    for (size_t at = 0; at < s->len; t->n++) {
        t->at[t->n] = at;
        ODB_TRY(tokenize_char(k, s->data, s->len, &at, &t->chars[t->n]));
    }
    t->at[t->n] = s->len;
    odb_push(&t->pieces, (struct tokenize_piece){0, t->n});
    return ODB_OK;
}

/* Every piece is replaced by its parts: what matches (keep), or what stands between matches. */
static void tokenize_cut(struct tokenize_text *t, const struct tokenize_exp *e, bool keep,
                         size_t least)
{
    struct tokenize_text cut = {.n = 0};
    for (size_t p = 0; p < t->pieces.n; p++) {
        size_t from = t->pieces.items[p].from, to = t->pieces.items[p].to;
        for (size_t at = from; at <= to;) {
            ptrdiff_t end = tokenize_match(e, 0, t->chars, to, at);
            if (end < 0 || (size_t)end == at) { /* what is empty separates nothing */
                bool splits = end >= 0 && !keep && at < to;
                if (splits && at - from >= least)
                    odb_push(&cut.pieces, (struct tokenize_piece){from, at});
                from = splits ? at + 1 : from;
                at++;
                continue;
            }
            struct tokenize_piece piece = {keep ? at : from, keep ? (size_t)end : at};
            if (piece.to - piece.from >= least)
                odb_push(&cut.pieces, piece);
            from = at = (size_t)end;
        }
        if (!keep && to - from >= least)
            odb_push(&cut.pieces, (struct tokenize_piece){from, to});
    }
    free(t->pieces.items);
    memcpy(&t->pieces, &cut.pieces, sizeof t->pieces);
}

/* --- the operator ----------------------------------------------------------------------------- */

struct tokenize {
    ODB_VEC(struct tokenize_exp) exps;
    bool keep;    /* matches are the tokens */
    bool mark;    /* with what begins and ends a text around them */
    size_t least; /* characters of a token */
};

static enum odb_status tokenize_setup(struct odb_kern *k, struct tokenize *t)
{
    const struct odb_attr *exp = odb_attrs_find(&k->attrs, "tokenexp");
    size_t n = 0;
    const struct odb_str *separators = odb_kern_strings(k, "separators", &n);
    int64_t least = odb_kern_int(k, "mincharnum", 1);
    bool whole = exp && exp->type == ODB_ATTR_STRING && exp->s.len;
    bool characters = n == 1 && separators[0].len == 0;
    t->keep = whole || characters;
    t->mark = odb_kern_int(k, "mark", 0) != 0;
    t->least = (size_t)ODB_MAX(least, 0);
    if (whole == (n > 0))
        return ODB_KERN_FAIL(k, "either separators or tokenexp must be given");
    for (size_t i = 0; i < (whole ? 1 : n); i++) {
        struct odb_str s = whole ? exp->s : separators[i];
        odb_push(&t->exps, (struct tokenize_exp){.atoms = {0}});
        struct tokenize_exp *e = &t->exps.items[i];
        if (characters) { /* any one, that which ends a line included */
            odb_push(&e->atoms, (struct tokenize_atom){.negated = true});
            continue;
        }
        if (s.len == 0)
            return ODB_KERN_FAIL(k, "a separator is empty");
        ODB_TRY(tokenize_parse(k, s.data, s.len, e));
    }
    return ODB_OK;
}

/* Tokens of text i in row i of y, padded. */
static enum odb_status tokenize_write(struct odb_kern *k, const struct tokenize *t,
                                      const struct tokenize_text *text, const struct odb_str *s,
                                      size_t row)
{
    struct odb_tensor *y = k->out[0];
    const struct odb_attr *pad = odb_attrs_find(&k->attrs, "pad_value");
    size_t width = (size_t)y->dims[y->rank - 1], at = row * width, end = at + width;
    if (t->mark)
        ODB_TRY(odb_tensor_set_string(y, at++, "\x02", 1, k->err));
    for (size_t p = 0; p < text->pieces.n; p++) {
        size_t from = text->at[text->pieces.items[p].from];
        size_t to = text->at[text->pieces.items[p].to];
        ODB_TRY(odb_tensor_set_string(y, at++, s->data + from, to - from, k->err));
    }
    if (t->mark)
        ODB_TRY(odb_tensor_set_string(y, at++, "\x03", 1, k->err));
    for (; pad && pad->type == ODB_ATTR_STRING && at < end; at++)
        ODB_TRY(odb_tensor_set_string(y, at, pad->s.data, pad->s.len, k->err));
    return ODB_OK;
}

static enum odb_status tokenize_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    const struct odb_str *s = x->data;
    struct tokenize t = {.keep = false};
    struct tokenize_text *texts = odb_work_take(x->count, sizeof *texts);
    if (!texts)
        return odb_kern_no_memory(k);
    enum odb_status status = ODB_OK;
    size_t most = 0;
    int64_t dims[ODB_MAX_RANK + 1];
    if (x->rank < 1 || x->rank > 2)
        ODB_TRY_OUT(ODB_KERN_FAIL(k, "%s takes 1 or 2 dimensions, not %d", k->op->name, x->rank));
    ODB_TRY_OUT(tokenize_setup(k, &t));
    for (size_t i = 0; i < x->count; i++) {
        ODB_TRY_OUT(tokenize_read(k, &s[i], &texts[i]));
        for (size_t e = 0; e < t.exps.n; e++)
            tokenize_cut(&texts[i], &t.exps.items[e], t.keep, t.least);
        most = ODB_MAX(most, texts[i].pieces.n);
    }
    memcpy(dims, x->dims, sizeof x->dims);
    dims[x->rank] = most ? (int64_t)most + 2 * t.mark : 0;
    ODB_TRY_OUT(odb_kern_output(k, 0, ODB_STRING, x->count ? x->rank + 1 : x->rank, dims));
    for (size_t i = 0; k->out[0] && most && i < x->count; i++)
        ODB_TRY_OUT(tokenize_write(k, &t, &texts[i], &s[i], i));
out:
    for (size_t i = 0; i < x->count; i++) {
        odb_work_give(texts[i].chars);
        odb_work_give(texts[i].at);
        free(texts[i].pieces.items);
    }
    for (size_t e = 0; e < t.exps.n; e++)
        tokenize_exp_free(&t.exps.items[e]);
    free(t.exps.items);
    odb_work_give(texts);
    return status;
}

static const struct odb_attr_spec tokenize_attrs[] = {
    {"mark", ODB_ATTR_INT, NULL, true},         {"mincharnum", ODB_ATTR_INT, NULL, true},
    {"pad_value", ODB_ATTR_STRING, NULL, true}, {"separators", ODB_ATTR_STRINGS, NULL, false},
    {"tokenexp", ODB_ATTR_STRING, NULL, false}, {NULL}};

const struct odb_op odb_ops_tokenize[] = {
    ODB_MICROSOFT("Tokenizer", ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT, tokenize_attrs, NULL,
                  tokenize_run, ODB_T_STRING, ODB_NAMES("X", "Y")),
    {.name = NULL},
};
