/* SPDX-License-Identifier: MIT
 *
 * A model as the rest of the program sees it: graphs of nodes and values, in topological order,
 * read-only after loading. Nothing here shows protobuf; nothing here copies weights: the file is
 * mapped, and every tensor views the map (load.c tells how).
 *
 * Words: a value is a named tensor of a graph; a node is an operator call. Both are known by
 * index: names are labels that may be empty, repeated, or not UTF-8.
 */
#ifndef ODB_MODEL_MODEL_H
#define ODB_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "system/file.h"
#include "base/progress.h"
#include "tensor/attr.h"
#include "tensor/tensor.h"

struct odb_map;

#define ODB_NO_NODE (-1)
#define ODB_NO_VALUE (-1)

/* One dimension as declared. */
struct odb_dim {
    int64_t value;     /* -1: not fixed */
    const char *param; /* symbolic name; NULL: none. borrowed: model */
};

/* A declared type: TypeProto. */
struct odb_type {
    bool known; /* false: nothing declared; the rest is then 0 */
    enum odb_kind kind;
    enum odb_dtype dtype; /* of the tensor; sequences, optionals: of the innermost tensor */
    int rank;             /* -1: not declared */
    struct odb_dim *dims; /* owned: model; [rank] */
    const char *text;     /* ONNX text: "float[1, N]"; owned: model */
    const char *shown;    /* the same for people: "float[]" is a scalar, and "float[...]" has any
                             rank; owned: model */
};

struct odb_value {
    const char *name; /* borrowed: model; may be "" only for outputs nothing can refer to */
    int index;        /* in graph->values */
    int producer;     /* node index, ODB_NO_NODE for graph inputs, initializers, outer values */
    int slot;         /* which output of the producer */
    int *consumers;   /* owned: model; node indices, ascending, each once; nodes whose bodies use
                         the value count */
    size_t n_consumers;
    struct odb_type type;          /* as declared (value_info, input, output) */
    const struct odb_tensor *init; /* initializer or Constant-like weight; borrowed: model */
    bool init_is_sparse;           /* init is dense, and stored sparse in the file */
    bool init_is_external;         /* init's data are in another file */
    bool is_input; /* graph input (an initializer may be one too: IR 3, or overridable) */
    bool is_output;
    bool is_outer; /* in a body: captured from the enclosing graph */
};

/* What the maker of the model has noted of it, or of a part of it (metadata_props). */
struct odb_metadata {
    const char *(*items)[2]; /* key, value; owned: model */
    size_t n;
};

struct odb_node {
    int index;        /* in topological order */
    int file_index;   /* position in the file */
    const char *name; /* borrowed: model; may be "" or a duplicate */
    const char *op_type;
    const char *domain; /* "" for ai.onnx */
    const char *overload;
    const char *doc;
    struct odb_metadata metadata;
    int opset; /* of the domain, as imported; 0: not imported */
    int n_in, n_out;
    int *in; /* value indices, ODB_NO_VALUE where omitted; owned: model */
    int *out;
    struct odb_attrs attrs; /* owned: model */
    int *captured;          /* values of this graph that the node's bodies use; owned: model */
    size_t n_captured;
    const struct odb_function *function; /* local function it calls; NULL: an operator */
    bool name_is_unique;
};

/* What a node reads: its inputs, negative where one is left out, then what its bodies capture. */
static inline size_t odb_node_n_reads(const struct odb_node *node)
{
    return (size_t)node->n_in + node->n_captured;
}

static inline int odb_node_reads(const struct odb_node *node, size_t i)
{
    return i < (size_t)node->n_in ? node->in[i] : node->captured[i - (size_t)node->n_in];
}

struct odb_graph {
    const struct odb_model *model;
    const struct odb_graph *parent; /* NULL for the main graph and for function bodies */
    const char *name, *doc;
    struct odb_metadata metadata;
    struct odb_node *nodes; /* topological: Kahn, ties by file position */
    size_t n_nodes;
    struct odb_value *values;
    size_t n_values;
    int *inputs; /* value indices in the order of the file, initializers among them included */
    size_t n_inputs;
    int *outputs;
    size_t n_outputs;
    bool was_unsorted;             /* the file's order was not topological */
    struct odb_map *by_name;       /* value name -> index; owned: model */
    struct odb_map *nodes_by_name; /* -> index of the first that bears it; owned: model */
};

struct odb_function {
    const char *domain, *name, *overload;
    const char *const *inputs, *const *outputs; /* formal names */
    size_t n_inputs, n_outputs;
    struct odb_graph *graph;       /* body; formal inputs are its inputs */
    struct odb_attrs defaults;     /* attribute_proto: attributes with default values */
    const char *const *attr_names; /* attributes without defaults */
    size_t n_attr_names;
};

struct odb_opset {
    const char *domain;
    int64_t version;
};

/* Which links external data may be behind. */
enum odb_links {
    ODB_LINKS_NEAR, /* those that end below the model's directory, or beside the file that the model
                       is, where its own path is a link */
    ODB_LINKS_ALL
};

struct odb_model {
    const char *path;     /* as given; "" for bytes; owned */
    const char *dir;      /* where external data is looked for; owned */
    const char *base;     /* where ODB_WEIGHTS_REFERENCE finds it and the model's own file: dir, or
                             what links in it lead to; owned */
    enum odb_links links; /* that were followed */
    int64_t ir_version;
    const char *producer_name, *producer_version, *domain, *doc;
    int64_t model_version;
    struct odb_opset *opsets;
    size_t n_opsets;
    struct odb_function *functions;
    size_t n_functions;
    struct odb_metadata metadata;
    struct odb_graph *graph;
    size_t file_bytes;
    struct model_int *priv; /* owned: what load.c and write.c keep */
};

/* By value name; NULL when there is none. */
const struct odb_value *odb_graph_value(const struct odb_graph *graph, const char *name);
/* A node by name, "#INDEX", or the name of a value it makes, in this order. A name that several
 * nodes bear, or that none bears: ODB_E_USAGE with the candidates. */
enum odb_status odb_graph_find_node(const struct odb_graph *graph, const char *text, int *index,
                                    struct odb_error *err) ODB_MUST_USE;
/* "conv1", or "#12" where the name is empty or not unique; into buf; returns buf. */
const char *odb_node_label(const struct odb_node *node, char *buf, size_t size);
/* "#12 conv1 (Conv)", "#12 (Conv)" without a name, "#12 conv1 (domain::Op)"; shown safely. */
void odb_node_put(const struct odb_graph *graph, int node, struct odb_buf *out);
/* A node Constant of ONNX's own. */
bool odb_node_is_constant(const struct odb_node *node);
/* A node Debug of any domain with one input and one output, as a probe in PyTorch leaves it: it
 * gives what it gets. */
bool odb_node_is_debug(const struct odb_node *node);
/* Its attribute name, which the checkpoint goes by; NULL where there is none. Owned by the
 * caller. */
char *odb_node_checkpoint(const struct odb_node *node);
/* Key of a value: its name, or "#INDEX:SLOT" where there is none. Returns buf. */
const char *odb_value_key(const struct odb_graph *graph, const struct odb_value *value, char *buf,
                          size_t size);

/* Graph inputs that must be fed: those without an initializer. Returns how many; indices of values
 * into list (may be NULL), which has room for graph->n_inputs. */
size_t odb_graph_feeds(const struct odb_graph *graph, int *list);

/* Ancestors: marks[n] says for every node whether the values need it (bodies' captures included).
 * Values in stop (marks by value index, may be NULL) are not walked through. */
void odb_graph_ancestors(const struct odb_graph *graph, const int *values, size_t n,
                         const bool *stop, bool *node_marks);

/* Metadata of a cut that remembers: indices in the model it was cut from, separated by spaces. */
#define ODB_META_NODES "onnxdbg.nodes"

/* Index of each node of the main graph in the model that this one was cut from ([n_nodes]): as the
 * metadata says, else its own. */
void odb_model_origin(const struct odb_model *model, int *index);

/* Feeds that the marked nodes read and none of them makes: value indices into list (room for
 * n_values), ascending; initializers left out. Returns how many. */
size_t odb_graph_segment_inputs(const struct odb_graph *graph, const bool *nodes, int *list);

#endif
