/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What comes from outside: the pieces of every feed of a plan, for all its steps, and what held
 * inputs and states begin with. They are made once, so that any step can be made again, and in
 * other chunks.
 */
#ifndef ODB_SEQUENCE_PLAN_STREAM_H
#define ODB_SEQUENCE_PLAN_STREAM_H

#include "run/feeds.h"
#include "sequence/plan/sequence_plan.h"

/* Makes the inputs of the model as the input settings say, with so much more than the seed, or
 * those of that step. */
struct odb_stream_source {
    enum odb_status (*make)(void *payload, uint32_t shift, struct odb_feeds **out,
                            struct odb_error *err);
    void *payload;
};

struct odb_streams;

/* Where each step has inputs of its own, as source makes them for it: as many pieces as it has of
 * what is counted become the plan's chunks. */
enum odb_status odb_streams_chunks(struct odb_plan *plan, const struct odb_stream_source *source,
                                   struct odb_error *err) ODB_MUST_USE;
/* ODB_E_USAGE: a file, a list or a number of the plan does not fit its input. */
enum odb_status odb_streams_make(struct odb_streams **out, const struct odb_plan *plan,
                                 const struct odb_stream_source *source,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_streams_free(struct odb_streams *streams); /* NULL is fine */
/* How many pieces there are: what the steps of the plan take in all. */
size_t odb_streams_pieces(const struct odb_streams *streams);
/* Of input number i of the plan: a FEED's pieces [from, from + n); n is 1 where each is a whole
 * input. What a CARRY or a HOLD begins with, whatever from and n are. The caller's. */
enum odb_status odb_streams_take(struct odb_tensor **out, const struct odb_streams *streams,
                                 size_t i, size_t from, size_t n,
                                 struct odb_error *err) ODB_MUST_USE;
/* Appends what tells them from all others. */
void odb_streams_identify(const struct odb_streams *streams, struct odb_buf *out);
/* The plan has fewer steps than when it was made, and so there are fewer pieces. */
void odb_streams_end(struct odb_streams *streams);
/* ODB_E_INPUT: what step `step` was fed as that input is not known. */
enum odb_status odb_streams_untold(const char *name, size_t step,
                                   struct odb_error *err) ODB_MUST_USE;
/* The token that the last row of logits chooses, as one piece of input number i; the caller's.
 * ODB_E_INPUT: there is no such row for each that the input has, or it has NaN. */
enum odb_status odb_streams_choose(struct odb_tensor **out, const struct odb_streams *streams,
                                   size_t i, const struct odb_tensor *logits,
                                   struct odb_error *err) ODB_MUST_USE;
/* Puts that in the place of piece number at, where the plan says that tokens are chosen so. */
enum odb_status odb_streams_follow(struct odb_streams *streams, size_t at,
                                   const struct odb_tensor *logits,
                                   struct odb_error *err) ODB_MUST_USE;
/* What formulas read by a name that is no input's; borrowed, NULL: nothing is called so. */
const struct odb_tensor *odb_streams_outside(const struct odb_streams *streams, const char *name);
/* Where it comes from, for the feeds of a step. */
const char *odb_streams_source(const struct odb_streams *streams, size_t i);

#endif
