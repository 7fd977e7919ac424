/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A parser by recursive descent, and three-valued logic over the nodes that it leaves:
 *
 *     or      = and { "||" and }
 *     and     = not { "&&" not }
 *     not     = "!" not | "(" or ")" | test
 *     test    = [ "ref." ] name [ relation ( number | shape | word ) ]
 *
 * A name is a field of the table below, or a measure of the two tensors; where both have it, the
 * field is meant.
 */
#include "judge/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "run/value_report.h"
#include "tensor/stats.h"

#define CONDITION_DEPTH 100 /* of parentheses and negations: deeper is refused */
#define CONDITION_LONGEST 4000

/* What a name stands for, and what it can be compared with. */
enum condition_type {
    CONDITION_NUMBER,
    CONDITION_COUNT,
    CONDITION_SHAPE,
    CONDITION_DTYPE,
    CONDITION_VERDICT
};

enum condition_field {
    FIELD_ERROR,
    FIELD_ERROR_MEAN,
    FIELD_LOCAL,
    FIELD_INHERITED,
    FIELD_GAIN,
    FIELD_NOISE,
    FIELD_NAN,
    FIELD_INF,
    FIELD_MAX,
    FIELD_MIN,
    FIELD_MEAN,
    FIELD_STD,
    FIELD_ZEROS,
    FIELD_SIZE,
    FIELD_RANK,
    FIELD_CULPRIT,
    FIELD_STEP,
    FIELD_SHAPE,
    FIELD_DTYPE,
    FIELD_VERDICT,
    FIELD_COUNT
};

/* The first two words of a name may be joined by "_" as well. of_tensor: "ref." may stand before
 * it. */
static const struct {
    const char *name;
    enum condition_type type;
    bool of_tensor;
    const char *help;
} condition_fields[FIELD_COUNT] = {
    [FIELD_ERROR] = {"error", CONDITION_NUMBER, false,
                     "largest error; infinite where NaN, a shape or a crash is what is wrong"},
    [FIELD_ERROR_MEAN] = {"mean error", CONDITION_NUMBER, false, "the mean of the errors"},
    [FIELD_LOCAL] = {"local error", CONDITION_NUMBER, false, "what the node itself adds"},
    [FIELD_INHERITED] = {"inherited error", CONDITION_NUMBER, false, "what its inputs brought"},
    [FIELD_GAIN] = {"gain", CONDITION_NUMBER, false, "inherited error over that of the inputs"},
    [FIELD_NOISE] = {"noise", CONDITION_NUMBER, false, "what rounding alone may do"},
    [FIELD_NAN] = {"nan", CONDITION_COUNT, true, "how many elements are NaN"},
    [FIELD_INF] = {"inf", CONDITION_COUNT, true, "how many elements are infinite"},
    [FIELD_MAX] = {"max", CONDITION_NUMBER, true, "the largest finite element"},
    [FIELD_MIN] = {"min", CONDITION_NUMBER, true, "the smallest finite element"},
    [FIELD_MEAN] = {"mean", CONDITION_NUMBER, true, "the mean of the finite elements"},
    [FIELD_STD] = {"std", CONDITION_NUMBER, true, "their standard deviation"},
    [FIELD_ZEROS] = {"zeros", CONDITION_COUNT, true, "how many elements are 0"},
    [FIELD_SIZE] = {"size", CONDITION_NUMBER, true, "how many elements there are"},
    [FIELD_RANK] = {"rank", CONDITION_NUMBER, true, "how many dimensions"},
    [FIELD_CULPRIT] = {"culprit", CONDITION_COUNT, false, "the node's own error is over its noise"},
    [FIELD_STEP] = {"step", CONDITION_NUMBER, false, "of a sequence: which of its runs it is"},
    [FIELD_SHAPE] = {"shape", CONDITION_SHAPE, true, "[2,3], with * for any dimension"},
    [FIELD_DTYPE] = {"dtype", CONDITION_DTYPE, true, "float, float16, int64, …"},
    [FIELD_VERDICT] = {"verdict", CONDITION_VERDICT, false, "pass, fail, nan, shape, …"},
};

enum condition_relation { REL_NONE, REL_LE, REL_GE, REL_EQ, REL_NE, REL_LT, REL_GT };
static const char *const condition_relations[] = {[REL_LE] = "<=", [REL_GE] = ">=", [REL_EQ] = "==",
                                                  [REL_NE] = "!=", [REL_LT] = "<",  [REL_GT] = ">"};

enum condition_op { OP_OR, OP_AND, OP_NOT, OP_TEST };

struct condition_node {
    enum condition_op op;
    size_t left, right; /* of OR, AND; left of NOT */
    /* of TEST */
    enum condition_field field;
    int measure; /* -1: it is a field */
    bool of_reference;
    enum condition_relation relation; /* NONE: more than 0 */
    double number;
    int rank;
    int64_t dims[ODB_MAX_RANK]; /* -1: any */
    enum odb_dtype dtype;
    enum odb_verdict verdict;
};

struct odb_condition {
    ODB_VEC(struct condition_node) nodes;
    size_t root;
};

/* --- words ------------------------------------------------------------------------------------ */

struct condition_parser {
    const char *text, *at;
    struct odb_condition *out;
    int depth;
    struct odb_error *err;
};

static enum odb_status condition_fail(const struct condition_parser *p, const char *expected)
{
    struct odb_buf shown = ODB_BUF_INIT, rest = ODB_BUF_INIT;
    char *found = odb_xstrndup(p->at, strcspn(p->at, " \t"));
    odb_buf_put_shown(&shown, p->text);
    odb_buf_put_shown(&rest, found);
    free(found);
    if (rest.len)
        odb_fail(p->err, ODB_E_USAGE, "%s is expected, not '%.40s'", expected, odb_buf_text(&rest));
    else
        odb_fail(p->err, ODB_E_USAGE, "it ends where %s is expected", expected);
    odb_error_at(p->err, "condition '%.100s', column %zu", odb_buf_text(&shown),
                 (size_t)(p->at - p->text) + 1);
    odb_buf_dispose(&shown);
    odb_buf_dispose(&rest);
    return ODB_E_USAGE;
}

static void condition_blanks(struct condition_parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool condition_take(struct condition_parser *p, const char *token)
{
    condition_blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n))
        return false;
    p->at += n;
    return true;
}

static bool condition_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a name stands at p; a blank in it is any number of them, or "_". Returns its end. */
static const char *condition_match(const char *p, const char *name)
{
    for (; *name; name++) {
        if (*name != ' ') {
            if (*p++ != *name)
                return NULL;
            continue;
        }
        if (*p != '_' && !isspace((unsigned char)*p))
            return NULL;
        p++;
        while (isspace((unsigned char)*p))
            p++;
    }
    return condition_letter(*p) ? NULL : p;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* What the node's name can be compared with. */
static enum condition_type condition_type(const struct condition_node *node)
{
    if (node->measure < 0)
        return condition_fields[node->field].type;
    return odb_measure_type((size_t)node->measure) == ODB_MEASURE_REAL ? CONDITION_NUMBER
                                                                       : CONDITION_COUNT;
}

static enum odb_status condition_name(struct condition_parser *p, struct condition_node *node)
{
    const char *end = NULL;
    size_t word = 0;
    condition_blanks(p);
    const char *begin = p->at;
    node->of_reference = condition_take(p, "ref.");
    for (int f = 0; f < FIELD_COUNT; f++) {
        const char *stop = condition_match(p->at, condition_fields[f].name);
        if (stop && stop > end) {
            node->field = (enum condition_field)f;
            end = stop;
        }
    }
    while (condition_letter(p->at[word]))
        word++;
    node->measure = end ? -1 : odb_measure_find(p->at, word);
    if (node->measure >= 0)
        end = p->at + word;
    if (!end) {
        p->at = begin;
        return condition_fail(p, "a name such as error, nan, max, cosine or shape");
    }
    if (node->of_reference && (node->measure >= 0 || !condition_fields[node->field].of_tensor)) {
        p->at = begin;
        return condition_fail(p, "an element's number, a shape or a type behind 'ref.'");
    }
    p->at = end;
    return ODB_OK;
}

static enum odb_status condition_number(struct condition_parser *p, double *out)
{
    char *end;
    condition_blanks(p);
    *out = strtod(p->at, &end);
    if (end == p->at || condition_letter(*end) || isnan(*out))
        return condition_fail(p, "a number");
    p->at = end;
    return ODB_OK;
}

static enum odb_status condition_shape(struct condition_parser *p, struct condition_node *node)
{
    if (!condition_take(p, "["))
        return condition_fail(p, "a shape such as [1,3,*]");
    while (!condition_take(p, "]")) {
        char *end;
        if (node->rank && !condition_take(p, ","))
            return condition_fail(p, "',' or ']'");
        if (node->rank == ODB_MAX_RANK)
            return condition_fail(p, "']'");
        bool any = condition_take(p, "*");
        long long dim = any ? -1 : strtoll(p->at, &end, 10);
        if (!any && (end == p->at || dim < 0))
            return condition_fail(p, "a dimension or *");
        p->at = any ? p->at : end;
        node->dims[node->rank++] = dim;
    }
    return ODB_OK;
}

/* A type or a verdict. */
static enum odb_status condition_word(struct condition_parser *p, struct condition_node *node)
{
    bool type = condition_fields[node->field].type == CONDITION_DTYPE;
    condition_blanks(p);
    size_t n = 0;
    while (condition_letter(p->at[n]))
        n++;
    char *word = odb_xstrndup(p->at, n);
    node->dtype = odb_dtype_parse(word);
    bool known = type ? node->dtype != ODB_UNDEFINED : odb_verdict_parse(&node->verdict, word);
    free(word);
    if (!known)
        return condition_fail(p, type ? "a type such as float or int64"
                                      : "a verdict such as pass, fail or nan");
    p->at += n;
    return ODB_OK;
}

static enum odb_status condition_relation(struct condition_parser *p, struct condition_node *node)
{
    enum condition_type type = condition_type(node);
    condition_blanks(p);
    const char *begin = p->at;
    for (int r = REL_LE; r <= REL_GT && !node->relation; r++)
        if (condition_take(p, condition_relations[r]))
            node->relation = (enum condition_relation)r;
    bool equality = node->relation == REL_EQ || node->relation == REL_NE;
    if (!node->relation && type == CONDITION_COUNT)
        return ODB_OK;
    if (!node->relation)
        return condition_fail(p, "one of < <= > >= == !=");
    if (type <= CONDITION_COUNT)
        return condition_number(p, &node->number);
    if (!equality) {
        p->at = begin;
        return condition_fail(p, "== or !=");
    }
    return type == CONDITION_SHAPE ? condition_shape(p, node) : condition_word(p, node);
}

/* --- sentences -------------------------------------------------------------------------------- */

static size_t condition_add(struct condition_parser *p, struct condition_node node)
{
    odb_push(&p->out->nodes, node);
    return p->out->nodes.n - 1;
}

static enum odb_status condition_or(struct condition_parser *p, size_t *out);

static enum odb_status condition_not(struct condition_parser *p, size_t *out)
{
    struct condition_node node = {.op = OP_TEST, .measure = -1};
    enum odb_status status = ODB_OK;
    if (++p->depth > CONDITION_DEPTH)
        return condition_fail(p, "a condition that is less deep");
    if (condition_take(p, "!")) {
        node.op = OP_NOT;
        ODB_TRY(condition_not(p, &node.left));
        *out = condition_add(p, node);
    } else if (condition_take(p, "(")) {
        ODB_TRY(condition_or(p, out));
        if (!condition_take(p, ")"))
            status = condition_fail(p, "')', '&&' or '||'");
    } else {
        ODB_TRY(condition_name(p, &node));
        ODB_TRY(condition_relation(p, &node));
        *out = condition_add(p, node);
    }
    p->depth--;
    return status;
}

/* One level of precedence: what is bound tighter, joined by a token. */
static enum odb_status
condition_join(struct condition_parser *p, enum condition_op op, const char *token,
               enum odb_status (*tighter)(struct condition_parser *, size_t *), size_t *out)
{
    ODB_TRY(tighter(p, out));
    while (condition_take(p, token)) {
        struct condition_node node = {.op = op, .left = *out};
        ODB_TRY(tighter(p, &node.right));
        *out = condition_add(p, node);
    }
    return ODB_OK;
}

static enum odb_status condition_and(struct condition_parser *p, size_t *out)
{
    return condition_join(p, OP_AND, "&&", condition_not, out);
}

static enum odb_status condition_or(struct condition_parser *p, size_t *out)
{
    return condition_join(p, OP_OR, "||", condition_and, out);
}

enum odb_status odb_condition_parse(struct odb_condition **out, const char *text,
                                    struct odb_error *err)
{
    struct odb_condition *condition = odb_new(struct odb_condition);
    struct condition_parser p = {.text = text, .at = text, .out = condition, .err = err};
    enum odb_status status = ODB_OK;
    if (strlen(text) > CONDITION_LONGEST)
        status =
            odb_fail(err, ODB_E_USAGE, "the condition is longer than %d bytes", CONDITION_LONGEST);
    if (status == ODB_OK)
        status = condition_or(&p, &condition->root);
    condition_blanks(&p);
    if (status == ODB_OK && *p.at)
        status = condition_fail(&p, "'&&', '||' or the end");
    if (status == ODB_OK)
        *out = condition;
    else
        odb_condition_free(condition);
    return status;
}

void odb_condition_free(struct odb_condition *condition)
{
    if (!condition)
        return;
    free(condition->nodes.items);
    free(condition);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* What was computed of the two tensors, once per question. */
struct condition_asked {
    const struct odb_condition *condition;
    const struct odb_condition_facts *facts;
    bool had[2];
    struct odb_stats stats[2];
    struct odb_measured measured; /* where the facts have none */
};

/* As a screen shows it: where numbers cannot say how wrong a value is, it is infinitely so. */
static struct odb_number condition_error(const struct odb_value_report *r)
{
    bool graded = r->verdict == ODB_VERDICT_FAIL || !odb_verdict_is_bad(r->verdict);
    if (!graded || (r->error.known && isnan(r->error.v)))
        return ODB_NUMBER(INFINITY);
    if (r->error.known)
        return r->error;
    return r->verdict == ODB_VERDICT_FAIL   ? ODB_NUMBER(INFINITY)
           : r->verdict == ODB_VERDICT_PASS ? ODB_NUMBER(0)
                                            : r->error;
}

static struct odb_number condition_judged(const struct odb_value_report *r,
                                          enum condition_field field)
{
    switch (field) {
    case FIELD_ERROR:
        return condition_error(r);
    case FIELD_ERROR_MEAN:
        return r->error_mean;
    case FIELD_LOCAL:
        return r->local_error;
    case FIELD_INHERITED:
        return r->inherited_error;
    case FIELD_GAIN:
        return r->gain;
    case FIELD_NOISE:
        return r->noise;
    default:
        break;
    }
    struct odb_number unknown = {false, 0};
    return field == FIELD_CULPRIT && r->verdict != ODB_VERDICT_UNTESTED ? ODB_NUMBER(r->culprit)
                                                                        : unknown;
}

static struct odb_number condition_stat(const struct odb_stats *s, enum condition_field field)
{
    bool finite = s->count > s->nan + s->pos_inf + s->neg_inf;
    struct odb_number unknown = {false, 0};
    switch (field) {
    case FIELD_NAN:
        return ODB_NUMBER((double)s->nan);
    case FIELD_INF:
        return ODB_NUMBER((double)(s->pos_inf + s->neg_inf));
    case FIELD_ZEROS:
        return ODB_NUMBER((double)s->zeros);
    case FIELD_MAX:
        return finite ? ODB_NUMBER(s->max) : unknown;
    case FIELD_MIN:
        return finite ? ODB_NUMBER(s->min) : unknown;
    case FIELD_MEAN:
        return finite ? ODB_NUMBER(s->mean) : unknown;
    case FIELD_STD:
        return finite ? ODB_NUMBER(s->std) : unknown;
    default:
        return unknown;
    }
}

static struct odb_number condition_measured(struct condition_asked *a, size_t measure)
{
    struct odb_number number = {false, 0};
    struct odb_measured *m = a->facts->measured ? a->facts->measured : &a->measured;
    m->evaluated = a->facts->target;
    m->base = a->facts->reference;
    odb_measure(m, odb_measure_needs(measure));
    number.known = odb_measure_value(m, measure, true, &number.v);
    return number;
}

static struct odb_number condition_value(struct condition_asked *a,
                                         const struct condition_node *node)
{
    if (node->measure >= 0)
        return condition_measured(a, (size_t)node->measure);
    const struct odb_number unknown = {false, 0};
    bool which = node->of_reference;
    const struct odb_tensor *t = which ? a->facts->reference : a->facts->target;
    if (node->field == FIELD_STEP)
        return a->facts->step ? ODB_NUMBER((double)*a->facts->step) : unknown;
    if (!condition_fields[node->field].of_tensor)
        return a->facts->report ? condition_judged(a->facts->report, node->field) : unknown;
    if (!t || t->kind != ODB_TENSOR)
        return unknown;
    if (node->field == FIELD_SIZE)
        return ODB_NUMBER((double)t->count);
    if (node->field == FIELD_RANK)
        return ODB_NUMBER(t->rank);
    if (!a->had[which] && (!t->data || odb_stats(&a->stats[which], t, NULL, NULL) != ODB_OK))
        return unknown;
    a->had[which] = true;
    return condition_stat(&a->stats[which], node->field);
}

static bool condition_shape_is(const struct odb_tensor *t, const struct condition_node *node)
{
    bool same = t->rank == node->rank;
    for (int i = 0; i < node->rank && same; i++)
        same = node->dims[i] < 0 || node->dims[i] == t->dims[i];
    return same;
}

static bool condition_compare(double a, enum condition_relation relation, double b)
{
    switch (relation) {
    case REL_LE:
        return a <= b;
    case REL_GE:
        return a >= b;
    case REL_EQ:
        return a == b;
    case REL_NE:
        return a != b;
    case REL_LT:
        return a < b;
    case REL_GT:
        return a > b;
    case REL_NONE:
        break;
    }
    return a > 0;
}

static enum odb_truth condition_test(struct condition_asked *a, const struct condition_node *node)
{
    enum condition_type type = condition_type(node);
    const struct odb_tensor *t = node->of_reference ? a->facts->reference : a->facts->target;
    const struct odb_value_report *report = a->facts->report;
    bool is;
    if (type <= CONDITION_COUNT) {
        struct odb_number number = condition_value(a, node);
        if (!number.known || isnan(number.v)) /* of NaN, every comparison's opposite would hold */
            return ODB_UNKNOWN;
        return condition_compare(number.v, node->relation, node->number) ? ODB_TRUE : ODB_FALSE;
    }
    if (type == CONDITION_VERDICT ? !report : !t || t->kind != ODB_TENSOR)
        return ODB_UNKNOWN;
    is = type == CONDITION_VERDICT ? report->verdict == node->verdict
         : type == CONDITION_DTYPE ? t->dtype == node->dtype
                                   : condition_shape_is(t, node);
    return is == (node->relation == REL_EQ) ? ODB_TRUE : ODB_FALSE;
}

static enum odb_truth condition_answer(struct condition_asked *a, size_t index)
{
    const struct condition_node *node = &a->condition->nodes.items[index];
    if (node->op == OP_TEST)
        return condition_test(a, node);
    enum odb_truth left = condition_answer(a, node->left);
    if (node->op == OP_NOT)
        return (enum odb_truth)(ODB_TRUE - left);
    enum odb_truth right = condition_answer(a, node->right);
    return node->op == OP_AND ? ODB_MIN(left, right) : ODB_MAX(left, right);
}

enum odb_truth odb_condition_ask(const struct odb_condition *condition,
                                 const struct odb_condition_facts *facts)
{
    struct condition_asked asked = {
        .condition = condition, .facts = facts, .measured = {.options = {.th = -1}}};
    return condition_answer(&asked, condition->root);
}

bool odb_condition_holds(const struct odb_condition *condition,
                         const struct odb_condition_facts *facts)
{
    return odb_condition_ask(condition, facts) == ODB_TRUE;
}

void odb_condition_put_measures(const struct odb_condition *condition,
                                const struct odb_measured *measured, struct odb_buf *out)
{
    size_t begin = out->len;
    for (size_t i = 0; i < condition->nodes.n; i++) {
        const struct condition_node *node = &condition->nodes.items[i];
        double v;
        if (node->op == OP_TEST && node->measure >= 0 &&
            odb_measure_value(measured, (size_t)node->measure, true, &v))
            odb_buf_printf(out, "%s%s %.9g", out->len > begin ? ", " : "",
                           odb_measure_name((size_t)node->measure, NULL), isnan(v) ? fabs(v) : v);
    }
}

const char *odb_condition_searched(const struct odb_condition *condition)
{
    for (size_t i = 0; i < condition->nodes.n; i++) {
        const struct condition_node *node = &condition->nodes.items[i];
        if (node->op == OP_TEST && node->measure < 0 && !condition_fields[node->field].of_tensor &&
            node->field != FIELD_ERROR && node->field != FIELD_ERROR_MEAN)
            return condition_fields[node->field].name;
    }
    return NULL;
}

const char *odb_condition_name(size_t i, const char **help)
{
    if (i >= FIELD_COUNT)
        return odb_measure_name(i - FIELD_COUNT, help);
    *help = condition_fields[i].help;
    return condition_fields[i].name;
}

bool odb_condition_of_reference(size_t i)
{
    return i < FIELD_COUNT && condition_fields[i].of_tensor;
}
