/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CPU reference against ONNX Runtime, one random operator call after another.
 *
 *   versus [--op NAME] [--seed N] [--cases N] [--seconds S] [--target SPEC] [--verbose]
 *
 * Both run in children, so that a crash costs one case. What is exact must agree bit for bit
 * (NaN = NaN, -0 = +0), what is rounded to a small part of the root mean square; a call that one
 * refuses the other must refuse, unless it is ONNX Runtime, which has no implementation. One line
 * per operator; each disagreement comes with the seed that draws it again: --op NAME --seed N
 * --cases 1 --verbose shows it. Where ONNX Runtime is known to go its own way, known.c says why.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/transport/target.h"
#include "tensor/tensor_print.h"

#include "known.h"
#include "versus.h"

struct options {
    const char *op, *target;
    uint64_t seed;
    size_t cases;
    double seconds; /* per operator; 0: no limit */
    bool verbose;
};

/* One side of a case. */
struct answer {
    enum odb_status status;
    struct odb_error err;
    struct odb_tensor *out[16]; /* owned */
};

/* LENIENT: they refuse the model because of a type that the operator had not in that version. */
enum outcome { AGREED, REFUSED, NOT_THERE, LENIENT, UNSUPPORTED, KNOWN, DIFFERENT, N_OUTCOMES };

struct score {
    size_t n[N_OUTCOMES], cases;
};

/* --- running --------------------------------------------------------------------------------- */

static void answer_ask(struct answer *a, struct odb_target *target, const struct draw *d,
                       const struct odb_buf *model)
{
    char names[VS_INPUTS][16], out_names[16][16];
    struct odb_named in[VS_INPUTS];
    const char *wanted[16];
    struct odb_tensor *out[16] = {NULL};
    size_t n_in = 0, n_out = 0;
    *a = (struct answer){.err = ODB_ERROR_INIT};
    for (int i = 0; i < d->n_in; i++)
        if (d->in[i] && !d->weight[i]) {
            snprintf(names[n_in], sizeof names[0], "i%d", i);
            in[n_in] = (struct odb_named){names[n_in], d->in[i]};
            n_in++;
        }
    for (int i = 0; i < d->n_out; i++)
        if (!d->no_out[i]) {
            snprintf(out_names[n_out], sizeof out_names[0], "o%d", i);
            wanted[n_out] = out_names[n_out];
            n_out++;
        }
    int node = 0;
    struct odb_load load = {
        .bytes = model->data, .size = model->len, .dir = ".", .node_index = &node, .n_nodes = 1};
    a->status = odb_target_load(target, &load, &a->err);
    if (a->status == ODB_OK)
        a->status = odb_target_run(target, in, n_in, wanted, n_out, out, &a->err);
    for (size_t i = 0; i < n_out && a->status == ODB_OK; i++)
        a->out[i] = out[i];
}

static void answer_free(struct answer *a)
{
    for (size_t i = 0; i < ODB_COUNT(a->out); i++)
        odb_tensor_unref(a->out[i]);
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Root mean square of what is finite. */
static double gap_rms(const struct odb_tensor *t)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        if (!isfinite(v) || fabs(v) > 1e30)
            continue;
        sum += v * v;
        n++;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

static void gap_say(const struct odb_tensor *a, const struct odb_tensor *b, size_t i,
                    struct odb_buf *say)
{
    odb_buf_printf(say, "element %zu is ", i);
    odb_print_element(say, a, i);
    odb_buf_puts(say, ", theirs ");
    odb_print_element(say, b, i);
}

static bool gap_floats(const struct odb_tensor *a, const struct odb_tensor *b, double tol,
                       struct odb_buf *say)
{
    double eps = odb_dtype_info(a->dtype)->eps;
    bool exact = tol == 0;
    double limit = (exact ? 0 : fmax(tol, 2 * eps)) * fmax(gap_rms(b), 0.01),
           most = odb_dtype_info(a->dtype)->max;
    for (size_t i = 0; i < a->count; i++) {
        double x = odb_tensor_f64(a, i), y = odb_tensor_f64(b, i);
        if (x == y || (isnan(x) && isnan(y)))
            continue;
        if (!exact && fabs(x - y) <=
                          limit + fmax(8 * eps, tol) * fabs(y) + 4 * odb_dtype_info(a->dtype)->tiny)
            continue;
        if (!exact && isinf(x) != isinf(y) && fabs(isinf(x) ? y : x) > most * (1 - 8 * eps))
            continue;
        gap_say(a, b, i, say);
        return true;
    }
    return false;
}

/* Says what differs first; false: nothing. */
static bool gap_find(const struct odb_tensor *a, const struct odb_tensor *b, double tol,
                     struct odb_buf *say)
{
    char shape[2][100];
    if (a->kind != b->kind || a->n_items != b->n_items ||
        (a->kind == ODB_TENSOR && (a->dtype != b->dtype || !odb_tensor_same_shape(a, b)))) {
        odb_buf_printf(say, "%s%s kind %d, theirs %s%s kind %d", odb_dtype_info(a->dtype)->name,
                       odb_shape_text(a, shape[0], sizeof *shape), (int)a->kind,
                       odb_dtype_info(b->dtype)->name, odb_shape_text(b, shape[1], sizeof *shape),
                       (int)b->kind);
        return true;
    }
    for (size_t i = 0; i < a->n_items; i++)
        if (gap_find(a->items[i], b->items[i], tol, say))
            return true;
    if (a->kind != ODB_TENSOR)
        return false;
    if (odb_dtype_is_float(a->dtype))
        return gap_floats(a, b, tol, say);
    if (odb_dtype_info(a->dtype)->class_ == ODB_CLASS_COMPLEX) { /* moved, never computed with */
        struct odb_tensor parts[2] = {*a, *b};
        for (int side = 0; side < 2; side++) {
            parts[side].dtype = a->dtype == ODB_C64 ? ODB_F32 : ODB_F64;
            parts[side].count *= 2;
        }
        return gap_floats(&parts[0], &parts[1], 1e-5, say);
    }
    for (size_t i = 0; i < a->count; i++) {
        struct odb_str *s = a->data, *t = b->data;
        bool same = a->dtype == ODB_STRING
                        ? s[i].len == t[i].len && memcmp(s[i].data, t[i].data, s[i].len) == 0
                        : odb_tensor_i64(a, i) == odb_tensor_i64(b, i);
        if (!same) {
            gap_say(a, b, i, say);
            return true;
        }
    }
    return false;
}

static double case_tolerance(const struct draw *d)
{
    const char *colons = strstr(d->row->op, "::");
    char domain[64];
    snprintf(domain, sizeof domain, "%.*s", colons ? (int)(colons - d->row->op) : 0, d->row->op);
    const struct odb_op *op = odb_op_find(domain, colons ? colons + 2 : d->row->op, d->version);
    if (d->row->tol != 0)
        return d->row->tol < 0 ? 0 : d->row->tol;
    if (op && (op->flags & ODB_OP_EXACT))
        return 0;
    return d->dtype == ODB_F64 ? 1e-10 : 1e-5;
}

/* --- one case -------------------------------------------------------------------------------- */

/* ONNX Runtime's words where it has no kernel, or does not know the operator. */
static bool case_not_there(const struct answer *theirs)
{
    static const char *const words[] = {"Could not find an implementation",
                                        "NOT_IMPLEMENTED",
                                        "not a registered function/op",
                                        "is not implemented",
                                        "not implemented",
                                        "unsupported data type",
                                        "InsertedPrecisionFreeCast",
                                        "double yet",
                                        "Invalid tensor data type",
                                        "is not currently registered or supported"};
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        if (theirs->status != ODB_OK && strstr(theirs->err.what, words[i]))
            return true;
    return theirs->status == ODB_UNSUPPORTED;
}

static enum outcome case_judge(const struct draw *d, const struct answer *ours,
                               const struct answer *theirs, struct odb_buf *say)
{
    if (ours->status == ODB_E_CRASH || theirs->status == ODB_E_CRASH ||
        ours->status == ODB_E_TIMEOUT || theirs->status == ODB_E_TIMEOUT) {
        bool us = ours->status == ODB_E_CRASH || ours->status == ODB_E_TIMEOUT;
        odb_buf_printf(say, "%s: %s", us ? "we crash" : "they crash",
                       us ? ours->err.what : theirs->err.what);
        return DIFFERENT;
    }
    if (ours->status != ODB_OK && theirs->status != ODB_OK)
        return REFUSED;
    if (case_not_there(theirs))
        return NOT_THERE;
    if (theirs->status != ODB_OK && strstr(theirs->err.what, "Type Error: Type '"))
        return LENIENT;
    if (theirs->status != ODB_OK) {
        odb_buf_printf(say, "they refuse: %s", theirs->err.what);
        return DIFFERENT;
    }
    if (ours->status != ODB_OK) {
        odb_buf_printf(say, "we refuse: %s", ours->err.what);
        return ours->status == ODB_UNSUPPORTED ? UNSUPPORTED : DIFFERENT;
    }
    for (int i = 0; i < d->n_out && ours->out[i]; i++) {
        size_t before = say->len;
        odb_buf_printf(say, "output %d: ", i);
        if (gap_find(ours->out[i], theirs->out[i], case_tolerance(d), say))
            return DIFFERENT;
        say->len = before;
    }
    return AGREED;
}

static void case_show(const struct draw *d, const struct answer *ours, const struct answer *theirs)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (int i = 0; i < d->n_in; i++) {
        odb_buf_printf(&text, "input %d%s: ", i, d->weight[i] ? " (weight)" : "");
        if (d->in[i])
            odb_print_tensor(&text, d->in[i], NULL);
        odb_buf_putc(&text, '\n');
    }
    for (int side = 0; side < 2; side++) {
        const struct answer *a = side ? theirs : ours;
        odb_buf_printf(&text, "%s: %s\n", side ? "theirs" : "ours", a->err.what);
        for (int i = 0; i < d->n_out && a->out[i]; i++) {
            char shape[100];
            odb_buf_printf(&text, "output %d %s%s:\n", i, odb_dtype_info(a->out[i]->dtype)->name,
                           odb_shape_text(a->out[i], shape, sizeof shape));
            odb_print_tensor(&text, a->out[i], NULL);
            odb_buf_putc(&text, '\n');
        }
    }
    fputs(odb_buf_text(&text), stdout);
    odb_buf_dispose(&text);
}

static enum outcome case_run(const struct row *row, uint64_t seed, const struct options *options,
                             struct odb_target *us, struct odb_target *them)
{
    struct draw d;
    struct answer ours, theirs;
    struct odb_buf model = ODB_BUF_INIT, line = ODB_BUF_INIT;
    vs_draw(&d, row, seed);
    vs_model(&d, &model);
    answer_ask(&ours, us, &d, &model);
    answer_ask(&theirs, them, &d, &model);
    vs_describe(&d, &line);
    odb_buf_puts(&line, " | ");
    size_t head = line.len;
    enum outcome outcome = case_judge(&d, &ours, &theirs, &line);
    const char *why = NULL;
    if (outcome == DIFFERENT || outcome == UNSUPPORTED)
        why = vs_known(odb_buf_text(&line));
    if (why)
        outcome = KNOWN;
    if (line.len == head && ours.status != ODB_OK)
        odb_buf_printf(&line, "ours: %s; theirs: %s", ours.err.what, theirs.err.what);
    if (outcome == DIFFERENT || outcome == UNSUPPORTED || options->verbose)
        printf("# %s --seed %lu: %s%s%s\n", row->op, (unsigned long)seed, odb_buf_text(&line),
               why ? " | known: " : "", why ? why : "");
    if (options->verbose && options->cases == 1)
        case_show(&d, &ours, &theirs);
    answer_free(&ours);
    answer_free(&theirs);
    vs_draw_free(&d);
    odb_buf_dispose(&model);
    odb_buf_dispose(&line);
    return outcome;
}

/* --- operators ------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static struct score row_run(const struct row *row, const struct options *options,
                            struct odb_target *us, struct odb_target *them)
{
    struct score s = {{0}};
    double until = seconds_now() + options->seconds;
    for (size_t i = 0; i < options->cases; i++) {
        s.n[case_run(row, options->seed + i, options, us, them)]++;
        s.cases++;
        if (options->seconds > 0 && seconds_now() > until)
            break;
    }
    printf("%s: %zu cases, %zu agreed, %zu both refused, %zu not there, %zu types, %zu known, "
           "%zu we lack, %zu different\n",
           row->op, s.cases, s.n[AGREED], s.n[REFUSED], s.n[NOT_THERE], s.n[LENIENT], s.n[KNOWN],
           s.n[UNSUPPORTED], s.n[DIFFERENT]);
    fflush(stdout);
    return s;
}

static bool parse(struct options *o, int argc, char **argv)
{
    for (int a = 1; a < argc; a++) {
        const char *name = argv[a];
        if (strcmp(name, "--verbose") == 0)
            o->verbose = true;
        else if (a + 1 == argc)
            return false;
        else if (strcmp(name, "--op") == 0)
            o->op = argv[++a];
        else if (strcmp(name, "--target") == 0)
            o->target = argv[++a];
        else if (strcmp(name, "--seed") == 0)
            o->seed = strtoull(argv[++a], NULL, 10);
        else if (strcmp(name, "--cases") == 0)
            o->cases = strtoull(argv[++a], NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            o->seconds = strtod(argv[++a], NULL);
        else
            return false;
    }
    return true;
}

/* The name, with or without its domain; names end with commas. */
static bool asked_for(const char *op, const char *list)
{
    const char *bare = strstr(op, "::") ? strstr(op, "::") + 2 : op;
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
        size_t len = strcspn(p, ",");
        if ((strlen(op) == len && strncmp(op, p, len) == 0) ||
            (strlen(bare) == len && strncmp(bare, p, len) == 0))
            return true;
    }
    return !list;
}

int main(int argc, char **argv)
{
    static const struct row *const tables[] = {vs_math_rows,   vs_shape_rows, vs_nn_rows,
                                               vs_quant_rows,  vs_ml_rows,    vs_contrib_rows,
                                               vs_control_rows};
    struct options o = {.target = "ort,opt=disabled,timeout=20", .seed = 1, .cases = 100};
    struct odb_target *us = NULL, *them = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    size_t bad = 0, cases = 0, ops = 0;
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: versus [--op NAMES] [--seed N] [--cases N] [--seconds S] "
                        "[--target SPEC] [--verbose]\n");
        return 2;
    }
    if (odb_target_open(&us, "cpu,timeout=20", &err) != ODB_OK ||
        odb_target_open(&them, o.target, &err) != ODB_OK) {
        fprintf(stderr, "versus: %s\n", err.what);
        return 2;
    }
    printf("# %s\n", odb_target_description(them));
    for (size_t t = 0; t < ODB_COUNT(tables); t++)
        for (const struct row *row = tables[t]; row->op; row++)
            if (asked_for(row->op, o.op)) {
                struct score s = row_run(row, &o, us, them);
                bad += s.n[DIFFERENT] + s.n[UNSUPPORTED];
                cases += s.cases;
                ops++;
            }
    printf("# %zu operators, %zu cases, %zu disagreements\n", ops, cases, bad);
    odb_target_close(us);
    odb_target_close(them);
    return bad > 0;
}
