/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes ranked by outputs alone, for the verbs that do so: suspects, and bisect where a target can
 * neither be read inside nor cut.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_RANKING_H
#define ODB_COMMAND_VERBS_SEARCH_RANKING_H

#include <stdbool.h>

#include "base/error.h"

struct odb_bisect_options;
struct odb_command_call;
struct odb_samples;
struct odb_suspects;

#define ODB_CALL_RANKED 20 /* samples, unless the call says how many */

/* Judges the samples and ranks the nodes, in what the call's budget leaves; *out is the caller's.
 * It may have been stopped: (*out)->stopped. */
enum odb_status odb_call__rank(struct odb_command_call *call, struct odb_samples *samples,
                               const struct odb_bisect_options *options, struct odb_suspects **out,
                               struct odb_error *err) ODB_MUST_USE;
/* ODB_CANCELLED, with how far it came. */
enum odb_status odb_call__rank_stopped(const struct odb_suspects *ranked,
                                       struct odb_error *err) ODB_MUST_USE;
/* Whether the target gives nothing but the model's outputs and takes no part of the model. */
enum odb_status odb_call__only_outputs(struct odb_command_call *call, const char *target,
                                       bool *only, struct odb_error *err) ODB_MUST_USE;

#endif
