/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/short_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/model.h"
#include "ui/terminal/draw.h"
#include "ui/view/outline.h"

#define NAME_PARTS 32  /* of a name; the last has the rest of it */
#define NAME_WIDEST 99 /* columns that are still counted */
#define NAME_NEARLY 90 /* percent of the names that are nearly all of them */

/* --- what names are like ---------------------------------------------------------------------- */

/* Bytes of the first part with the separator behind it; one in front of a name is its part's. 0:
 * nothing follows. */
static size_t name_first(const char *name, bool begins, char separator)
{
    const char *end = *name ? strchr(name + (begins && *name == separator), separator) : NULL;
    return end && end[1] ? (size_t)(end + 1 - name) : 0;
}

/* A name with the part that most names have behind their first n bytes, if those are the sample's:
 * if any part has the majority, it is this one. NULL: no name goes on. */
static const char *names_candidate(const struct odb_graph *graph, const char *sample, size_t n,
                                   char separator, size_t *len)
{
    const char *found = NULL;
    size_t votes = 0;
    *len = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const char *label = ui_outline_label(graph, (int)i);
        size_t part = strncmp(label, sample, n) ? 0 : name_first(label + n, !n, separator);
        if (votes && part == *len && !memcmp(label + n, found + n, part)) {
            votes++;
        } else if (votes) {
            votes--;
        } else if (part) {
            found = label;
            *len = part;
            votes = 1;
        }
    }
    return found;
}

/* Whether nearly all names begin with these n bytes, and go on. */
static bool names_begin(const struct odb_graph *graph, const char *sample, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const char *label = ui_outline_label(graph, (int)i);
        count += !strncmp(label, sample, n) && label[n];
    }
    return count * 100 >= graph->n_nodes * NAME_NEARLY;
}

static char *names_prefix(const struct odb_graph *graph, char separator)
{
    const char *sample = "";
    for (size_t n = 0, len;; n += len) {
        const char *label = names_candidate(graph, sample, n, separator, &len);
        if (!label || !names_begin(graph, label, n + len))
            return odb_xstrndup(sample, n);
        sample = label;
    }
}

/* Columns that the name may go without: a last part that is the operator's name. */
static int name_spares(const struct odb_node *node, const char *name, char separator,
                       const struct ui_terminal *terminal)
{
    const char *last = strrchr(name, separator);
    bool is_op = last && last > name && !strcmp(last + 1, node->op_type);
    return is_op ? ui_text_width(terminal, last + 1) - 1 : 0;
}

/* The width in which nearly all of n names have room. */
static int names_nearly(const size_t *count, size_t n)
{
    size_t seen = count[0];
    int width = 0;
    while (width < NAME_WIDEST && seen * 100 < n * NAME_NEARLY)
        seen += count[++width];
    return width;
}

void ui_names_make(struct ui_names *names, const struct odb_graph *graph, char separator,
                   const struct ui_terminal *terminal)
{
    size_t needs[NAME_WIDEST + 1] = {0}, whole[NAME_WIDEST + 1] = {0};
    *names = (struct ui_names){.prefix = names_prefix(graph, separator), .separator = separator};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        const char *label = ui_names_rest(names, ui_outline_label(graph, (int)i));
        int op = ui_text_width(terminal, node->op_type) +
                 (*node->domain ? ui_text_width(terminal, node->domain) + 2 : 0);
        int width = ui_text_width(terminal, label);
        int need = width - name_spares(node, label, separator, terminal);
        names->op = ODB_MAX(names->op, op);
        needs[ODB_MIN(need, NAME_WIDEST)]++;
        whole[ODB_MIN(width, NAME_WIDEST)]++;
    }
    names->width = names_nearly(needs, graph->n_nodes);
    names->whole = names_nearly(whole, graph->n_nodes);
}

void ui_names_dispose(struct ui_names *names)
{
    free(names->prefix);
    *names = (struct ui_names){0};
}

int ui_names_depth(const struct ui_names *names)
{
    int depth = 0;
    for (size_t i = 1; *names->prefix && names->prefix[i]; i++)
        depth += names->prefix[i] == names->separator;
    return depth;
}

const char *ui_names_rest(const struct ui_names *names, const char *name)
{
    size_t n = strlen(names->prefix);
    return strncmp(name, names->prefix, n) || !name[n] ? name : name + n;
}

/* --- parts ------------------------------------------------------------------------------------ */

struct name_parts {
    const char *at[NAME_PARTS];
    size_t len[NAME_PARTS];
    int width[NAME_PARTS]; /* columns; only of a name that is shortened */
    int n;
};

static void name_split(const char *name, char separator, struct name_parts *parts)
{
    parts->n = 0;
    for (;;) {
        size_t n = name_first(name, !parts->n, separator);
        int i = parts->n++;
        parts->at[i] = name;
        parts->len[i] = n && parts->n < NAME_PARTS ? n - 1 : strlen(name);
        if (!n || parts->n == NAME_PARTS)
            return;
        name += n;
    }
}

static bool name_same(const struct name_parts *a, int i, const struct name_parts *b, int j)
{
    return j >= 0 && j < b->n && a->len[i] == b->len[j] && !memcmp(a->at[i], b->at[j], a->len[i]);
}

/* Whether the other name has the part as well, counted from either end. */
static bool name_shares(const struct name_parts *a, int i, const struct name_parts *b)
{
    return name_same(a, i, b, i) || name_same(a, i, b, b->n - a->n + i);
}

/* Parts at the beginning of both. */
static int name_common(const struct name_parts *a, const char *other, char separator)
{
    struct name_parts b;
    int n = 0;
    name_split(other, separator, &b);
    while (n < a->n && name_same(a, n, &b, n))
        n++;
    return n;
}

/* Appends the parts whose bit is set in kept. Returns the bytes that stand for the first `common`
 * of all parts. */
static size_t name_put(const struct name_parts *parts, uint32_t kept, int common, char separator,
                       const struct ui_terminal *terminal, struct odb_buf *out)
{
    const char *dots = ui_glyph_text(UI_GLYPH_ELLIPSIS, terminal->unicode);
    size_t begin = out->len, repeated = 0;
    for (int i = 0; i < parts->n; i++) {
        bool is_kept = kept >> i & 1, gap = !is_kept && (!i || kept >> (i - 1) & 1);
        if ((is_kept || gap) && i)
            odb_buf_putc(out, separator);
        if (is_kept)
            odb_buf_add(out, parts->at[i], parts->len[i]);
        else if (gap)
            odb_buf_puts(out, dots);
        if (i < common)
            repeated = out->len - begin;
    }
    return repeated;
}

static void name_measure(struct name_parts *parts, const struct ui_terminal *terminal)
{
    for (int i = 0; i < parts->n; i++) {
        char *part = odb_xstrndup(parts->at[i], parts->len[i]);
        parts->width[i] = ui_text_width(terminal, part);
        free(part);
    }
}

/* Whether what name_put() makes of the parts has room. */
static bool name_fits(const struct name_parts *parts, uint32_t kept, int cols)
{
    int width = 0;
    for (int i = 0; i < parts->n; i++) {
        bool is_kept = kept >> i & 1, gap = !is_kept && (!i || kept >> (i - 1) & 1);
        if (is_kept || gap)
            width += (i > 0) + (is_kept ? parts->width[i] : 1);
    }
    return width <= cols;
}

/* --- choosing --------------------------------------------------------------------------------- */

static uint32_t name_all(const struct name_parts *parts)
{
    return parts->n == NAME_PARTS ? UINT32_MAX : (1u << parts->n) - 1;
}

/* The last of the first n parts in which the name differs from another that has all the kept ones
 * too; -1: it is told apart by those, or by nothing. */
static int name_telling(const struct name_parts *parts, int n, uint32_t kept, const char *other,
                        char separator)
{
    struct name_parts b;
    int found = -1;
    name_split(other, separator, &b);
    for (int i = 0; i < n; i++) {
        bool shares = name_shares(parts, i, &b);
        if (!shares && kept >> i & 1)
            return -1;
        if (!shares)
            found = i;
    }
    return found;
}

/* First what tells the name from those beside it, then the last part, then what else there is room
 * for, from the end. A last part that is the operator's name tells nothing: that has a column. */
static uint32_t name_choose(const struct ui_short_name *what, const struct name_parts *parts,
                            char separator, int cols)
{
    int last = parts->n - 1;
    bool is_op = last > 0 && strlen(what->op) == parts->len[last] &&
                 !memcmp(what->op, parts->at[last], parts->len[last]);
    uint32_t kept = is_op ? 0 : 1u << last;
    for (size_t i = 0; i < what->n; i++) {
        int telling =
            name_telling(parts, is_op ? last : parts->n, kept, what->beside[i], separator);
        uint32_t more = telling < 0 ? kept : kept | 1u << telling;
        if (!kept || name_fits(parts, more, cols))
            kept = more;
    }
    kept = kept ? kept : 1u << last;
    for (int i = last; i >= 0; i--)
        if (name_fits(parts, kept | 1u << i, cols))
            kept |= 1u << i;
    return kept;
}

size_t ui_short_name_put(const struct ui_short_name *what, char separator,
                         const struct ui_terminal *terminal, int cols, struct odb_buf *out)
{
    struct name_parts parts;
    name_split(what->name, separator, &parts);
    name_measure(&parts, terminal);
    uint32_t kept = name_all(&parts);
    if (!name_fits(&parts, kept, cols))
        kept = name_choose(what, &parts, separator, cols);
    int common = what->above ? name_common(&parts, what->above, separator) : 0;
    return name_put(&parts, kept, common, separator, terminal, out);
}

void ui_short_name_end(const char *name, char separator, const struct ui_terminal *terminal,
                       int cols, struct odb_buf *out)
{
    struct name_parts parts;
    name_split(name, separator, &parts);
    name_measure(&parts, terminal);
    uint32_t kept = name_all(&parts), fewer;
    while (!name_fits(&parts, kept, cols) && (fewer = kept & (kept - 1)))
        kept = fewer;
    name_put(&parts, kept, 0, separator, terminal, out);
}

void ui_short_name_fit(const char *name, char separator, const struct ui_terminal *terminal,
                       int cols, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    ui_short_name_end(name, separator, terminal, cols, &text);
    const char *end = odb_buf_text(&text);
    bool cut = ui_text_width(terminal, end) > cols;
    if (cut)
        odb_buf_puts(out, ui_glyph_text(UI_GLYPH_ELLIPSIS, terminal->unicode));
    odb_buf_puts(out, !cut ? end : cols > 1 ? ui_text_end(terminal, end, cols - 1) : "");
    odb_buf_dispose(&text);
}

int ui_short_name_least(const char *name, char separator, const struct ui_terminal *terminal)
{
    struct odb_buf text = ODB_BUF_INIT;
    ui_short_name_end(name, separator, terminal, 1, &text);
    int width = ui_text_width(terminal, odb_buf_text(&text));
    odb_buf_dispose(&text);
    return width;
}
