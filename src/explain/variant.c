/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/accused_group.h"
#include "model/formal.h"
#include "system/parallel.h"

/* The families in the order in which they are tried. */
static const struct variant_row *const variant_families[] = {
    variants_own,    variants_quantised, variants_attribute, variants_input,
    variants_number, variants_elsewhere, variants_output};

bool variant_is_for(const char *ops, const char *op_type)
{
    size_t len = strlen(op_type);
    if (!ops[0])
        return true;
    for (const char *p = ops; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, op_type, len) == 0 && (p[len] == '|' || !p[len]))
            return true;
    }
    return false;
}

void variant_free(struct variant *v)
{
    if (!v)
        return;
    odb_buf_dispose(&v->name);
    odb_buf_dispose(&v->text);
    variant_free(v->under);
    free(v->list);
    free(v);
}

char *variant_name(const struct variant *v)
{
    struct odb_buf name = ODB_BUF_INIT;
    if (v->under) {
        char *first = variant_name(v->under);
        odb_buf_printf(&name, "%s" EXPLANATION_PAIR, first);
        free(first);
    }
    odb_buf_printf(&name, "%s%s", v->row->name, odb_buf_text(&v->name));
    if (v->node != ODB_NO_NODE)
        odb_buf_printf(&name, " of #%d", v->node);
    char *out = odb_xstrdup(odb_buf_text(&name));
    odb_buf_dispose(&name);
    return out;
}

char *variant_text(const struct variant *v, const struct odb_graph *graph)
{
    static const char whole[] = "the reference";
    struct odb_buf text = ODB_BUF_INIT;
    const char *own = odb_buf_text(&v->text), *at = v->under ? strstr(own, whole) : NULL;
    if (v->under) {
        char *first = variant_text(v->under, graph);
        odb_buf_printf(&text, "%s, and %s", first, strncmp(own, "as if", 5) ? "then " : "");
        free(first);
    }
    if (at) /* of what the first makes */
        odb_buf_printf(&text, "%.*sthat%s", (int)(at - own), own, at + strlen(whole));
    else
        odb_buf_puts(&text, own);
    if (v->node != ODB_NO_NODE) {
        odb_buf_puts(&text, ", in ");
        odb_node_put(graph, v->node, &text);
    }
    char *out = odb_xstrdup(odb_buf_text(&text));
    odb_buf_dispose(&text);
    return out;
}

struct variant *variant_choice(const struct accused *s, const struct variant_row *row, size_t k,
                               enum choice *choice)
{
    struct variant *v = odb_new(struct variant);
    *v = (struct variant){.row = row,
                          .choice = k,
                          .place = s->place,
                          .node = s->group ? s->node->index : ODB_NO_NODE,
                          .fitted = row->fitted,
                          .name = ODB_BUF_INIT,
                          .text = ODB_BUF_INIT};
    *choice = row->choose(s, k, v);
    if (*choice == CHOICE_MADE)
        return v;
    variant_free(v);
    return NULL;
}

enum choice variant_made(struct variant *v, size_t k, const char *name, const char *text)
{
    v->at = (int)k;
    odb_buf_puts(&v->name, name);
    odb_buf_puts(&v->text, text);
    return CHOICE_MADE;
}

struct variant_sought {
    const char *name; /* borrowed */
    struct variant *v;
};

static bool variant_sought(void *payload, struct variant *v, bool *take)
{
    struct variant_sought *sought = payload;
    char *name = variant_name(v);
    *take = !strcmp(name, sought->name);
    if (*take)
        sought->v = v;
    free(name);
    return !*take;
}

struct variant *variant_find(const struct accused *s, const char *name)
{
    struct variant_sought sought = {.name = name};
    variant_each(s, variant_sought, &sought);
    return sought.v;
}

struct variant *variant_again(const struct accused *s, const struct variant *of)
{
    enum choice choice;
    bool own = !s->group || of->place == s->place, fits = own || of->place < s->group->n;
    const struct accused *one = own ? s : fits ? &s->group->inner[of->place] : NULL;
    return one ? variant_choice(one, of->row, of->choice, &choice) : NULL;
}

bool variant_is_known(const struct accused *s, const char *name, bool whole)
{
    struct odb_buf wanted = ODB_BUF_INIT;
    bool known = false;
    odb_buf_printf(&wanted, "%s%s%s:%s", s->node->domain, *s->node->domain ? "::" : "",
                   s->node->op_type, name);
    for (const char *at = s->q->known; *at && !known; at += strspn(at, ";")) {
        size_t n = strcspn(at, ";");
        known = (whole ? n == wanted.len : n >= wanted.len) &&
                !memcmp(at, odb_buf_text(&wanted), wanted.len);
        at += n;
    }
    odb_buf_dispose(&wanted);
    return known;
}

/* The choices of one row; false: fn says stop. */
static bool variant_choices(const struct accused *s, const struct variant_row *row,
                            variant_each_fn *fn, void *payload)
{
    enum choice choice = CHOICE_SKIP;
    bool go_on = true;
    for (size_t k = 0; choice != CHOICE_END && go_on; k++) {
        struct variant *v = variant_choice(s, row, k, &choice);
        bool take = false;
        if (v)
            go_on = fn(payload, v, &take);
        if (!take)
            variant_free(v);
    }
    return go_on;
}

#define VARIANT_MOVES                                                                              \
    "QuantizeLinear|DequantizeLinear|Cast|Identity|Reshape|Transpose|Flatten|Squeeze|Unsqueeze|"   \
    "Expand|Concat|Split|Slice|Gather"

/* Whether a row is for one of a group. Only what came out is there to be fitted, but what is handed
 * on inside may lie in another layout, where no quantiser ends it; quantisers and what only moves
 * have no arithmetic but what is for them by name. */
static bool variant_suits(const struct accused *s, const struct variant_row *family,
                          const struct variant_row *row)
{
    bool moves = variant_is_for(VARIANT_MOVES, s->node->op_type);
    bool arithmetic = family == variants_number || family == variants_elsewhere;
    if (family == variants_output)
        return s->place + 1 == s->group->n || (row->order && s->group->tail == s->group->n);
    return !(moves && arithmetic && !row->ops[0]) && !(row->order && s->place != s->group->main);
}

/* The rows of a family for one call; false: fn says stop. */
static bool variant_rows(const struct accused *s, const struct variant_row *family,
                         variant_each_fn *fn, void *payload)
{
    for (const struct variant_row *row = family; row->name; row++) {
        bool fits = variant_is_for(row->ops, s->node->op_type) &&
                    (!s->group || variant_suits(s, family, row)) &&
                    (!s->q->known || variant_is_known(s, row->name, false));
        if (fits && !variant_choices(s, row, fn, payload))
            return false;
    }
    return true;
}

/* The node of a group that is tried k-th: the one that computes is the first. */
static size_t variant_place(const struct accused_group *g, size_t k)
{
    return !k ? g->main : k <= g->main ? k - 1 : k;
}

void variant_each(const struct accused *s, variant_each_fn *fn, void *payload)
{
    for (size_t f = 0; f < ODB_COUNT(variant_families); f++) {
        size_t n = s->group ? s->group->n : 1;
        for (size_t k = 0; k < n; k++) {
            const struct accused *one = s->group ? &s->group->inner[variant_place(s->group, k)] : s;
            if (!variant_rows(one, variant_families[f], fn, payload))
                return;
        }
    }
}

/* --- running ---------------------------------------------------------------------------------- */

/* What of a variant is done to a node: both of a pair, unless they are of other nodes of a group.
 */
struct variant_steps {
    const struct variant *v[2]; /* borrowed */
    size_t n;
    bool change, makes;
};

static struct variant_steps variant_steps(const struct variant *v, const struct accused *s)
{
    const struct variant *both[] = {v->under, v};
    struct variant_steps steps = {.n = 0};
    for (size_t i = 0; i < ODB_COUNT(both); i++) {
        if (!both[i] || (s->group && both[i]->place != s->place))
            continue;
        steps.v[steps.n++] = both[i];
        steps.change |= both[i]->row->change != NULL;
        steps.makes |= both[i]->row->makes;
    }
    return steps;
}

bool variant_makes(const struct variant *v)
{
    return v->row->makes || (v->under && v->under->row->makes);
}

bool variant_results(const struct variant *v)
{
    return v->row->result || (v->under && v->under->row->result);
}

struct variant_run {
    struct variant_steps steps;
    const struct accused *s;
    struct change change;
};

void change_begin(struct change *c, const struct accused *s, struct odb_call *call)
{
    *c = (struct change){.call = call};
    c->ints = c->room[0];
    c->attrs = odb_new_n(struct odb_attr, call->attrs.n + 8);
    c->in = odb_new_n(const struct odb_tensor *, s->node->n_in + 1);
    if (call->attrs.n)
        memcpy(c->attrs, call->attrs.items, call->attrs.n * sizeof *c->attrs);
    if (call->n_in)
        memcpy(c->in, call->in, (size_t)call->n_in * sizeof *c->in);
    call->attrs.items = c->attrs;
    call->in = c->in;
    call->memo = NULL;
}

/* Whether an operand that the node has is gone: rows that look at operands expect it. */
static bool variant_lacks(const struct variant_run *run)
{
    bool lacks = false;
    for (int i = 0; i < run->s->node->n_in; i++)
        lacks |= run->s->in[i] && !run->change.in[i];
    return lacks;
}

static enum odb_status variant_change(void *payload, struct odb_call *call, struct odb_error *err)
{
    struct variant_run *run = payload;
    enum odb_status status = ODB_OK;
    change_begin(&run->change, run->s, call);
    for (size_t i = 0; i < run->steps.n && status == ODB_OK; i++) {
        const struct variant *v = run->steps.v[i];
        run->change.ints = run->change.room[i];
        if (!v->row->change)
            continue;
        status =
            i && variant_lacks(run) ? ODB_SKIPPED : v->row->change(v, run->s, &run->change, err);
    }
    return status;
}

void change_end(struct change *c)
{
    for (size_t i = 0; i < c->made.n; i++)
        odb_tensor_unref(c->made.items[i]);
    free(c->made.items);
    free(c->attrs);
    free(c->in);
}

enum odb_status variant_replay(const struct variant *v, const struct accused *s,
                               enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                               struct odb_error *err)
{
    struct variant_run run = {.steps = variant_steps(v, s), .s = s};
    bool change = run.steps.change, replays = change || precision == ODB_PREC_NOISY || s->group;
    enum odb_status status = ODB_OK;
    memset(out, 0, (size_t)s->node->n_out * sizeof *out);
    if (run.steps.makes)
        return ODB_OK;
    if (replays)
        status = accused_run(s, precision, seed, change ? variant_change : NULL, &run, out, err);
    for (int o = 0; o < s->node->n_out && !replays; o++)
        out[o] = odb_tensor_ref(precision == ODB_PREC_NATIVE ? s->native[o] : s->r[o]);
    change_end(&run.change);
    return status;
}

enum odb_status variant_finish(const struct variant *v, const struct accused *s,
                               struct odb_tensor **out, struct odb_error *err)
{
    struct variant_steps steps = variant_steps(v, s);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < steps.n && status == ODB_OK; i++)
        if (steps.v[i]->row->result)
            status = steps.v[i]->row->result(steps.v[i], s, out, err);
    if (status != ODB_OK)
        accused_drop(s, out);
    return status;
}

enum odb_status variant_run(const struct variant *v, const struct accused *s,
                            enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                            struct odb_error *err)
{
    if (s->group)
        return group_run(s, v, precision, seed, out, err);
    ODB_TRY(variant_replay(v, s, precision, seed, out, err));
    return variant_finish(v, s, out, err);
}

/* --- changing --------------------------------------------------------------------------------- */

void change_drop_attr(struct change *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->call->attrs.n; i++)
        if (strcmp(c->attrs[i].name, name) != 0)
            c->attrs[n++] = c->attrs[i];
    c->call->attrs.n = n;
}

void change_attr(struct change *c, const struct odb_attr *attr)
{
    change_drop_attr(c, attr->name);
    c->attrs[c->call->attrs.n++] = *attr;
}

void change_ints(struct change *c, const char *name, const int64_t *ints, size_t n)
{
    change_attr(c, &(struct odb_attr){.name = name, .type = ODB_ATTR_INTS, .n = n, .ints = ints});
}

void change_input(struct change *c, int i, struct odb_tensor *t)
{
    c->in[i] = t;
    if (t)
        odb_push(&c->made, t);
    c->call->n_in = ODB_MAX(c->call->n_in, i + 1);
    while (c->call->n_in > c->call->op->min_in && !c->in[c->call->n_in - 1])
        c->call->n_in--;
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct odb_attr *accused_attr(const struct accused *s, const char *name)
{
    return odb_attrs_find(&s->node->attrs, name);
}

int64_t accused_int(const struct accused *s, const char *name, int64_t fallback)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    return attr ? attr->i : spec && spec->def ? strtoll(spec->def, NULL, 10) : fallback;
}

double accused_float(const struct accused *s, const char *name, double fallback)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    return attr ? (double)attr->f : spec && spec->def ? strtod(spec->def, NULL) : fallback;
}

const struct odb_tensor *accused_in(const struct accused *s, int i)
{
    const struct odb_tensor *t = i < s->node->n_in ? s->in[i] : NULL;
    return t && t->kind == ODB_TENSOR && t->data ? t : NULL;
}

void accused_put_input(const struct accused *s, int i, struct odb_buf *out)
{
    char formal[ODB_FORMAL_NAME], key[512];
    odb_formal_name(s->node, true, i, formal);
    if (formal[0])
        odb_buf_printf(out, "input %s", formal);
    else
        odb_buf_printf(out, "input %d", i);
    if (s->node->in[i] < 0)
        return;
    odb_buf_puts(out, " (");
    odb_buf_put_shown(out,
                      odb_value_key(s->graph, &s->graph->values[s->node->in[i]], key, sizeof key));
    odb_buf_putc(out, ')');
}

/* --- making tensors --------------------------------------------------------------------------- */

void tensor_replace(struct odb_tensor **slot, struct odb_tensor *t)
{
    odb_tensor_unref(*slot);
    *slot = t;
}

void tensor_around(const struct odb_tensor *t, int axis, size_t *outer, size_t *n, size_t *inner)
{
    *outer = *inner = 1;
    for (int k = 0; k < axis; k++)
        *outer *= (size_t)t->dims[k];
    for (int k = axis + 1; k < t->rank; k++)
        *inner *= (size_t)t->dims[k];
    *n = (size_t)t->dims[axis];
}

enum { TENSOR_PART = 1 << 14, TENSOR_BLOCK = 512 }; /* even: two elements may share a byte */

struct tensor_mapping {
    struct odb_tensor *out;
    const struct odb_tensor *t;
    double (*fn)(const void *payload, size_t i, double v);
    const void *payload;
};

static void tensor_map_part(void *arg, size_t begin, size_t end)
{
    const struct tensor_mapping *job = arg;
    for (size_t i = begin; i < end; i++)
        odb_store_f64(job->t->dtype, job->out->data, i,
                      job->fn(job->payload, i, odb_tensor_f64(job->t, i)));
}

/* The same where types are converted by blocks. */
static void tensor_map_reals(void *arg, size_t begin, size_t end)
{
    const struct tensor_mapping *job = arg;
    const enum odb_dtype dtype = job->t->dtype;
    const size_t size = odb_dtype_info(dtype)->bits / 8;
    double block[TENSOR_BLOCK];
    for (size_t i = begin, n; i < end; i += n) {
        n = ODB_MIN(end - i, (size_t)TENSOR_BLOCK);
        odb_convert(ODB_F64, block, dtype, (const char *)job->t->data + i * size, n);
        for (size_t k = 0; k < n; k++)
            block[k] = job->fn(job->payload, i + k, block[k]);
        odb_convert(dtype, (char *)job->out->data + i * size, ODB_F64, block, n);
    }
}

enum odb_status tensor_map(struct odb_tensor **out, const struct odb_tensor *t,
                           double (*fn)(const void *payload, size_t i, double v),
                           const void *payload, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, t->dims, err));
    struct tensor_mapping job = {*out, t, fn, payload};
    bool real =
        t->dtype == ODB_F32 || t->dtype == ODB_F64 || t->dtype == ODB_F16 || t->dtype == ODB_BF16;
    odb_parallel_for(t->count, TENSOR_PART, real ? tensor_map_reals : tensor_map_part, &job);
    return ODB_OK;
}

static double tensor_function(const void *payload, size_t i, double x)
{
    double (*const *f)(double x) = payload;
    (void)i;
    return (*f)(x);
}

enum odb_status tensor_apply(struct odb_tensor **out, const struct odb_tensor *t,
                             double (*f)(double x), struct odb_error *err)
{
    return tensor_map(out, t, tensor_function, &f, err);
}

enum odb_status tensor_gather(struct odb_tensor **out, const struct odb_tensor *t,
                              int64_t (*from)(const void *payload, size_t i), const void *payload,
                              struct odb_error *err)
{
    return tensor_gather_into(out, t, t->rank, t->dims, from, payload, err);
}

struct tensor_gathering {
    char *to;
    const char *t;
    size_t size; /* of an element */
    int64_t (*from)(const void *payload, size_t i);
    const void *payload;
};

static void tensor_gather_part(void *arg, size_t begin, size_t end)
{
    const struct tensor_gathering *job = arg;
    for (size_t i = begin; i < end; i++) {
        int64_t at = job->from(job->payload, i);
        if (at >= 0 && job->size == sizeof(float)) /* most are, and a known size is one move */
            memcpy(job->to + i * sizeof(float), job->t + (size_t)at * sizeof(float), sizeof(float));
        else if (at >= 0)
            memcpy(job->to + i * job->size, job->t + (size_t)at * job->size, job->size);
    }
}

enum odb_status tensor_gather_into(struct odb_tensor **out, const struct odb_tensor *t, int rank,
                                   const int64_t *dims,
                                   int64_t (*from)(const void *payload, size_t i),
                                   const void *payload, struct odb_error *err)
{
    size_t size = odb_dtype_info(t->dtype)->bits / 8;
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING || !size)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_new(out, t->dtype, rank, dims, err));
    struct tensor_gathering job = {(*out)->data, t->data, size, from, payload};
    odb_parallel_for((*out)->count, TENSOR_PART, tensor_gather_part, &job);
    return ODB_OK;
}

/* Where the elements of a permuted tensor come from. */
struct tensor_strides {
    int rank;
    int64_t dims[ODB_MAX_RANK], strides[ODB_MAX_RANK];
};

static int64_t tensor_strided(const void *payload, size_t i)
{
    const struct tensor_strides *s = payload;
    int64_t at = 0;
    for (int k = s->rank; k-- > 0;) {
        at += (int64_t)(i % (size_t)s->dims[k]) * s->strides[k];
        i /= (size_t)s->dims[k];
    }
    return at;
}

enum odb_status tensor_transpose(struct odb_tensor **out, const struct odb_tensor *t,
                                 const int *perm, struct odb_error *err)
{
    struct tensor_strides s = {.rank = t->rank};
    int64_t strides[ODB_MAX_RANK], step = 1;
    struct odb_tensor *view = NULL;
    for (int k = t->rank; k-- > 0;) {
        strides[k] = step;
        step *= t->dims[k];
    }
    for (int k = 0; k < t->rank; k++) {
        s.dims[k] = t->dims[perm[k]];
        s.strides[k] = strides[perm[k]];
    }
    ODB_TRY(odb_tensor_reshape(&view, t, t->rank, s.dims, err));
    enum odb_status status = ODB_OK;
    size_t size = odb_dtype_info(t->dtype)->bits / 8;
    if (!size || t->dtype == ODB_STRING)
        status = ODB_SKIPPED;
    if (status == ODB_OK)
        status = odb_tensor_new_raw(out, t->dtype, t->rank, s.dims, err);
    for (size_t i = 0; i < t->count && status == ODB_OK; i++)
        memcpy((char *)(*out)->data + i * size,
               (const char *)t->data + (size_t)tensor_strided(&s, i) * size, size);
    odb_tensor_unref(view);
    return status;
}

enum odb_status tensor_misread(struct odb_tensor **out, const struct odb_tensor *t, const int *perm,
                               struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    int back[ODB_MAX_RANK];
    struct odb_tensor *view = NULL;
    for (int k = 0; k < t->rank; k++) {
        dims[k] = t->dims[perm[k]];
        back[perm[k]] = k;
    }
    ODB_TRY(odb_tensor_reshape(&view, t, t->rank, dims, err));
    enum odb_status status = tensor_transpose(out, view, back, err);
    odb_tensor_unref(view);
    return status;
}
