/* SPDX-License-Identifier: MIT
 *
 * Bodies as models of their own, and paths that lead into them: "Loop_4[3]/If_2.then/MatMul_0" is
 * the node MatMul_0 of the branch that If_2 takes in turn 3 of Loop_4. A call of a local function
 * has its body without a suffix: "MyBlock_7/Add_2".
 */
#ifndef ODB_MODEL_WRITE_BODY_MODEL_H
#define ODB_MODEL_WRITE_BODY_MODEL_H

#include "model/model.h"

/* Metadata of a model whose main graph is a body: the way to that body in the model that it was cut
 * from, a line for each step, by the node's label and, behind a tab, by its index. */
#define ODB_META_BODY "onnxdbg.body"

#define ODB_BODY_DEPTH 16 /* steps of a path */
#define ODB_ANY_TURN INT64_C(-1)

/* One body of a node. */
struct odb_body {
    const char *attr;              /* "then_branch", "body" …; NULL: of the function it calls */
    const struct odb_graph *graph; /* borrowed */
};

/* The body in this attribute (NULL: of the function that the node calls). False: there is none. */
bool odb_body_find(const struct odb_node *node, const char *attr, struct odb_body *out);
/* The i-th of a node's bodies; false: there are no more. */
bool odb_body_at(const struct odb_node *node, size_t i, struct odb_body *out);
/* Whether odb_body_find() finds anything: If, Loop, Scan, SequenceMap, a local function's call. */
bool odb_node_has_body(const struct odb_node *node);

/* From a graph into a body of one of its nodes. */
struct odb_body_step {
    int node;
    struct odb_body body;
    int64_t turn; /* ODB_ANY_TURN: none was named */
};

struct odb_body_path {
    struct odb_body_step steps[ODB_BODY_DEPTH];
    size_t n;
    const char *last; /* what is named in the innermost graph; borrowed: text */
};

/* Splits text as far as it leads into bodies; n is 0 where it does not. What last names is not
 * looked for. index: [n_nodes] what "#12" means in this graph, NULL: the nodes' own. False: the
 * path is too long. */
bool odb_body_path_parse(const struct odb_graph *graph, const int *index, const char *text,
                         struct odb_body_path *out);
/* The node that text names: of this graph, path->n is 0 then, or of the body that its path leads
 * into. */
enum odb_status odb_body_find_node(const struct odb_graph *graph, const char *text,
                                   struct odb_body_path *path, int *node,
                                   struct odb_error *err) ODB_MUST_USE;
/* Appends a step as a path has it: "Loop_4[3]", "If_2.then". label: of the node. */
void odb_body_put_step(const char *label, const struct odb_body *body, int64_t turn,
                       struct odb_buf *out);
/* Where a path goes on behind the body that a model is: behind the last "/" of its steps. NULL: it
 * leads elsewhere. way: the model's ODB_META_BODY; *turn: the innermost of its turns, ODB_ANY_TURN
 * where it has none. *same: the path names no other turns. */
const char *odb_body_path_below(const char *text, const char *way, int64_t *turn, bool *same);
/* Appends a way as a path, shown safely. */
void odb_body_put_way(const char *way, struct odb_buf *out);
/* The model's ODB_META_BODY; NULL: it is no body. Borrowed. */
const char *odb_model_body_way(const struct odb_model *model);

/* Appends a model whose main graph is the body of a node of the main graph. Its inputs are the
 * body's, then values that it captures; captured weights stay weights, and large ones stay in
 * their file. turn: which its steps name; ODB_ANY_TURN: none. */
enum odb_status odb_body_extract(const struct odb_model *model, int node,
                                 const struct odb_body *body, int64_t turn, struct odb_buf *out,
                                 struct odb_error *err) ODB_MUST_USE;
/* Opens the innermost of the bodies that a path leads into as a model, and finds the node that it
 * names there. *out is NULL where it names a node of the main graph. */
enum odb_status odb_body_follow(struct odb_model **out, int *node, const struct odb_model *model,
                                const char *text, struct odb_error *err) ODB_MUST_USE;
/* Appends a model of one node of the main graph, with every input fed but the captured weights.
 * A Loop without a trip count gets one, called trips. */
enum odb_status odb_body_owner(const struct odb_model *model, int node, const char *trips,
                               struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;

#endif
