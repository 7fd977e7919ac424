/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recursive descent over
 *
 *     formula  = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
 *     sum      = product {("+" | "-") product}
 *     product  = sign {("*" | "//" | "%") sign}
 *     sign     = "-" sign | part
 *     part     = atom {"[" entry {"," entry} "]"}
 *     entry    = "..." | formula | [formula] ":" [formula] [":" [formula]]
 *     atom     = number | name | name "(" [formula {"," formula}] ")" | "(" formula ")"
 *
 * A name is of letters, digits, "_" and "."; any other stands in quotes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/formula_int.h"

struct parser {
    struct odb_formula *formula;
    const char *text;
    size_t at, depth, terms;
    struct odb_error *err;
};

static enum odb_status parse_formula(struct parser *p, struct formula_term **out);

static enum odb_status parse_fail_at(struct parser *p, size_t at, const char *what)
{
    odb_fail(p->err, ODB_E_USAGE, "formula '%.200s', character %zu: %s", p->text, at + 1, what);
    return odb_error_remedy(p->err, "write something like concat(attention_mask,ones(1,n),1)");
}

static enum odb_status parse_fail(struct parser *p, const char *what)
{
    return parse_fail_at(p, p->at, what);
}

static void term_free(struct formula_term *term)
{
    if (!term)
        return;
    for (size_t i = 0; i < term->terms.n; i++)
        term_free(term->terms.items[i]);
    free(term->terms.items);
    free(term->text);
    free(term);
}

static enum odb_status parse_term(struct parser *p, struct formula_term **out,
                                  enum formula_kind kind, size_t at)
{
    if (p->terms++ >= FORMULA_TERMS)
        return parse_fail(p, "it is too long");
    *out = odb_new(struct formula_term);
    (*out)->kind = kind;
    (*out)->at = at;
    return ODB_OK;
}

static char parse_peek(struct parser *p)
{
    while (p->text[p->at] == ' ' || p->text[p->at] == '\t')
        p->at++;
    return p->text[p->at];
}

static bool parse_take(struct parser *p, const char *word)
{
    parse_peek(p);
    if (strncmp(p->text + p->at, word, strlen(word)) != 0)
        return false;
    p->at += strlen(word);
    return true;
}

/* One more term of another, which owns what there is of it, on failure too. */
static enum odb_status parse_below(struct parser *p, struct formula_term *of,
                                   enum odb_status (*part)(struct parser *, struct formula_term **))
{
    struct formula_term *one = NULL;
    enum odb_status status = part(p, &one);
    if (one)
        odb_push(&of->terms, one);
    return status;
}

/* Formulas between commas up to the closing bracket. */
static enum odb_status parse_list(struct parser *p, struct formula_term *call)
{
    if (parse_take(p, ")"))
        return ODB_OK;
    for (;;) {
        ODB_TRY(parse_below(p, call, parse_formula));
        if (parse_take(p, ")"))
            return ODB_OK;
        if (!parse_take(p, ","))
            return parse_fail(p, "a comma or ) is missing");
    }
}

static void parse_note_name(struct parser *p, const char *name)
{
    for (size_t i = 0; i < p->formula->names.n; i++)
        if (!strcmp(p->formula->names.items[i], name))
            return;
    odb_push(&p->formula->names, odb_xstrdup(name));
}

static enum odb_status parse_call(struct parser *p, struct formula_term **out, size_t from,
                                  size_t n)
{
    size_t number = formula_function_find(p->text + from, n);
    const struct formula_row *row = formula_function_row(number);
    char *what = NULL;
    if (row) {
        ODB_TRY(parse_term(p, out, FORMULA_CALL, from));
        (*out)->function = number;
        ODB_TRY(parse_list(p, *out));
        if ((*out)->terms.n >= row->least && (*out)->terms.n <= row->most)
            return ODB_OK;
        what = odb_xasprintf("it is %s(%s)", row->name, row->help);
    } else {
        what =
            odb_xasprintf("there is no function %.*s", (int)ODB_MIN(n, (size_t)60), p->text + from);
    }
    enum odb_status status = parse_fail_at(p, from, what);
    free(what);
    return status;
}

static bool parse_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static enum odb_status parse_name(struct parser *p, struct formula_term **out)
{
    static const char *const counts[] = {"t", "n", "past", "total"}; /* FORMULA_COUNT */
    size_t from = p->at, n = 0;
    while (parse_in_name(p->text[from + n]))
        n++;
    p->at = from + n;
    if (parse_take(p, "("))
        return parse_call(p, out, from, n);
    ODB_TRY(parse_term(p, out, FORMULA_NAME, from));
    (*out)->text = odb_xstrndup(p->text + from, n);
    for (size_t i = 0; i < ODB_COUNT(counts); i++)
        if (!strcmp((*out)->text, counts[i])) {
            (*out)->kind = FORMULA_COUNT;
            (*out)->integer = (int64_t)i;
            return ODB_OK;
        }
    parse_note_name(p, (*out)->text);
    return ODB_OK;
}

static enum odb_status parse_quoted(struct parser *p, struct formula_term **out)
{
    const char *from = p->text + p->at + 1, *end = strchr(from, from[-1]);
    if (!end)
        return parse_fail(p, "a quote is not closed");
    ODB_TRY(parse_term(p, out, FORMULA_NAME, p->at));
    p->at = (size_t)(end + 1 - p->text);
    (*out)->text = odb_xstrndup(from, (size_t)(end - from));
    parse_note_name(p, (*out)->text);
    return ODB_OK;
}

/* Decimal digits, with a point or a power of ten in them, or none. */
static enum odb_status parse_number(struct parser *p, struct formula_term **out)
{
    const char *from = p->text + p->at;
    size_t n = strspn(from, "0123456789");
    bool real = from[n] == '.';
    if (real)
        n += 1 + strspn(from + n + 1, "0123456789");
    if (from[n] == 'e' || from[n] == 'E') {
        size_t sign = from[n + 1] == '+' || from[n + 1] == '-';
        size_t digits = strspn(from + n + 1 + sign, "0123456789");
        n += digits ? 1 + sign + digits : 0;
        real |= digits > 0;
    }
    if (parse_in_name(from[n]))
        return parse_fail(p, "that is neither a number nor a name");
    ODB_TRY(parse_term(p, out, real ? FORMULA_REAL : FORMULA_INTEGER, p->at));
    errno = 0;
    (*out)->integer = real ? 0 : strtoll(from, NULL, 10);
    if (errno)
        return parse_fail(p, "a whole number has 63 bits");
    (*out)->real = strtod(from, NULL);
    p->at += n;
    return ODB_OK;
}

static enum odb_status parse_atom(struct parser *p, struct formula_term **out)
{
    char c = parse_peek(p);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->text[p->at + 1])))
        return parse_number(p, out);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(p, out);
    if (c == '\'' || c == '"')
        return parse_quoted(p, out);
    if (!parse_take(p, "("))
        return parse_fail(p, "a number, a name or ( is missing");
    ODB_TRY(parse_formula(p, out));
    return parse_take(p, ")") ? ODB_OK : parse_fail(p, "a ) is missing");
}

/* One entry of a slice: its text, and a term for each # in it. */
static enum odb_status parse_entry(struct parser *p, struct formula_term *slice,
                                   struct odb_buf *text)
{
    int colons = 0;
    bool number = false;
    if (parse_take(p, "...")) {
        odb_buf_puts(text, "...");
        return ODB_OK;
    }
    for (;;) {
        char c = parse_peek(p);
        if (c == ':' && colons < 2) {
            odb_buf_putc(text, c);
            p->at++;
            colons++;
            number = false;
        } else if (c == ':' || c == ',' || c == ']' || !c || number) {
            return colons || number ? ODB_OK : parse_fail(p, "an index or a range is missing");
        } else {
            ODB_TRY(parse_below(p, slice, parse_formula));
            odb_buf_putc(text, '#');
            number = true;
        }
    }
}

static enum odb_status parse_slice(struct parser *p, struct formula_term *slice)
{
    struct odb_buf text = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool more = true;
    odb_buf_putc(&text, '[');
    while (more && status == ODB_OK) {
        status = parse_entry(p, slice, &text);
        more = status == ODB_OK && parse_take(p, ",");
        odb_buf_puts(&text, more ? "," : "]");
    }
    if (status == ODB_OK && !parse_take(p, "]"))
        status = parse_fail(p, "a comma or ] is missing");
    slice->text = odb_buf_take(&text);
    return status;
}

static enum odb_status parse_part(struct parser *p, struct formula_term **out)
{
    ODB_TRY(parse_atom(p, out));
    while (parse_take(p, "[")) {
        struct formula_term *slice = NULL;
        ODB_TRY(parse_term(p, &slice, FORMULA_SLICE, p->at - 1));
        odb_push(&slice->terms, *out);
        *out = slice;
        ODB_TRY(parse_slice(p, slice));
    }
    return ODB_OK;
}

static enum odb_status parse_sign(struct parser *p, struct formula_term **out)
{
    struct formula_term *minus = NULL;
    if (!parse_take(p, "-"))
        return parse_part(p, out);
    if (++p->depth > FORMULA_DEPTH)
        return parse_fail(p, "it is too deep");
    ODB_TRY(parse_term(p, out, FORMULA_OPERATOR, p->at - 1));
    (*out)->op = FORMULA_MULTIPLY; /* and not 0 - x, as there is a -0 */
    ODB_TRY(parse_term(p, &minus, FORMULA_INTEGER, p->at - 1));
    minus->integer = -1;
    odb_push(&(*out)->terms, minus);
    enum odb_status status = parse_below(p, *out, parse_sign);
    p->depth--;
    return status;
}

/* Operators of one rank, the longer words first. */
struct parser_word {
    const char *word;
    enum formula_operator op;
};
static const struct parser_word parser_products[] = {
    {"*", FORMULA_MULTIPLY}, {"//", FORMULA_DIVIDE}, {"%", FORMULA_MODULO}, {NULL, 0}};
static const struct parser_word parser_sums[] = {
    {"+", FORMULA_ADD}, {"-", FORMULA_SUBTRACT}, {NULL, 0}};
static const struct parser_word parser_compares[] = {{"<=", FORMULA_LESS_EQUAL},
                                                     {">=", FORMULA_GREATER_EQUAL},
                                                     {"==", FORMULA_EQUAL},
                                                     {"!=", FORMULA_UNEQUAL},
                                                     {"<", FORMULA_LESS},
                                                     {">", FORMULA_GREATER},
                                                     {NULL, 0}};

static enum odb_status parse_chain(struct parser *p, const struct parser_word *words, bool once,
                                   enum odb_status (*inner)(struct parser *,
                                                            struct formula_term **),
                                   struct formula_term **out)
{
    ODB_TRY(inner(p, out));
    for (bool more = true; more;) {
        const struct parser_word *word = words;
        while (word->word && !parse_take(p, word->word))
            word++;
        if (!word->word)
            return ODB_OK;
        struct formula_term *operation = NULL;
        ODB_TRY(parse_term(p, &operation, FORMULA_OPERATOR, p->at - strlen(word->word)));
        operation->op = word->op;
        odb_push(&operation->terms, *out);
        *out = operation;
        ODB_TRY(parse_below(p, operation, inner));
        more = !once;
    }
    return ODB_OK;
}

static enum odb_status parse_product(struct parser *p, struct formula_term **out)
{
    return parse_chain(p, parser_products, false, parse_sign, out);
}

static enum odb_status parse_sum(struct parser *p, struct formula_term **out)
{
    return parse_chain(p, parser_sums, false, parse_product, out);
}

static enum odb_status parse_formula(struct parser *p, struct formula_term **out)
{
    if (++p->depth > FORMULA_DEPTH)
        return parse_fail(p, "it is too deep");
    enum odb_status status = parse_chain(p, parser_compares, true, parse_sum, out);
    p->depth--;
    return status;
}

enum odb_status odb_formula_parse(struct odb_formula **out, const char *text, struct odb_error *err)
{
    struct odb_formula *formula = odb_new(struct odb_formula);
    struct parser p = {.formula = formula, .text = text, .err = err};
    formula->text = odb_xstrdup(text);
    enum odb_status status = parse_formula(&p, &formula->root);
    if (status == ODB_OK && parse_peek(&p))
        status = parse_fail(&p, "nothing more may stand");
    if (status != ODB_OK) {
        odb_formula_free(formula);
        return status;
    }
    *out = formula;
    return ODB_OK;
}

void odb_formula_free(struct odb_formula *formula)
{
    if (!formula)
        return;
    term_free(formula->root);
    for (size_t i = 0; i < formula->names.n; i++)
        free(formula->names.items[i]);
    free(formula->names.items);
    free(formula->text);
    free(formula);
}

const char *odb_formula_name(const struct odb_formula *formula, size_t i)
{
    return i < formula->names.n ? formula->names.items[i] : NULL;
}
