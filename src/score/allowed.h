/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A criterion made of a metric: a model passes where its score over a data set is no more than so
 * much below the reference's.
 */
#ifndef ODB_SCORE_ALLOWED_H
#define ODB_SCORE_ALLOWED_H

#include "bisect/bisect_options.h"
#include "score/metric.h"

struct odb_allowed;

struct odb_allowed_options {
    struct odb_metric *metric; /* borrowed */
    double drop;               /* as the metric is shown: points, dB */
    size_t n;                  /* of samples */
    /* As in struct odb_score_options; borrowed for as long as the criterion lives. */
    char *(*source)(void *payload, size_t sample);
    enum odb_status (*feeds)(void *payload, size_t sample, struct odb_feeds **out,
                             struct odb_error *err);
    void *payload;
};

/* Runs the reference on every sample. */
enum odb_status odb_allowed_new(struct odb_allowed **out, const struct odb_model *model,
                                const struct odb_bisect_options *search,
                                const struct odb_allowed_options *options,
                                struct odb_error *err) ODB_MUST_USE;
void odb_allowed_free(struct odb_allowed *allowed); /* NULL is fine */
/* "top1 at most 0.5 points below the reference, over 50 samples"; the caller's. */
char *odb_allowed_text(const struct odb_allowed *allowed);

/* As struct odb_precision_set has them; payload is the criterion. */
enum odb_status odb_allowed_feeds(void *payload, size_t sample, struct odb_feeds **out,
                                  struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_allowed_take(void *payload, size_t sample, const struct odb_feeds *feeds,
                                 struct odb_tensor *const *outputs,
                                 struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_allowed_done(void *payload, bool *passes, char *reason, size_t size,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
