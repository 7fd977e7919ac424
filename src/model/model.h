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
    const char *name; /* borrowed: model; may be "" only for outputs nobody can refer to */
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

/* What whoever made the model has noted of it, or of a part of it (metadata_props). */
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
    bool was_unsorted;       /* the file's order was not topological */
    struct odb_map *by_name; /* value name -> index; owned: model */
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

/* Maps and reads a model file. External data is taken only from below the file's directory; where
 * the path is a link, also through links that end beside what it leads to. Where
 * a file of external data is not there, the model opens all the same, to be looked at: the tensors
 * in it have shapes and no data, and odb_model_require_data() says what is wrong. */
enum odb_status odb_model_open(struct odb_model **out, const char *path,
                               struct odb_error *err) ODB_MUST_USE;
/* The same, and links lead wherever the user says that they may. */
enum odb_status odb_model_open_linked(struct odb_model **out, const char *path,
                                      enum odb_links links, struct odb_error *err) ODB_MUST_USE;
/* The same from bytes, which are copied unless keep is a storage that owns them: what was cut out
 * of a model that was opened. So relative external data is looked for below dir through all links.
 * name stands in messages for the path. */
enum odb_status odb_model_open_bytes(struct odb_model **out, const void *bytes, size_t size,
                                     struct odb_storage *keep, const char *dir, const char *name,
                                     struct odb_error *err) ODB_MUST_USE;
void odb_model_free(struct odb_model *model); /* NULL is fine; tensors taken by ref live on */

/* Locations of external data that the model names, as they stand in it, each once. The array is
 * the caller's (NULL when there are none), the names are borrowed from the model. */
const char **odb_model_external_files(const struct odb_model *model, size_t *n);
/* What was looked at of the mapped files need not stay in memory: the weights of a model may be
 * more than that holds. They are read again when somebody looks. */
void odb_model_drop_pages(const struct odb_model *model);
/* Opens one of them for reading: by a name below dir, whatever links lead to; else ODB_E_MODEL. */
enum odb_status odb_model_open_external(int *fd, const char *dir, const char *location,
                                        struct odb_error *err) ODB_MUST_USE;
/* Gives a file of external data another name in what is extracted from now on; tensors stay. */
void odb_model_rename_external(struct odb_model *model, const char *from, const char *to);

/* ODB_E_MODEL when weights are missing; to be asked before a model is run or cut. Models from bytes
 * are never without: for them it is an error at once. */
enum odb_status odb_model_require_data(const struct odb_model *model,
                                       struct odb_error *err) ODB_MUST_USE;

/* The bytes that the model was read from, as they are; borrowed. */
const void *odb_model_bytes(const struct odb_model *model, size_t *size);

/* SHA-256 of the model file, as 64 hex digits. */
enum odb_status odb_model_sha256(const struct odb_model *model, char hex[65],
                                 struct odb_error *err) ODB_MUST_USE;

/* Version of a domain ("" is ai.onnx) that the model imports; 0: none. */
int odb_model_opset(const struct odb_model *model, const char *domain);

/* By value name; NULL when there is none. */
const struct odb_value *odb_graph_value(const struct odb_graph *graph, const char *name);
/* A node by name, "#INDEX", or the name of a value it makes, in this order. A name that several
 * nodes bear, or that nobody bears: ODB_E_USAGE with the candidates. */
enum odb_status odb_graph_find_node(const struct odb_graph *graph, const char *text, int *index,
                                    struct odb_error *err) ODB_MUST_USE;
/* "conv1", or "#12" where the name is empty or not unique; into buf; returns buf. */
const char *odb_node_label(const struct odb_node *node, char *buf, size_t size);
/* "#12 conv1 (Conv)", "#12 (Conv)" without a name, "#12 conv1 (domain::Op)"; shown safely. */
void odb_node_put(const struct odb_graph *graph, int node, struct odb_buf *out);
/* A node Debug of any domain with one input and one output, as a probe in PyTorch leaves it: it
 * gives what it gets. */
bool odb_node_is_debug(const struct odb_node *node);
/* Whether there is one of them anywhere: in the main graph, in bodies, in functions. */
bool odb_model_has_debug(const struct odb_model *model);
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

/* --- writing --------------------------------------------------------------------------------- */

enum odb_weights {
    ODB_WEIGHTS_INLINE,    /* in the model's own bytes */
    ODB_WEIGHTS_REFERENCE, /* large ones by byte range in the original file, from model->base */
    ODB_WEIGHTS_KEEP,      /* where they are: inside, or in files beside the original */
    ODB_WEIGHTS_BESIDE     /* large ones in a file of their own */
};

/* A value at the border of an extracted model. */
struct odb_port {
    int value;
    const struct odb_tensor *like; /* type and shape to declare; NULL: as the model declares */
    bool symbolic;                 /* declare the type but no fixed shape */
    bool constant;                 /* of an input: a weight of the cut, whose contents like is; a
                                      plain tensor then */
};

/* Metadata of a cut that remembers: indices in the model it was cut from, separated by spaces. */
#define ODB_META_NODES "onnxdbg.nodes"

/* What to cut out of a model's main graph. */
struct odb_extract {
    const bool *nodes;             /* [n_nodes] marks; NULL: the ancestors of the outputs */
    const struct odb_port *inputs; /* in order; feeds that the nodes need must be among them */
    size_t n_inputs;
    const struct odb_port *outputs;
    size_t n_outputs;
    const struct odb_port *between; /* types of values that nodes of the cut make and the model
                                       declares nothing of; NULL: they stay undeclared */
    size_t n_between;
    enum odb_weights weights;
    const char *weights_file;           /* BESIDE: its name in external_data */
    struct odb_file_parts *weights_out; /* BESIDE: its bytes, which are the model's */
    int64_t ir_version;                 /* 0: the model's */
    const char *graph_name;             /* NULL: the model's */
    bool declared;     /* dimensions at the border as the model declares them, where what
                          the ports are like fits that; what it says nothing of has
                          fixed ones only in a model whose feeds all have */
    bool plain_debug;  /* nodes for which odb_node_is_debug() holds become Identity, in
                          bodies too: nobody else knows them */
    bool record_nodes; /* say in the metadata which nodes of the model these are, as
                          ODB_META_NODES; odb_model_origin() reads it */
};

/* Appends the bytes of the extracted model to out: nodes in topological order, the initializers
 * they need, value_info among them, opset imports, functions, metadata. */
enum odb_status odb_model_extract(const struct odb_model *model, const struct odb_extract *what,
                                  struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;

/* Index of each node of the main graph in the model that this one was cut from ([n_nodes]): as the
 * metadata says, else its own. */
void odb_model_origin(const struct odb_model *model, int *index);

/* Feeds that the marked nodes read and nobody among them makes: value indices into list (room for
 * n_values), ascending; initializers left out. Returns how many. */
size_t odb_graph_segment_inputs(const struct odb_graph *graph, const bool *nodes, int *list);

/* --- text ------------------------------------------------------------------------------------- */

/* ONNX's own textual syntax for one node, or the whole model, for people: long lists and strings
 * are shortened, control characters shown. */
void odb_node_text(const struct odb_graph *graph, const struct odb_node *node, struct odb_buf *out);
void odb_model_text(const struct odb_model *model, struct odb_buf *out);
/* The same so that ONNX's own parser reads it back: nothing shortened, texts as they are but
 * for what acts on a terminal (escapes, which are read back as such), floats exact, half types as
 * their bits. Tensors of more than so many elements are named by their place in the model's file,
 * or in one beside it, as external data; those that have no such place, and all with SIZE_MAX, are
 * written out. Comments at the top count what the syntax has no words for. nodes: marks of those of
 * the main graph that make a graph of their own; NULL: all of the model. progress (NULL: none)
 * hears of elements that are written out. ODB_CANCELLED, by progress, is the only error, and
 * nothing is appended then. */
enum odb_status odb_model_text_exact(const struct odb_model *model, const bool *nodes,
                                     size_t elements, const struct odb_progress *progress,
                                     struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;
/* One attribute's value: "[1, 1]", "1e-05", "\"SAME_UPPER\"", "{...}" for tensors. */
void odb_attr_text(const struct odb_attr *attr, struct odb_buf *out);

/* --- TensorProto files ------------------------------------------------------------------------ */

/* Reads a .pb file that holds a TensorProto, SequenceProto, OptionalProto, or SparseTensorProto;
 * kind says which is expected (they cannot be told apart by their bytes). */
enum odb_status odb_pb_read(struct odb_tensor **out, enum odb_kind kind, const char *path,
                            struct odb_error *err) ODB_MUST_USE;
/* The same for a value of a declared type, which tells the kind, and of what an empty container in
 * the file is one. */
enum odb_status odb_pb_read_as(struct odb_tensor **out, const struct odb_type *type,
                               const char *path, struct odb_error *err) ODB_MUST_USE;
/* The name in a file that holds a TensorProto, whose values are not read; NULL where there is none,
 * as in files of anything else. Owned by the caller. */
char *odb_pb_name(const char *path);
/* Writes beside and renames. name is the TensorProto's name. */
enum odb_status odb_pb_write(const struct odb_tensor *t, const char *name, const char *path,
                             struct odb_error *err) ODB_MUST_USE;
/* The same to and from bytes. */
enum odb_status odb_pb_encode(const struct odb_tensor *t, const char *name, struct odb_buf *out,
                              struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_pb_decode(struct odb_tensor **out, enum odb_kind kind, const void *bytes,
                              size_t size, struct odb_error *err) ODB_MUST_USE;

#endif
