/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs by name. A name is a strong hint, and no proof: optimisers leave it to what they made of
 * several nodes, and converters count anew.
 */
#include "twomodels/align_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "twomodels/blocked.h"

#define ALIGN_AGREE 3 /* pairs that must bear out what numbers mean */

/* What converters and optimisers put behind a name. */
static const char *const align_suffixes[] = {
    "_DequantizeLinear_Output",
    "_DequantizeLinear",
    "_QuantizeLinear_Output",
    "_QuantizeLinear_Input",
    "_QuantizeLinear",
    "_quantized",
    "_dequantized",
    "_fp16",
    "_cast",
    "_fused",
    "_nchwc",
};

/* Names that say nothing but a number: others may have it by chance. */
static bool align_weak(const char *name)
{
    const char *p = strncmp(name, "onnx::", 6) == 0 ? name + 6 : name;
    while (isalpha((unsigned char)*p))
        p++;
    p += *p == '_';
    return *p && strspn(p, "0123456789") == strlen(p);
}

/* The one value of the chain behind u that is read as w is; ODB_NO_VALUE: there are none, or
 * several. folds: whether the chain is of what may be folded into the node that makes w alone. */
static int align_behind(const struct align *al, int u, int w, bool folds)
{
    int found = ODB_NO_VALUE, n = 0, at = u;
    for (int i = 0; i < ALIGN_CHAIN; i++) {
        if (folds && !align_foldable(al, at, w))
            break;
        if ((at = align_next(al->a, at)) < 0)
            break;
        if (align_same_readers(al, at, w) && !isinf(align_gap(al, at, w))) {
            found = at;
            n++;
        }
    }
    return n == 1 ? found : ODB_NO_VALUE;
}

/* What was folded into the node that makes w may have left it the name of the first value: the one
 * of the chain behind u that w equals, or that is read as w is. ODB_NO_VALUE: it is not u, and
 * which value it is, is unknown. */
static int align_mend(const struct align *al, int u, int w, bool *by_value)
{
    int v = u;
    *by_value = false;
    for (int i = 0; i < ALIGN_CHAIN && (v = align_next(al->a, v)) >= 0; i++)
        if (align_equals(al, v, w)) {
            *by_value = true;
            return v;
        }
    if (align_before_fold(al, u, w))
        return align_behind(al, u, w, true);
    if (align_same_readers(al, u, w))
        return u;
    v = align_behind(al, u, w, false);
    return v >= 0 ? v : u;
}

/* How sure a name is where the values differ, or are unknown; 0: not at all. */
static double align_trust(struct align *al, int u, int w)
{
    int n = al->a->values[u].producer, m = al->b->values[w].producer;
    const struct odb_fusion *fusion = align_fusion(&al->b->nodes[m]);
    struct align_fit fit = align_fit(al, n, m);
    bool weak = !al->numbers_agree && align_weak(al->a->values[u].name);
    bool same_op = !strcmp(align_call(&al->a->nodes[n]).op, align_call(&al->b->nodes[m]).op);
    if (fit.possible && fit.yes && !fit.unknown)
        return 0.95;
    bool ends = fusion && align_holds(fusion->ends, al->a->nodes[n].op_type);
    if (align_same_border(al, u, w))
        return ends || (same_op && !weak) ? 0.9 : weak ? 0 : 0.8;
    return weak || !same_op ? 0 : 0.6;
}

static void align_name(struct align *al, int u, int w)
{
    bool by_value;
    if (u < 0 || !align_free(al, u, w) || al->a->values[u].producer == ODB_NO_NODE ||
        al->a->values[u].init || align_has_partner(al, w))
        return;
    double gap = align_gap(al, u, w);
    if (align_near(al, gap)) {
        align_pair(al, u, w, ODB_PAIRED_NAME, 1);
        return;
    }
    int right = align_carrier(al->b, w) ? u : align_mend(al, u, w, &by_value);
    if (right < 0)
        return;
    if (right != u) {
        align_pair(al, right, w, by_value ? ODB_PAIRED_VALUE : ODB_PAIRED_FUSED, 0.85);
        return;
    }
    double trust = isinf(gap) ? 0 : align_trust(al, u, w);
    if (trust > 0)
        align_pair(al, u, w, ODB_PAIRED_NAME, trust);
}

/* The value of the original that a name means, without what converters put behind it. */
static int align_stripped(const struct align *al, const char *name)
{
    size_t n = strlen(name), index;
    for (size_t i = 0; i < ODB_COUNT(align_suffixes); i++) {
        size_t k = strlen(align_suffixes[i]);
        if (n <= k || strcmp(name + n - k, align_suffixes[i]) != 0)
            continue;
        char *stem = odb_xstrndup(name, n - k);
        bool found = odb_map_get(al->a->by_name, stem, &index);
        free(stem);
        if (found)
            return (int)index;
    }
    return ODB_NO_VALUE;
}

void align_ask_numbers(struct align *al)
{
    size_t agree = 0, differ = 0;
    for (size_t u = 0; u < al->a->n_values; u++) {
        const char *name = al->a->values[u].name;
        int w = al->out->other[u];
        if (w < 0 || al->a->values[u].producer == ODB_NO_NODE || al->a->values[u].is_output ||
            !align_weak(name))
            continue;
        bool same = !strcmp(name, al->b->values[w].name);
        agree += same;
        differ += !same && odb_map_has(al->b->by_name, name);
    }
    al->numbers_agree = agree >= ALIGN_AGREE && agree >= 9 * differ;
}

void align_names(struct align *al)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < al->b->n_nodes; m++)
            for (int o = 0; o < al->b->nodes[m].n_out; o++) {
                int w = al->b->nodes[m].out[o];
                const char *name = w < 0 ? "" : al->b->values[w].name;
                size_t index;
                if (!*name || al->b->values[w].init)
                    continue;
                if (pass && odb_blocked_node(&al->b->nodes[m]) && !o) /* the node has the name */
                    align_name(al, align_stripped(al, al->b->nodes[m].name), w);
                else if (pass)
                    align_name(al, align_stripped(al, name), w);
                else if (odb_map_get(al->a->by_name, name, &index))
                    align_name(al, (int)index, w);
            }
}
