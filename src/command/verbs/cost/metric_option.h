/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What --metric, --labels, --drop and --samples say: the data set of score, precision and minimise.
 */
#ifndef ODB_COMMAND_VERBS_COST_METRIC_OPTION_H
#define ODB_COMMAND_VERBS_COST_METRIC_OPTION_H

#include "bisect/bisect_options.h"
#include "command/verbs/search/samples_option.h"
#include "score/metric.h"

struct odb_call_metric {
    struct odb_call_samples samples;
    struct odb_metric *metric; /* owned */
    double drop;
};

/* ODB_E_USAGE where the call has no --metric. 20 samples are generated where it says nothing of
 * inputs. *out is to be disposed of always, and stays where it is. */
enum odb_status odb_call__metric(struct odb_command_call *call, struct odb_call_metric *out,
                                 const struct odb_search_hooks *hooks,
                                 struct odb_error *err) ODB_MUST_USE;
/* Options of the searches that it needs; a recording is refused. */
enum odb_status odb_call__metric_search(struct odb_command_call *call,
                                        struct odb_bisect_options *search,
                                        struct odb_error *err) ODB_MUST_USE;
void odb_call__metric_dispose(struct odb_call_metric *metric);
/* Of a sample, as struct odb_score_options has them; payload is the metric. */
char *odb_call__metric_source(void *payload, size_t sample);
enum odb_status odb_call__metric_feeds(void *payload, size_t sample, struct odb_feeds **out,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
