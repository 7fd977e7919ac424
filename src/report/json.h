/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What JSON cannot hold, written the same way everywhere: numbers that are not finite as "inf",
 * "-inf" and "nan", names that are not UTF-8 with \xNN for their bytes.
 */
#ifndef ODB_REPORT_JSON_H
#define ODB_REPORT_JSON_H

#include <jansson.h>

#include "base/buf.h"
#include "executor/executor.h"
#include "model/model.h"
#include "tensor/stats.h"

/* New references, never NULL; odb_json_text(NULL) is null. */
json_t *odb_json_text(const char *text);
json_t *odb_json_real(double v);
json_t *odb_json_texts(char *const *texts, size_t n);
/* {"index", "name", "op_type", "domain"}: what every object about a node begins with. */
json_t *odb_json_node(int index, const char *name, const char *op_type, const char *domain);
/* Names of values; null where one is left out (ODB_NO_VALUE). */
json_t *odb_json_values(const struct odb_graph *graph, const int *list, size_t n);
/* [1, 3], as declared: a number, a symbolic name, or null. null when the rank is not declared. */
json_t *odb_json_type_shape(const struct odb_type *type);
json_t *odb_json_shape(const struct odb_tensor *t);
/* Kind, type, shape and items; of numbers, statistics. name NULL: it has none. progress may be
 * NULL. */
json_t *odb_json_tensor(const char *name, const struct odb_tensor *t,
                        const struct odb_progress *progress);
/* The elements in order, as JSON can hold them: complex numbers are pairs, containers lists of such
 * lists, what is absent null. */
json_t *odb_json_elements(const struct odb_tensor *t);
/* What the finite elements are like, and how many are not, into an object. */
void odb_json_set_stats(json_t *object, const struct odb_stats *s);
/* {KEY: VALUE}. */
json_t *odb_json_metadata(const struct odb_metadata *metadata);
/* [{"where": …, "nodes": …}], most first: how many nodes run where. */
json_t *odb_json_places(const struct odb_account *account);
/* Appends what a command gives, and a newline: {"schema", "onnxdbg"} and what the object has. What
 * it says of these itself stands, for it may be of another version. Takes the reference over. */
void odb_json_put(json_t *json, struct odb_buf *out);
/* Appends what json_dumps() gives with these flags, with characters that act on a terminal
 * (odb_utf8_acts()) as \uNNNN: they can only stand in texts, which stay the same. */
void odb_json_put_dumped(const json_t *json, size_t flags, struct odb_buf *out);
/* Members of a list that are made one by one, as all of them together take ten times what is
 * written. */
struct odb_json_list {
    const char *name;               /* of the list in its object */
    json_t *(*next)(void *payload); /* gives the caller a new reference; NULL behind the last */
    void *payload;                  /* borrowed */
};

/* As odb_json_put() with n more lists, for which the object has null under their names, in the
 * order in which they come there. */
void odb_json_put_lists(json_t *json, const struct odb_json_list *lists, size_t n,
                        struct odb_buf *out);
/* As odb_json_put() with as many digits as give a double again; else there are nine. */
void odb_json_put_exact(json_t *json, struct odb_buf *out);

#endif
