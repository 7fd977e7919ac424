/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What all drawing functions share: numbers out of a seed, shapes, tensors with values, attributes
 * out of a row's words, and the model of a case.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/tensor_print.h"
#include "tensor/random.h"

#include "versus.h"

/* --- numbers --------------------------------------------------------------------------------- */

uint64_t vs_bits(struct draw *d)
{
    return odb_mix64(d->state++);
}

int64_t vs_int(struct draw *d, int64_t lo, int64_t hi)
{
    return hi <= lo ? lo : lo + (int64_t)(vs_bits(d) % ((uint64_t)(hi - lo) + 1));
}

bool vs_chance(struct draw *d, int percent)
{
    return vs_int(d, 0, 99) < percent;
}

double vs_real(struct draw *d, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(vs_bits(d) >> 11) / (double)(1ull << 53));
}

const char *vs_word(struct draw *d, const char *words)
{
    static char word[256];
    size_t n = 1;
    for (const char *p = words; *p; p++)
        n += *p == '|';
    for (int64_t skip = vs_int(d, 0, (int64_t)n - 1); skip > 0; skip--)
        words = strchr(words, '|') + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "|"), words);
    return word;
}

/* --- shapes ---------------------------------------------------------------------------------- */

struct dims vs_dims(struct draw *d, int rank_lo, int rank_hi, int64_t dim_hi)
{
    struct dims dims = {.rank = (int)vs_int(d, rank_lo, rank_hi)};
    for (int i = 0; i < dims.rank; i++)
        dims.d[i] = d->empty && vs_chance(d, 30) ? 0 : vs_int(d, 1, dim_hi);
    return dims;
}

struct dims vs_shape(int rank, const int64_t *dims)
{
    struct dims out = {.rank = rank};
    memcpy(out.d, dims, (size_t)rank * sizeof *dims);
    return out;
}

int64_t vs_count(const struct dims *dims)
{
    int64_t n = 1;
    for (int i = 0; i < dims->rank; i++)
        n *= dims->d[i];
    return n;
}

struct dims vs_part(struct draw *d, struct dims full)
{
    struct dims out = {0};
    for (int i = vs_chance(d, 40) ? (int)vs_int(d, 0, full.rank) : 0; i < full.rank; i++)
        out.d[out.rank++] = vs_chance(d, 25) ? 1 : full.d[i];
    return out;
}

struct dims vs_dims_of(const struct draw *d, int i)
{
    return vs_shape(d->in[i]->rank, d->in[i]->dims);
}

int vs_axis(struct draw *d, int rank)
{
    return rank ? (int)vs_int(d, -rank, rank - 1) : 0;
}

/* --- inputs ---------------------------------------------------------------------------------- */

static double draw_float(struct draw *d, enum odb_dtype dtype, double lo, double hi, int grain)
{
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    double odd[] = {NAN,         INFINITY, -INFINITY, -0.0, 0,         info->tiny * 3,
                    -info->tiny, 1,        -1,        1e-5, info->max, -info->max};
    if (d->extreme && vs_chance(d, 15)) /* sums may overflow or not, as their order is */
        return odd[vs_int(d, 0, ODB_COUNT(odd) - (d->exact ? 1 : 3))];
    double v = vs_real(d, lo, hi);
    return grain ? round(v * grain) / grain : v;
}

static int64_t draw_int(struct draw *d, enum odb_dtype dtype, double lo, double hi)
{
    unsigned bits = odb_dtype_info(dtype)->bits;
    bool is_signed = odb_dtype_info(dtype)->class_ == ODB_CLASS_INT;
    if (d->extreme && vs_chance(d, 15)) {
        uint64_t top = (uint64_t)1 << (bits - 1), all = top | (top - 1);
        uint64_t odd[] = {0, 1, all, top, top - 1};
        uint64_t v = odd[vs_int(d, 0, ODB_COUNT(odd) - 1)];
        return is_signed && (v & top) ? (int64_t)(v | ~all) : (int64_t)v;
    }
    double least = is_signed ? -ldexp(1, (int)bits - 1) : 0;
    double most = ldexp(1, (int)bits - is_signed) - 1;
    lo = fmax(ceil(lo), least);
    hi = fmin(floor(hi), most);
    return vs_int(d, (int64_t)lo, (int64_t)fmax(lo, hi));
}

static void draw_string(struct draw *d, struct odb_tensor *t, size_t i)
{
    const char *s = vs_word(d, "a|b|c|ab|abc|The|the|quick fox| a b |é|Straße|1|2|-3.5|nan|a|||A");
    if (odb_tensor_set_string(t, i, s, strlen(s), NULL) != ODB_OK)
        abort();
}

static void draw_fill(struct draw *d, struct odb_tensor *t, double lo, double hi)
{
    enum odb_dtype_class class_ = odb_dtype_info(t->dtype)->class_;
    int grain = (int)vs_int(d, 0, 5);
    grain = grain > 3 ? 2 : grain == 3 ? 1 : 0;
    for (size_t i = 0; i < t->count; i++) {
        if (class_ == ODB_CLASS_STRING)
            draw_string(d, t, i);
        else if (class_ == ODB_CLASS_BOOL)
            ((uint8_t *)t->data)[i] = vs_chance(d, 50);
        else if (class_ == ODB_CLASS_COMPLEX)
            for (size_t part = 0; part < 2; part++)
                odb_store_f64(t->dtype == ODB_C64 ? ODB_F32 : ODB_F64, t->data, 2 * i + part,
                              draw_float(d, t->dtype, lo, hi, grain));
        else if (class_ == ODB_CLASS_FLOAT)
            odb_store_f64(t->dtype, t->data, i, draw_float(d, t->dtype, lo, hi, grain));
        else
            odb_store_i64(t->dtype, t->data, i, draw_int(d, t->dtype, lo, hi));
    }
}

struct odb_tensor *vs_tensor(struct draw *d, enum odb_dtype dtype, struct dims dims, double lo,
                             double hi)
{
    struct odb_tensor *t = NULL;
    if (odb_tensor_new(&t, dtype, dims.rank, dims.d, NULL) != ODB_OK)
        abort();
    draw_fill(d, t, lo, hi);
    return t;
}

void vs_take(struct draw *d, struct odb_tensor *t)
{
    d->wrap[d->n_in] = t ? t->kind : ODB_TENSOR;
    d->weight[d->n_in] = t && t->kind == ODB_TENSOR && vs_chance(d, 30);
    d->in[d->n_in++] = t;
}

void vs_in_none(struct draw *d)
{
    vs_take(d, NULL);
}

struct odb_tensor *vs_in_range(struct draw *d, enum odb_dtype dtype, struct dims dims, double lo,
                               double hi)
{
    vs_take(d, vs_tensor(d, dtype, dims, lo, hi));
    return d->in[d->n_in - 1];
}

struct odb_tensor *vs_in(struct draw *d, struct dims dims)
{
    bool range = d->row->lo != 0 || d->row->hi != 0;
    return vs_in_range(d, d->dtype, dims, range ? d->row->lo : -3, range ? d->row->hi : 3);
}

struct odb_tensor *vs_in_ints(struct draw *d, enum odb_dtype dtype, size_t n, const int64_t *v)
{
    struct odb_tensor *t = NULL;
    if (odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, NULL) != ODB_OK)
        abort();
    for (size_t i = 0; i < n; i++)
        odb_store_i64(dtype, t->data, i, v[i]);
    vs_take(d, t);
    return t;
}

struct odb_tensor *vs_in_scalar(struct draw *d, enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    if (odb_tensor_new(&t, dtype, 0, NULL, NULL) != ODB_OK)
        abort();
    odb_store_f64(dtype, t->data, 0, v);
    vs_take(d, t);
    return t;
}

/* --- attributes ------------------------------------------------------------------------------ */

static struct draw_attr *draw_attr(struct draw *d, const char *name, enum odb_attr_type type)
{
    struct draw_attr *a = &d->attrs[d->n_attrs++];
    ODB_ASSERT(d->n_attrs <= VS_ATTRS);
    *a = (struct draw_attr){.name = odb_xstrdup(name), .type = type};
    return a;
}

void vs_attr_int(struct draw *d, const char *name, int64_t v)
{
    draw_attr(d, name, ODB_ATTR_INT)->ints[0] = v;
}

void vs_attr_ints(struct draw *d, const char *name, size_t n, const int64_t *v)
{
    struct draw_attr *a = draw_attr(d, name, ODB_ATTR_INTS);
    ODB_ASSERT(n <= VS_LIST);
    a->n = n;
    memcpy(a->ints, v, n * sizeof *v);
}

void vs_attr_float(struct draw *d, const char *name, double v)
{
    draw_attr(d, name, ODB_ATTR_FLOAT)->floats[0] = (float)v;
}

void vs_attr_floats(struct draw *d, const char *name, size_t n, const float *v)
{
    struct draw_attr *a = draw_attr(d, name, ODB_ATTR_FLOATS);
    ODB_ASSERT(n <= VS_LIST);
    a->n = n;
    memcpy(a->floats, v, n * sizeof *v);
}

void vs_attr_string(struct draw *d, const char *name, const char *v)
{
    draw_attr(d, name, ODB_ATTR_STRING)->text = odb_xstrdup(v);
}

void vs_attr_strings(struct draw *d, const char *name, const char *words)
{
    draw_attr(d, name, ODB_ATTR_STRINGS)->text = odb_xstrdup(words);
}

void vs_attr_tensor(struct draw *d, const char *name, struct odb_tensor *t)
{
    draw_attr(d, name, ODB_ATTR_TENSOR)->tensor = t;
}

void vs_attr_body(struct draw *d, const char *name, struct odb_builder *body)
{
    draw_attr(d, name, ODB_ATTR_GRAPH)->body = body;
}

/* One choice of a row's words, as struct row says. */
static void draw_choice(struct draw *d, const char *name, char *text)
{
    struct draw_attr *a;
    char *end;
    int rank = d->n_in && d->in[0] ? d->in[0]->rank : 0;
    if (strcmp(text, "-") == 0)
        return;
    if (text[0] == '@') {
        vs_attr_int(d, name, text[1] ? vs_int(d, -rank, rank) : vs_axis(d, rank));
        return;
    }
    if (strchr(text, ';')) {
        for (char *p = text; *p; p++)
            *p = *p == ';' ? ' ' : *p;
        vs_attr_strings(d, name, text);
        return;
    }
    double number = strtod(text, &end);
    bool is_float = *end == 'f';
    if (end == text || (end[is_float] && end[is_float] != ',')) {
        vs_attr_string(d, name, text);
        return;
    }
    bool list = end[is_float] == ',';
    a = draw_attr(d, name,
                  list ? (is_float ? ODB_ATTR_FLOATS : ODB_ATTR_INTS)
                       : (is_float ? ODB_ATTR_FLOAT : ODB_ATTR_INT));
    a->ints[0] = (int64_t)number;
    a->floats[0] = (float)number;
    for (char *p = text; list && *p; p = end + strspn(end, "f,")) {
        number = strtod(p, &end);
        a->ints[a->n] = (int64_t)number;
        a->floats[a->n++] = (float)number;
    }
}

void vs_attrs(struct draw *d, const char *words)
{
    char *copy = odb_xstrdup(words ? words : ""), *save = NULL;
    for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        char *value = strchr(p, '=');
        ODB_ASSERT(value);
        *value++ = '\0';
        char choice[256];
        snprintf(choice, sizeof choice, "%s", vs_word(d, value));
        draw_choice(d, p, choice);
    }
    free(copy);
}

static const struct draw_attr *drawn(const struct draw *d, const char *name)
{
    for (size_t i = 0; i < d->n_attrs; i++)
        if (strcmp(d->attrs[i].name, name) == 0)
            return &d->attrs[i];
    return NULL;
}

int64_t vs_drawn(const struct draw *d, const char *name, int64_t fallback)
{
    const struct draw_attr *a = drawn(d, name);
    return a ? a->ints[0] : fallback;
}

int64_t vs_drawn_item(const struct draw *d, const char *name, size_t i, int64_t fallback)
{
    const struct draw_attr *a = drawn(d, name);
    return a && i < a->n ? a->ints[i] : fallback;
}

const char *vs_drawn_text(const struct draw *d, const char *name, const char *fallback)
{
    const struct draw_attr *a = drawn(d, name);
    return a ? a->text : fallback;
}

/* --- the case -------------------------------------------------------------------------------- */

static void draw_split(const char *op, char domain[64], const char **name)
{
    const char *colons = strstr(op, "::");
    snprintf(domain, 64, "%.*s", colons ? (int)(colons - op) : 0, op);
    *name = colons ? colons + 2 : op;
}

/* float half of the time, else anything that the row allows. */
static enum odb_dtype draw_dtype(struct draw *d, uint32_t types)
{
    int n = 0;
    types &= ODB_T_ANY & ~1u;
    if ((types & ODB_BIT(ODB_F32)) && vs_chance(d, 45))
        return ODB_F32;
    for (int t = 0; t < ODB_DTYPE_COUNT; t++)
        n += (types & ODB_BIT(t)) != 0;
    int64_t skip = n ? vs_int(d, 0, n - 1) : 0;
    for (int t = 0; t < ODB_DTYPE_COUNT; t++)
        if ((types >> t & 1) && skip-- == 0)
            return (enum odb_dtype)t;
    return ODB_F32;
}

void vs_draw(struct draw *d, const struct row *row, uint64_t seed)
{
    char domain[64];
    const char *name;
    uint64_t hash = 0;
    for (const char *p = row->op; *p; p++)
        hash = odb_mix64(hash + (unsigned char)*p);
    *d = (struct draw){.row = row, .state = odb_mix64(seed + hash) & ~0xffffffull, .n_out = 1};
    draw_split(row->op, domain, &name);
    /* A row whose operator came later has no version below that: draw until there is one. */
    const struct odb_op *op = NULL;
    int lo = row->from ? row->from : 1, hi = row->to ? row->to : VS_OPSET;
    for (int tries = 0; !op && tries < 200; tries++) {
        d->opset = (int)vs_int(d, vs_chance(d, 80) && hi >= 7 ? ODB_MAX(lo, 7) : lo, hi);
        int version = strcmp(domain, "ai.onnx.ml") == 0 ? (int)vs_int(d, 1, 4) : 1;
        d->version = *domain ? version : d->opset;
        op = odb_op_find(domain, name, d->version);
    }
    uint32_t types = op ? op->types[0] : 0;
    d->dtype = draw_dtype(d, row->types & types ? row->types & types
                             : row->types       ? row->types
                                                : types);
    d->exact = op && (op->flags & ODB_OP_EXACT);
    d->empty = !row->full && vs_chance(d, 8);
    d->extreme = !row->tame && vs_chance(d, 15);
    if (row->draw)
        row->draw(d);
    else
        vs_in(d, vs_dims(d, 0, 5, 4));
    vs_attrs(d, row->attrs);
}

void vs_draw_free(struct draw *d)
{
    for (int i = 0; i < d->n_in; i++)
        odb_tensor_unref(d->in[i]);
    for (size_t i = 0; i < d->n_attrs; i++) {
        free((char *)d->attrs[i].name);
        free(d->attrs[i].text);
        odb_tensor_unref(d->attrs[i].tensor);
        odb_build_free(d->attrs[i].body);
    }
}

static void model_attr(struct odb_builder *b, struct draw_attr *a)
{
    switch (a->type) {
    case ODB_ATTR_INT:
        odb_build_attr_int(b, a->name, a->ints[0]);
        break;
    case ODB_ATTR_INTS:
        odb_build_attr_ints(b, a->name, a->n, a->ints);
        break;
    case ODB_ATTR_FLOAT:
        odb_build_attr_float(b, a->name, a->floats[0]);
        break;
    case ODB_ATTR_FLOATS:
        odb_build_attr_floats(b, a->name, a->n, a->floats);
        break;
    case ODB_ATTR_STRING:
        odb_build_attr_string(b, a->name, a->text);
        break;
    case ODB_ATTR_STRINGS:
        odb_build_attr_strings(b, a->name, a->text);
        break;
    case ODB_ATTR_TENSOR:
        odb_build_attr_tensor(b, a->name, a->tensor);
        break;
    case ODB_ATTR_GRAPH:
        odb_build_attr_graph(b, a->name, a->body);
        a->body = NULL;
        break;
    default:
        abort();
    }
}

void vs_model(struct draw *d, struct odb_buf *out)
{
    struct odb_builder *b = odb_build_new("versus", d->opset);
    struct odb_buf ins = ODB_BUF_INIT, outs = ODB_BUF_INIT;
    char domain[64], name[16];
    const char *op;
    odb_build_ir_version(b, 10);
    draw_split(d->row->op, domain, &op);
    if (*domain)
        odb_build_opset(b, domain, d->version);
    for (int i = 0; i < d->n_in; i++) {
        const struct odb_tensor *t = d->in[i];
        snprintf(name, sizeof name, "i%d", i);
        odb_buf_printf(&ins, "%s%s", i ? " " : "", t ? name : "-");
        if (t && d->weight[i])
            odb_build_weight(b, name, t);
        else if (t && t->kind != ODB_TENSOR && t->n_items)
            odb_build_input(b, name, t->items[0]->dtype, t->items[0]->rank, t->items[0]->dims);
        else if (t)
            odb_build_input(b, name, t->dtype, t->rank, t->dims);
        if (t && t->kind != ODB_TENSOR)
            odb_build_wrap(b, name, t->kind);
    }
    for (int i = 0; i < d->n_out; i++)
        odb_buf_printf(&outs, d->no_out[i] ? "%s-" : "%so%d", i ? " " : "", i);
    odb_build_node(b, d->row->op, "node", odb_buf_text(&ins), odb_buf_text(&outs));
    for (size_t i = 0; i < d->n_attrs; i++)
        model_attr(b, &d->attrs[i]);
    for (int i = 0; i < d->n_out; i++) {
        snprintf(name, sizeof name, "o%d", i);
        if (!d->no_out[i])
            odb_build_output(b, name);
    }
    odb_build_bytes(b, out);
    odb_build_free(b);
    odb_buf_dispose(&ins);
    odb_buf_dispose(&outs);
}

static void describe_attr(const struct draw_attr *a, struct odb_buf *out)
{
    bool floats = a->type == ODB_ATTR_FLOAT || a->type == ODB_ATTR_FLOATS;
    bool list = a->type == ODB_ATTR_INTS || a->type == ODB_ATTR_FLOATS;
    odb_buf_printf(out, " %s=", a->name);
    if (a->text)
        odb_buf_printf(out, "%s", a->text);
    else if (a->tensor)
        odb_print_tensor(out, a->tensor, NULL);
    for (size_t i = 0; !a->text && !a->tensor && i < (list ? a->n : 1); i++)
        if (floats)
            odb_buf_printf(out, "%s%g", i ? "," : "", (double)a->floats[i]);
        else
            odb_buf_printf(out, "%s%ld", i ? "," : "", (long)a->ints[i]);
}

static int is_nan(double v)
{
    return isnan(v);
}

static int is_large(double v)
{
    return fabs(v) > 1e30;
}

static bool describe_any(const struct draw *d, int (*is)(double))
{
    for (int i = 0; i < d->n_in; i++)
        for (size_t k = 0; d->in[i] && d->in[i]->kind == ODB_TENSOR && k < d->in[i]->count; k++)
            if (odb_dtype_is_float(d->in[i]->dtype) && is(odb_tensor_f64(d->in[i], k)))
                return true;
    return false;
}

void vs_describe(const struct draw *d, struct odb_buf *out)
{
    odb_buf_printf(out, "%s-%d", d->row->op, d->version);
    for (size_t i = 0; i < d->n_attrs; i++)
        describe_attr(&d->attrs[i], out);
    odb_buf_puts(out, " |");
    for (int i = 0; i < d->n_in; i++) {
        const struct odb_tensor *t = d->in[i];
        odb_buf_printf(out, " %s[", t ? odb_dtype_info(t->dtype)->name : "none");
        for (int k = 0; t && k < t->rank; k++)
            odb_buf_printf(out, "%s%ld", k ? "," : "", (long)t->dims[k]);
        odb_buf_puts(out, "]");
    }
    if (describe_any(d, is_nan))
        odb_buf_puts(out, " NAN");
    if (describe_any(d, is_large))
        odb_buf_puts(out, " LARGE");
}
