/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the inputs move that no carry makes: tokens and frames are fed, masks, positions and lengths
 * follow from how many there are, the rest is held. In words of formula.h; %B is how many rows the
 * feed has, %L the last dimension of the input, %M a mask of the prompt and what follows it, %F
 * what positions have where it masks.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sequence/plan/padding.h"
#include "sequence/plan/plan_int.h"

#define MOVE_MASK 4096 /* places of a mask that a plan writes out */

static const struct odb_value *move_value(const struct odb_plan *plan, size_t i)
{
    return &plan->model->graph->values[plan->inputs.items[i].value];
}

static bool move_is_whole_number(const struct odb_value *value)
{
    return odb_dtype_is_integer(value->type.dtype) || value->type.dtype == ODB_BOOL;
}

/* Whether the word is in what the input is called, here or in genai_config.json. */
static bool move_has(const struct odb_plan *plan, size_t i, const char *word)
{
    const char *role = plan->inputs.items[i].role;
    return strcasestr(move_value(plan, i)->name, word) || (role && strcasestr(role, word));
}

/* --- what is fed ------------------------------------------------------------------------------ */

/* Along which axis pieces of an input are counted: tokens [B,S] or [S], their embeddings [B,S,H];
 * -1: an input is one piece. */
static int move_feed_axis(const struct odb_plan *plan, size_t i)
{
    const struct odb_value *value = move_value(plan, i);
    const struct odb_type *type = &value->type;
    bool tokens = move_is_whole_number(value) && type->rank >= 1 && type->rank <= 2 &&
                  !move_has(plan, i, "mask") && !move_has(plan, i, "position") &&
                  (move_has(plan, i, "ids") || move_has(plan, i, "token"));
    bool embedded =
        odb_dtype_is_float(type->dtype) && type->rank == 3 && move_has(plan, i, "embed");
    int axis = tokens ? type->rank - 1 : embedded ? 1 : -1;
    /* Of a fixed number that is not one, a step takes all. */
    return axis >= 0 && type->dims[axis].value > 1 ? -1 : axis;
}

static void move_feed(struct odb_plan *plan, size_t i, int axis, const char *why)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    input->move = ODB_MOVE_FEED;
    input->axis = axis;
    plan_text(&input->start, "made");
    plan_text(&input->why, why);
}

/* --- what follows ----------------------------------------------------------------------------- */

/* Rows by name, rank, and whether its last dimension is open (1), fixed (0), or either (-1); the
 * first that fits. */
static const struct move_row {
    const char *name; /* a part of it */
    int rank, open;
    const char *next, *why;
    const char *padded; /* the rule where rows of the batch are filled up; NULL: the same */
} move_rows[] = {
    {"cache_position", 1, -1, "arange(past,total)", "positions of what is new"},
    {"attention_mask", 2, 1, "ones(%B,total)", "all that came is seen", "%M"},
    {"attention_mask", 2, 0, "concat(ones(%B,total),zeros(%B,%L-total),1)",
     "all that came is seen, of the room there is"},
    {"attn_mask", 2, 1, "ones(%B,total)", "all that came is seen", "%M"},
    {"position_ids", 2, -1, "zeros(%B,1)+arange(past,total)", "positions of what is new",
     "where(%M==0,%F,cumsum(%M,1)-1)[:,past:total]"},
    {"position_ids", 1, -1, "arange(past,total)", "positions of what is new"},
    {"positions", 2, -1, "zeros(%B,1)+arange(past,total)", "positions of what is new"},
    {"seqlens_k", 1, -1, "full(total-1,%B)", "the length less one"},
    {"total_sequence_length", 0, -1, "total", "the length"},
    {"total_sequence_length", 1, -1, "full(total,1)", "the length"},
    {"past_sequence_length", 0, -1, "past", "the length before"},
    {"past_sequence_length", 1, -1, "full(past,1)", "the length before"},
    {"write_indices", 1, -1, "full(past,%B)", "behind what is there"},
    {"nonpad_kv_seqlen", 1, -1, "full(total,%B)", "the length"},
    {"use_cache_branch", 1, -1, "full(t>0,1)", "from the second step on"},
    {"use_cache_branch", 0, -1, "t>0", "from the second step on"},
    {"offset", 1, -1, "full(past,1)", "the length before"},
    {"offset", 0, -1, "past", "the length before"},
};

/* The rows of a batch: the length of what is fed along its first axis; "1" where that is the axis
 * of the pieces. */
static void move_put_batch(const struct odb_plan *plan, struct odb_buf *out)
{
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        if (input->move == ODB_MOVE_FEED && input->axis > 0) {
            odb_buf_printf(out, "len('%s')", move_value(plan, i)->name);
            return;
        }
    }
    odb_buf_puts(out, "1");
}

/* mask, fill: what %M and %F stand for, NULL where the formula has none. */
static void move_rule(struct odb_plan *plan, size_t i, const char *formula, const char *mask,
                      const char *fill)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    const struct odb_type *type = &move_value(plan, i)->type;
    struct odb_buf next = ODB_BUF_INIT;
    for (const char *p = formula; *p; p++) {
        char of = *p == '%' ? p[1] : '\0';
        if (of == 'B')
            move_put_batch(plan, &next);
        else if (of == 'L')
            odb_buf_printf(&next, "%lld", (long long)type->dims[type->rank - 1].value);
        else if (of)
            odb_buf_puts(&next, of == 'M' ? mask : fill);
        else
            odb_buf_putc(&next, *p);
        p += of != '\0';
    }
    input->move = ODB_MOVE_RULE;
    plan_text(&input->start, NULL);
    plan_text(&input->next, odb_buf_text(&next));
    odb_buf_dispose(&next);
}

static const struct move_row *move_row(const struct odb_plan *plan, size_t i)
{
    const struct odb_value *value = move_value(plan, i);
    const struct odb_type *type = &value->type;
    bool open = type->rank > 0 && type->dims[type->rank - 1].value < 0;
    for (size_t r = 0; r < ODB_COUNT(move_rows) && move_is_whole_number(value); r++) {
        const struct move_row *row = &move_rows[r];
        if (row->rank == type->rank && (row->open < 0 || row->open == open) &&
            move_has(plan, i, row->name) && !move_has(plan, i, "encoder"))
            return row;
    }
    return NULL;
}

/* --- what an encoder made ----------------------------------------------------------------------
 */

static bool move_has_branch(const struct odb_plan *plan)
{
    bool has = false;
    for (size_t i = 0; i < plan->inputs.n; i++)
        has |= move_value(plan, i)->type.dtype == ODB_BOOL && move_has(plan, i, "use_cache_branch");
    return has;
}

/* A decoder with two branches makes keys and values of the encoder's states in its first step, and
 * of the branch for all others they come out empty: what the first step made is kept. */
static void move_cross(struct odb_plan *plan, size_t i)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    const char *name = move_value(plan, i)->name;
    if (input->by == ODB_BY_OPTION || input->output == ODB_NO_VALUE ||
        !(move_has(plan, i, "encoder") || move_has(plan, i, "cross")))
        return;
    const char *output = plan->model->graph->values[input->output].name;
    char *next = odb_xasprintf("where(t==1,'%s','%s')", output, name);
    plan_text(&input->next, next);
    plan_text(&input->start, "zeros");
    plan_text(&input->why, "made in the first step, and kept");
    input->kind = ODB_CARRY_UNKNOWN;
    input->axis = -1;
    free(next);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What a model with a state is fed frame by frame: no parameters, and nothing that an encoder made
 * once. */
static bool move_is_frames(const struct odb_plan *plan, size_t n)
{
    const struct odb_value *value = move_value(plan, n);
    static const char *const held[] = {"encoder", "weight", "bias", "scale", "zero_point"};
    bool is_held = value->type.rank == 1;
    for (size_t i = 0; i < ODB_COUNT(held); i++)
        is_held |= move_has(plan, n, held[i]);
    enum odb_dtype dtype = value->type.dtype;
    return !is_held && value->type.rank != 0 &&
           (odb_dtype_is_float(dtype) || dtype == ODB_U8 || dtype == ODB_I8);
}

/* Something counts pieces: then there is a length that rules can speak of. */
static bool move_counts(const struct odb_plan *plan)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move != ODB_MOVE_CARRY && move_feed_axis(plan, i) >= 0)
            return true;
    return false;
}

void plan_find_moves(struct odb_plan *plan)
{
    bool carries = odb_plan_has_carries(plan), counts = carries && move_counts(plan);
    bool branch = move_has_branch(plan);
    for (size_t i = 0; i < plan->inputs.n; i++) {
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY && branch)
            move_cross(plan, i);
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY)
            continue;
        int axis = move_feed_axis(plan, i);
        if (!carries)
            move_feed(plan, i, -1, "no state is carried: each step has inputs of its own");
        else if (axis >= 0)
            move_feed(plan, i, axis, "pieces from outside");
        else if (!counts && move_is_frames(plan, i))
            move_feed(plan, i, -1, "a frame for each step");
        else
            plan_text(&plan->inputs.items[i].why, "the same in all steps");
    }
    for (size_t i = 0; i < plan->inputs.n && counts; i++) {
        const struct move_row *row = move_row(plan, i);
        if (row && plan->inputs.items[i].move == ODB_MOVE_HOLD) {
            move_rule(plan, i, row->next, NULL, NULL);
            plan_text(&plan->inputs.items[i].why, row->why);
        }
    }
}

/* --- rows of a batch that are filled up ---------------------------------------------------------
 */

static const struct move_row *move_padded(const struct odb_plan *plan, size_t i)
{
    const struct odb_plan_input *input = &plan->inputs.items[i];
    bool own = input->move == ODB_MOVE_RULE && input->by == ODB_BY_KIND;
    const struct move_row *row = own ? move_row(plan, i) : NULL;
    return row && row->padded ? row : NULL;
}

static int move_of(const struct odb_plan *plan, bool mask)
{
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct move_row *row = move_padded(plan, i);
        if (row && !strcmp(row->padded, "%M") == mask)
            return (int)i;
    }
    return -1;
}

int odb_plan_mask(const struct odb_plan *plan)
{
    return move_of(plan, true);
}

int odb_plan_positions(const struct odb_plan *plan)
{
    return move_of(plan, false);
}

bool odb_plan_may_mask(const struct odb_plan *plan, size_t i)
{
    enum odb_move move = plan->inputs.items[i].move;
    return move_has(plan, i, "mask") && move != ODB_MOVE_FEED && move != ODB_MOVE_CARRY;
}

/* What positions have where the mask is 0: 1 where that is not known, as in Transformers. */
static long long move_fill(const struct odb_tensor *mask, const struct odb_tensor *positions)
{
    bool fits = positions && positions->data && odb_tensor_same_shape(mask, positions);
    for (size_t i = 0; i < mask->count && fits; i++)
        if (odb_tensor_f64(mask, i) == 0)
            return (long long)odb_tensor_f64(positions, i);
    return 1;
}

void odb_plan_pad(struct odb_plan *plan, const struct odb_tensor *mask,
                  const struct odb_tensor *positions)
{
    int i = odb_plan_mask(plan);
    const char *name = i < 0 ? "'" : move_value(plan, (size_t)i)->name;
    if (strchr(name, '\'') || !odb_padding_is(mask, odb_plan_pieces(plan, 0)) ||
        mask->count > MOVE_MASK)
        return;
    struct odb_buf what = ODB_BUF_INIT;
    for (size_t k = 0; k < mask->count; k++)
        odb_buf_printf(&what, "%d%c", odb_tensor_f64(mask, k) != 0,
                       (k + 1) % (size_t)mask->dims[1] ? ',' : ';');
    char *whole = odb_xasprintf("concat('%s at first',ones(%lld,total),1)[:,:total]", name,
                                (long long)mask->dims[0]);
    char *fill = odb_xasprintf("%lld", move_fill(mask, positions));
    for (size_t k = 0; k < plan->inputs.n; k++) {
        const struct move_row *row = move_padded(plan, k);
        if (!row)
            continue;
        move_rule(plan, k, row->padded, whole, fill);
        plan_text(&plan->inputs.items[k].why,
                  (int)k == i ? "as step 0 is fed, with padding, then ones"
                              : "positions of what is new, padding not counted");
    }
    odb_push(&plan->outside,
             (struct odb_plan_outside){odb_xasprintf("%s at first", name), odb_buf_take(&what)});
    free(whole);
    free(fill);
}
