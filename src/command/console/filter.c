/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A filter is a row of terms; one that begins an alternative says so. Fields are rows of a table,
 * so that parser, matcher, completion and help cannot disagree about them.
 */
#include "command/console/filter.h"

#include <fnmatch.h>
#include <math.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/utf8.h"
#include "command/console/complete.h"
#include "model/model.h"
#include "run/value_report.h"
#include "session/session_state.h"

/* Not regcomp(), which takes gigabytes for a row of forty "+", nor regexec(), which has no end. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/map.h"
#include "base/utf8.h"

#define FILTER_MOST 500     /* words that completion offers */
#define FILTER_STEPS 100000 /* of an expression on one name; one that needs more does not fit */

/* Where a term looks. */
struct filter_place {
    const struct odb_session *session;
    const struct odb_node *node;
    const struct odb_value_report *report;
    int value; /* that the report is about, or ODB_NO_VALUE */
};

struct filter_term;

struct filter_field {
    const char *name, *help;
    /* One of these: a text (or several) that the term is tried on, or a number. */
    bool (*text)(const struct filter_place *place, const struct filter_term *term);
    struct odb_number (*number)(const struct filter_place *place);
    bool follows; /* changes as the search goes on */
};

struct filter_term {
    const struct filter_field *field; /* NULL: a word */
    bool begins;                      /* an alternative */
    bool negated, quoted;
    bool capitals; /* there are some in the text, so case counts */
    bool pattern;  /* of fnmatch(), which also knows other letters' cases than those of ASCII */
    char op;       /* ':' whole, '~' expression; '<', '>', '=' numbers */
    bool equal;    /* with '<' and '>': or equal */
    char *text;    /* owned */
    double number;
    pcre2_code *expression;      /* owned; op '~' */
    pcre2_match_data *match;     /* owned */
    pcre2_match_context *limits; /* owned */
};

struct odb_filter {
    ODB_VEC(struct filter_term) terms;
};

/* --- what a node has -------------------------------------------------------------------------- */

static bool filter_try(const struct filter_term *term, const char *text)
{
    if (term->op == '~')
        return pcre2_match(term->expression, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
                           term->match, term->limits) >= 0;
    if (term->capitals ? !strcmp(term->text, text) : !strcasecmp(term->text, text))
        return true; /* also where a bracket is meant */
    return term->pattern && fnmatch(term->text, text, term->capitals ? 0 : FNM_CASEFOLD) == 0;
}

static bool filter_try_values(const struct filter_place *place, const int *list, int n,
                              const struct filter_term *term)
{
    const struct odb_graph *graph = place->session->model->graph;
    for (int i = 0; i < n; i++)
        if (list[i] != ODB_NO_VALUE && filter_try(term, graph->values[list[i]].name))
            return true;
    return false;
}

static bool filter_op(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try(term, place->node->op_type);
}

static bool filter_name(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try(term, place->node->name);
}

static bool filter_in(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try_values(place, place->node->in, place->node->n_in, term);
}

static bool filter_out(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try_values(place, place->node->out, place->node->n_out, term);
}

static bool filter_domain(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try(term, *place->node->domain ? place->node->domain : "ai.onnx");
}

static bool filter_type(const struct filter_place *place, const struct filter_term *term)
{
    struct odb_buf type = ODB_BUF_INIT;
    if (place->value != ODB_NO_VALUE)
        odb_session_put_type(place->session, place->value, &type);
    bool found = filter_try(term, odb_buf_text(&type));
    odb_buf_dispose(&type);
    return found;
}

static bool filter_is_culprit(const struct filter_place *place)
{
    return place->report->culprit || odb_session_culprit(place->session, place->node->index);
}

static bool filter_verdict(const struct filter_place *place, const struct filter_term *term)
{
    return filter_try(term, odb_verdict_name(place->report->verdict)) ||
           (odb_verdict_is_bad(place->report->verdict) && filter_try(term, "off")) ||
           (filter_is_culprit(place) && filter_try(term, "culprit"));
}

static bool filter_runs(const struct filter_place *place, const struct filter_term *term)
{
    const char *where = odb_session_place(place->session, place->node->index);
    return filter_try(term, where ? where : "");
}

static bool filter_kernel(const struct filter_place *place, const struct filter_term *term)
{
    const struct odb_kernel *kernel = odb_session_kernel(place->session, place->node->index);
    return filter_try(term, kernel ? kernel->name : "");
}

static struct odb_number filter_error(const struct filter_place *place)
{
    const struct odb_value_report *report = place->report;
    if (report->verdict == ODB_VERDICT_UNTESTED)
        return (struct odb_number){.known = false};
    return ODB_NUMBER(odb_report_error(report));
}

static struct odb_number filter_local(const struct filter_place *place)
{
    return place->report->local_error;
}

static struct odb_number filter_noise(const struct filter_place *place)
{
    return place->report->noise;
}

static struct odb_number filter_gain(const struct filter_place *place)
{
    return place->report->gain;
}

static struct odb_number filter_index(const struct filter_place *place)
{
    return ODB_NUMBER(place->node->index);
}

static const struct filter_field filter_fields[] = {
    {.name = "op", .help = "its operator", .text = filter_op},
    {.name = "name", .help = "its name", .text = filter_name},
    {.name = "in", .help = "a value that it reads", .text = filter_in},
    {.name = "out", .help = "a value that it makes", .text = filter_out},
    {.name = "domain", .help = "of the operator; ai.onnx is ONNX's own", .text = filter_domain},
    {.name = "type", .help = "of what it makes: float[1,64,56,56]", .text = filter_type},
    {.name = "verdict", .help = "pass, fail, …", .text = filter_verdict, .follows = true},
    {.name = "runs", .help = "where the target runs it", .text = filter_runs, .follows = true},
    {.name = "kernel",
     .help = "the target's kernel that it is in",
     .text = filter_kernel,
     .follows = true},
    {.name = "err", .help = "its error", .number = filter_error, .follows = true},
    {.name = "local",
     .help = "the part of it that is its own",
     .number = filter_local,
     .follows = true},
    {.name = "noise", .help = "of honest rounding", .number = filter_noise, .follows = true},
    {.name = "gain",
     .help = "how much it made what it inherited grow",
     .number = filter_gain,
     .follows = true},
    {.name = "index", .help = "its place in the list", .number = filter_index},
};

/* Words that say how a node is marked; all others are looked for in names. */
static const char *const filter_marks[] = {"culprit", "off", "bad", "break"};

static bool filter_is_mark(const char *word)
{
    enum odb_verdict verdict;
    for (size_t i = 0; i < ODB_COUNT(filter_marks); i++)
        if (!strcmp(word, filter_marks[i]))
            return true;
    return odb_verdict_parse(&verdict, word);
}

/* --- parsing ---------------------------------------------------------------------------------- */

#define FILTER_OPS ":~<>="

struct filter_parser {
    const char *text, *p;
    const char *where; /* of what is wrong */
    struct odb_error *err;
};

static enum odb_status filter_remedy_fields(struct odb_error *err)
{
    struct odb_buf names = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(filter_fields); i++)
        odb_buf_printf(&names, "%s%s", i ? " " : "", filter_fields[i].name);
    odb_error_remedy(err, "fields are %s; quotes take a word as it is", odb_buf_text(&names));
    odb_buf_dispose(&names);
    return ODB_E_USAGE;
}

static const struct filter_field *filter_field(const char *name, size_t n)
{
    if (n == 5 && !strncmp(name, "error", n))
        name = "err", n = 3;
    for (size_t i = 0; i < ODB_COUNT(filter_fields); i++)
        if (strlen(filter_fields[i].name) == n && !strncmp(filter_fields[i].name, name, n))
            return &filter_fields[i];
    return NULL;
}

/* A word up to a blank or |, of which parts may be quoted. */
static enum odb_status filter_word(struct filter_parser *parser, struct filter_term *term)
{
    struct odb_buf word = ODB_BUF_INIT;
    const char *begun = parser->p;
    for (; *parser->p && !strchr(" \t|", *parser->p); parser->p++) {
        const char *end = strchr("'\"", *parser->p) ? strchr(parser->p + 1, *parser->p) : NULL;
        if (end) {
            odb_buf_add(&word, parser->p + 1, (size_t)(end - parser->p - 1));
            parser->p = end;
            term->quoted = true;
        } else if (*parser->p == '"') {
            parser->where = parser->p;
            odb_buf_dispose(&word);
            return odb_fail(parser->err, ODB_E_USAGE, "the quote is not closed");
        } else {
            odb_buf_putc(&word, *parser->p);
        }
    }
    term->text = word.len ? odb_buf_take(&word) : odb_xstrdup("");
    odb_buf_dispose(&word);
    for (const char *p = term->text; *p; p++) {
        term->capitals |= isupper((unsigned char)*p) != 0;
        term->pattern |= !term->quoted && (strchr("*?[\\", *p) || (unsigned char)*p >= 0x80);
    }
    if (*term->text || term->quoted)
        return ODB_OK;
    parser->where = begun;
    return odb_fail(parser->err, ODB_E_USAGE,
                    term->field     ? "something is missing here"
                    : term->negated ? "what is not to be is missing"
                                    : "a word is missing");
}

static enum odb_status filter_compile(struct filter_parser *parser, struct filter_term *term)
{
    PCRE2_SIZE where;
    int code;
    term->expression =
        pcre2_compile((PCRE2_SPTR)term->text, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | (term->capitals ? 0 : PCRE2_CASELESS),
                      &code, &where, NULL);
    if (!term->expression) {
        PCRE2_UCHAR why[128];
        pcre2_get_error_message(code, why, sizeof why);
        return odb_fail(parser->err, ODB_E_USAGE, "%s", (const char *)why);
    }
    term->match = pcre2_match_data_create(1, NULL);
    term->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(term->limits, FILTER_STEPS);
    return ODB_OK;
}

/* What stands behind a field's operator. */
static enum odb_status filter_operand(struct filter_parser *parser, struct filter_term *term)
{
    const char *begun = parser->p;
    ODB_TRY(filter_word(parser, term));
    parser->where = begun;
    if (term->op == '~') {
        return filter_compile(parser, term);
    } else if (term->field->number) {
        char *end;
        term->number = strtod(term->text, &end);
        if (end == term->text || *end || isnan(term->number))
            return odb_fail(parser->err, ODB_E_USAGE, "'%.40s' is no number", term->text);
    }
    return ODB_OK;
}

/* FIELD and the operator behind it. */
static enum odb_status filter_head(struct filter_parser *parser, struct filter_term *term, size_t n)
{
    parser->where = parser->p;
    term->field = filter_field(parser->p, n);
    if (!term->field) {
        odb_fail(parser->err, ODB_E_USAGE, "there is no field '%.*s'", (int)ODB_MIN(n, 40u),
                 parser->p);
        return filter_remedy_fields(parser->err);
    }
    parser->p += n;
    parser->where = parser->p;
    term->op = *parser->p++;
    if (strchr("<>", term->op) && *parser->p == '=') {
        term->equal = true;
        parser->p++;
    }
    if (term->field->number && !strchr("<>=", term->op))
        return odb_fail(parser->err, ODB_E_USAGE,
                        "%s is a number: compare it with < <= > >= =", term->field->name);
    if (term->field->text && strchr("<>", term->op))
        return odb_fail(parser->err, ODB_E_USAGE, "%s is a text: try it with : or ~",
                        term->field->name);
    return ODB_OK;
}

static enum odb_status filter_term(struct filter_parser *parser, struct filter_term *term)
{
    if (*parser->p == '!') {
        term->negated = true;
        parser->p++;
    }
    size_t n = strcspn(parser->p, FILTER_OPS "'\" \t|");
    if (!n || !parser->p[n] || !strchr(FILTER_OPS, parser->p[n]))
        return filter_word(parser, term);
    ODB_TRY(filter_head(parser, term, n));
    return filter_operand(parser, term);
}

enum odb_status odb_filter_parse(struct odb_filter **out, const char *text, size_t *at,
                                 struct odb_error *err)
{
    struct filter_parser parser = {.text = text, .p = text, .where = text, .err = err};
    struct odb_filter *filter = odb_new(struct odb_filter);
    enum odb_status status = ODB_OK;
    bool begins = true;
    while (status == ODB_OK) {
        parser.p += strspn(parser.p, " \t");
        if (!*parser.p)
            break;
        if (*parser.p == '|') {
            parser.where = parser.p++;
            if (begins)
                status = odb_fail(err, ODB_E_USAGE, "a word is missing in front of |");
            begins = true;
            continue;
        }
        odb_push(&filter->terms, (struct filter_term){.begins = begins});
        begins = false;
        status = filter_term(&parser, &filter->terms.items[filter->terms.n - 1]);
    }
    if (status == ODB_OK && begins && filter->terms.n) {
        parser.where = parser.p;
        status = odb_fail(err, ODB_E_USAGE, "a word is missing behind |");
    }
    *at = (size_t)(parser.where - text);
    if (status != ODB_OK) {
        odb_filter_free(filter);
        filter = NULL;
    }
    *out = filter;
    return status;
}

void odb_filter_free(struct odb_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->terms.n; i++) {
        struct filter_term *term = &filter->terms.items[i];
        pcre2_match_context_free(term->limits);
        pcre2_match_data_free(term->match);
        pcre2_code_free(term->expression);
        free(term->text);
    }
    free(filter->terms.items);
    free(filter);
}

/* --- matching --------------------------------------------------------------------------------- */

static bool filter_value_holds(const struct odb_graph *graph, const int *list, int n,
                               const char *text)
{
    for (int i = 0; i < n; i++)
        if (list[i] != ODB_NO_VALUE && odb_text_matches(graph->values[list[i]].name, text))
            return true;
    return false;
}

static bool filter_mark_matches(const struct filter_place *place, const char *mark)
{
    if (!strcmp(mark, "culprit"))
        return filter_is_culprit(place);
    if (!strcmp(mark, "off") || !strcmp(mark, "bad"))
        return odb_verdict_is_bad(place->report->verdict);
    if (!strcmp(mark, "break"))
        return place->session->breaks[place->node->index];
    return !strcmp(mark, odb_verdict_name(place->report->verdict));
}

static bool filter_name_holds(const struct filter_place *place, const char *text, bool readers)
{
    const struct odb_graph *graph = place->session->model->graph;
    const struct odb_node *node = place->node;
    return odb_text_matches(node->name, text) || odb_text_matches(node->op_type, text) ||
           odb_text_matches(node->domain, text) ||
           (readers && filter_value_holds(graph, node->in, node->n_in, text)) ||
           filter_value_holds(graph, node->out, node->n_out, text);
}

static struct filter_place filter_place(const struct odb_session *session, int node)
{
    struct filter_place place = {.session = session, .node = &session->model->graph->nodes[node]};
    place.report = odb_session_node(session, node, &place.value);
    return place;
}

bool odb_filter_word(const struct odb_session *session, int node, const char *word, bool readers)
{
    struct filter_place place = filter_place(session, node);
    return filter_is_mark(word) ? filter_mark_matches(&place, word)
                                : filter_name_holds(&place, word, readers);
}

static bool filter_word_matches(const struct filter_place *place, const struct filter_term *term)
{
    return !term->quoted && filter_is_mark(term->text) ? filter_mark_matches(place, term->text)
                                                       : filter_name_holds(place, term->text, true);
}

static bool filter_number_matches(const struct filter_term *term, struct odb_number number)
{
    if (!number.known)
        return false;
    if (isnan(number.v)) /* as bad as it gets */
        number.v = HUGE_VAL;
    if (number.v == term->number)
        return term->equal || term->op == '=';
    return term->op == '<' ? number.v < term->number : term->op == '>' && number.v > term->number;
}

static bool filter_term_matches(const struct filter_place *place, const struct filter_term *term)
{
    bool found = !term->field          ? filter_word_matches(place, term)
                 : term->field->number ? filter_number_matches(term, term->field->number(place))
                                       : term->field->text(place, term);
    return found != term->negated;
}

bool odb_filter_matches(const struct odb_filter *filter, const struct odb_session *session,
                        int node)
{
    struct filter_place place = filter_place(session, node);
    bool all = true;
    for (size_t i = 0; i < filter->terms.n; i++) {
        if (filter->terms.items[i].begins && i) {
            if (all)
                return true;
            all = true;
        }
        all = all && filter_term_matches(&place, &filter->terms.items[i]);
    }
    return all;
}

bool odb_filter_follows(const struct odb_filter *filter)
{
    for (size_t i = 0; i < filter->terms.n; i++) {
        const struct filter_term *term = &filter->terms.items[i];
        if (term->field ? term->field->follows : !term->quoted && filter_is_mark(term->text))
            return true;
    }
    return false;
}

bool odb_filter_asks_search(const struct odb_filter *filter)
{
    for (size_t i = 0; i < filter->terms.n; i++) {
        const struct filter_term *term = &filter->terms.items[i];
        if (term->field
                ? term->field->follows
                : !term->quoted && filter_is_mark(term->text) && strcmp(term->text, "break") != 0)
            return true;
    }
    return false;
}

/* --- completing ------------------------------------------------------------------------------- */

struct filter_offer {
    struct odb_completion *out;
    const char *head; /* stands in front of every word */
    size_t n_head;
    const char *word; /* what the words begin with */
    struct odb_map *seen;
};

static void filter_offer(struct filter_offer *offer, const char *text)
{
    if (!*text || offer->out->words.n >= FILTER_MOST ||
        strncasecmp(text, offer->word, strlen(offer->word)) || !odb_map_add(offer->seen, text, 0))
        return;
    bool quoted = text[strcspn(text, " \t|'\"")] != '\0';
    const char *quote = quoted ? "\"" : "";
    odb_push(&offer->out->words,
             odb_xasprintf("%.*s%s%s%s", (int)offer->n_head, offer->head, quote, text, quote));
}

static void filter_offer_values(struct filter_offer *offer, const struct odb_graph *graph,
                                const int *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i] != ODB_NO_VALUE)
            filter_offer(offer, graph->values[list[i]].name);
}

static void filter_offer_verdicts(struct filter_offer *offer)
{
    for (int i = 0; i < ODB_VERDICT_COUNT; i++)
        filter_offer(offer, odb_verdict_name((enum odb_verdict)i));
    for (size_t i = 0; i < ODB_COUNT(filter_marks); i++)
        filter_offer(offer, filter_marks[i]);
}

static void filter_offer_field(struct filter_offer *offer, const struct filter_field *field,
                               const struct odb_graph *graph)
{
    if (field->text == filter_verdict)
        filter_offer_verdicts(offer);
    for (size_t i = 0; i < graph->n_nodes && !field->number; i++) {
        const struct odb_node *node = &graph->nodes[i];
        if (field->text == filter_op)
            filter_offer(offer, node->op_type);
        else if (field->text == filter_name)
            filter_offer(offer, node->name);
        else if (field->text == filter_domain)
            filter_offer(offer, *node->domain ? node->domain : "ai.onnx");
        else if (field->text == filter_in)
            filter_offer_values(offer, graph, node->in, node->n_in);
        else if (field->text == filter_out)
            filter_offer_values(offer, graph, node->out, node->n_out);
    }
}

static void filter_offer_heads(struct filter_offer *offer)
{
    for (size_t i = 0; i < ODB_COUNT(filter_fields); i++) {
        const struct filter_field *field = &filter_fields[i];
        char *head = odb_xasprintf("%s%c", field->name, field->number ? '>' : ':');
        filter_offer(offer, head);
        free(head);
    }
    offer->out->partial = offer->out->words.n > 0;
    filter_offer_verdicts(offer);
}

static int filter_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What all words begin with. */
static char *filter_common(const struct odb_completion *found)
{
    size_t same = strlen(found->words.items[0]);
    for (size_t i = 1; i < found->words.n; i++) {
        size_t n = 0;
        while (n < same && found->words.items[i][n] == found->words.items[0][n])
            n++;
        same = n;
    }
    return odb_xstrndup(found->words.items[0], odb_utf8_back(found->words.items[0], same));
}

void odb_filter_complete(struct odb_completion *out, const struct odb_graph *graph,
                         const char *text, size_t at)
{
    *out = (struct odb_completion){.from = at};
    while (out->from && !strchr(" \t|", text[out->from - 1]))
        out->from--;
    char *word = odb_xstrndup(text + out->from, at - out->from);
    struct filter_offer offer = {.out = out, .head = word, .seen = odb_map_new()};
    offer.n_head = *word == '!';
    size_t n = strcspn(word + offer.n_head, FILTER_OPS);
    const struct filter_field *field = filter_field(word + offer.n_head, n);
    offer.word = word + offer.n_head;
    if (field && strchr(FILTER_OPS, word[offer.n_head + n])) {
        offer.n_head += n + (word[offer.n_head + n] != '\0');
        offer.word = word + offer.n_head;
        filter_offer_field(&offer, field, graph);
    } else {
        filter_offer_heads(&offer);
    }
    if (out->words.n) {
        qsort(out->words.items, out->words.n, sizeof *out->words.items, filter_compare);
        out->common = filter_common(out);
    }
    odb_map_free(offer.seen);
    free(word);
}

void odb_filter_help(struct odb_buf *out)
{
    for (size_t i = 0; i < ODB_COUNT(filter_fields); i++) {
        const struct filter_field *field = &filter_fields[i];
        odb_buf_printf(out, "%-8s %-12s %s\n", field->name, field->number ? "< <= > >= =" : ": ~",
                       field->help);
    }
}
