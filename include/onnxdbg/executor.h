/* SPDX-License-Identifier: MIT
 *
 * Executors for onnxdbg from shared libraries: what runs models, so that the debugger can find out
 * which of their layers it gets wrong. A library exports one function,
 *
 *     const struct onnxdbg_executor *onnxdbg_executor(void);
 *
 * and is a target with --target plugin:LIB.so[,key=value...]. There are four calls: init() gets the
 * options, load_model() a model, execute() inputs to run it on, release() ends it all. The debugger
 * loads many models one after the other, pieces of the user's model mostly, and runs each a few
 * times. onnxdbg-executor(7) has the whole story and an example.
 *
 * The model comes as bytes, for those who read ONNX themselves, and, when asked for, as a graph of
 * plain structs (host->graph), for those who would rather not.
 *
 * The ABI:
 *  - Plain C. No exception may leave a call. This header and types.h are all there is to include.
 *  - ONNXDBG_EXECUTOR_ABI must be the same on both sides. Within it structs grow only at their end:
 *    the library's table says how large it is, host->revision says what there is on this side;
 *    members that came with a revision say so. struct onnxdbg_data never grows.
 *  - The library is loaded into a process of its own, and may print there, hang and crash: all of
 *    it is reported. What it prints is kept, and its end shown when the process dies.
 *  - Calls come one at a time and on one thread; cancel() alone comes from another one. The same
 *    goes for the host's functions, except cancelled(): during a call, on the thread of the call.
 *  - Strings are NUL-terminated and bytes of the model's own, which need not be UTF-8. What one
 *    side gets from the other in a call is borrowed until the call ends, unless it says otherwise.
 *  - Data is dense, row-major and little-endian. Elements lie at a multiple of 64 bytes where they
 *    come from the host, and anywhere where they come from the library.
 *  - A call returns 0, or what host->fail() returned, which takes the reason.
 */
#ifndef ONNXDBG_EXECUTOR_H
#define ONNXDBG_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include "onnxdbg/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXDBG_EXECUTOR_ABI 1
#define ONNXDBG_EXECUTOR_REVISION 0

#ifdef __GNUC__
#define ONNXDBG_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define ONNXDBG_PRINTF(text, first)
#endif

/* --- data ------------------------------------------------------------------------------------- */

enum onnxdbg_kind {
    ONNXDBG_TENSOR = 0,
    ONNXDBG_SEQUENCE = 1, /* items: the elements */
    ONNXDBG_OPTIONAL = 2, /* items: none or one */
    ONNXDBG_SPARSE = 3,   /* items: values [nnz], indices [nnz] or [nnz, rank]; rank and dims: of
                             the dense shape */
    ONNXDBG_MAP = 4       /* items: keys [n], values [n] */
};

/* A tensor, or something that holds others. Made by both sides, so it never grows. */
struct onnxdbg_data {
    int32_t kind;         /* enum onnxdbg_kind */
    int32_t dtype;        /* enum onnxdbg_dtype; of what a container holds, 0: unknown */
    int32_t rank;         /* at most 16 */
    const int64_t *dims;  /* [rank] */
    size_t count;         /* elements: the product of dims */
    size_t size;          /* bytes at elements */
    const void *elements; /* types below a byte are packed, strings are struct onnxdbg_string */
    size_t n_items;       /* 0 for a tensor */
    const struct onnxdbg_data *const *items; /* [n_items] */
};

/* --- models ----------------------------------------------------------------------------------- */

/* A named value of a graph: input, weight, or what a node makes. */
struct onnxdbg_value {
    const char *name;
    int32_t kind;               /* enum onnxdbg_kind */
    int32_t dtype;              /* enum onnxdbg_dtype; 0: the model does not say */
    int32_t rank;               /* -1: the model does not say */
    int32_t outer;              /* in a body: which value of the graph around it this is; else -1 */
    const int64_t *dims;        /* [rank]; -1: not fixed */
    const char *const *symbols; /* [rank]: names of those that are not fixed; NULL: none */
    const struct onnxdbg_data *constant; /* a weight; NULL: it is none */
};

/* Numbers of AttributeProto.AttributeType. */
enum onnxdbg_attribute_type {
    ONNXDBG_ATTRIBUTE_FLOAT = 1,
    ONNXDBG_ATTRIBUTE_INT = 2,
    ONNXDBG_ATTRIBUTE_STRING = 3,
    ONNXDBG_ATTRIBUTE_TENSOR = 4, /* tensors, n = 1 */
    ONNXDBG_ATTRIBUTE_GRAPH = 5,  /* graphs, n = 1 */
    ONNXDBG_ATTRIBUTE_FLOATS = 6,
    ONNXDBG_ATTRIBUTE_INTS = 7,
    ONNXDBG_ATTRIBUTE_STRINGS = 8,
    ONNXDBG_ATTRIBUTE_TENSORS = 9,
    ONNXDBG_ATTRIBUTE_GRAPHS = 10,
    ONNXDBG_ATTRIBUTE_SPARSE_TENSOR = 11, /* tensors, n = 1 */
    ONNXDBG_ATTRIBUTE_SPARSE_TENSORS = 12,
    ONNXDBG_ATTRIBUTE_TYPE_PROTO = 13, /* i: the element type; s: the type as text */
    ONNXDBG_ATTRIBUTE_TYPE_PROTOS = 14 /* not shown */
};

struct onnxdbg_graph;

struct onnxdbg_attribute {
    const char *name;
    int32_t type; /* enum onnxdbg_attribute_type: which of the following holds */
    float f;
    int64_t i;
    struct onnxdbg_string s;
    size_t n; /* of the lists */
    const float *floats;
    const int64_t *ints;
    const struct onnxdbg_string *strings;
    const struct onnxdbg_data *const *tensors;
    const struct onnxdbg_graph *const *graphs;
};

struct onnxdbg_node {
    const char *name; /* may be "" and need not be unique */
    const char *op_type;
    const char *domain; /* "" for ONNX's own */
    int32_t opset;      /* of the domain, as the model imports it */
    int32_t n_inputs, n_outputs, n_attributes;
    const int32_t *inputs;  /* [n_inputs] which of the graph's values; -1: omitted */
    const int32_t *outputs; /* [n_outputs] likewise */
    const struct onnxdbg_attribute *const *attributes; /* [n_attributes] */
};

/* Of a model, or a body of If, Loop and Scan. */
struct onnxdbg_graph {
    const char *name;
    size_t n_nodes, n_values, n_inputs, n_outputs;
    const struct onnxdbg_node *const *nodes;   /* each behind those that it needs */
    const struct onnxdbg_value *const *values; /* all of them */
    const int32_t *inputs;  /* [n_inputs] which of the values; weights are not among them */
    const int32_t *outputs; /* [n_outputs] */
};

struct onnxdbg_model {
    const void *bytes; /* a ModelProto; borrowed for the call */
    size_t size;
    const char *directory; /* external data is below it; the process's working directory */
    size_t n_inputs, n_outputs;
    /* What execute() gets and gives, in this order. They live as host->graph() does. */
    const struct onnxdbg_value *const *inputs;
    const struct onnxdbg_value *const *outputs;
};

/* --- the debugger's side ---------------------------------------------------------------------- */

/* Why a call fails. */
enum onnxdbg_status {
    ONNXDBG_FAILED = 1,      /* anything that is none of the following */
    ONNXDBG_USAGE = 2,       /* a wrong option */
    ONNXDBG_UNSUPPORTED = 3, /* an operator, a type, a shape: nothing is wrong with the model */
    ONNXDBG_INPUT = 4,       /* inputs that do not fit the model */
    ONNXDBG_NO_MEMORY = 5
};

/* Lives from init() to release(): keep the pointer. */
struct onnxdbg_host {
    uint32_t revision;   /* ONNXDBG_EXECUTOR_REVISION of the debugger */
    const char *version; /* of the debugger */

    /* Anywhere. The reason in one line, in the manner of printf, with a code of enum
     * onnxdbg_status; returns what the call should return. The first reason of a call counts. */
    int (*fail)(const struct onnxdbg_host *host, int code, const char *format, ...)
        ONNXDBG_PRINTF(3, 4);
    /* After fail(): the way out, in one line. Returns the same. */
    int (*remedy)(const struct onnxdbg_host *host, const char *format, ...) ONNXDBG_PRINTF(2, 3);
    /* Anywhere, on any thread. Not 0: the host waits no longer for the call under way, which should
     * return soon, whatever. release() is then called; if all that takes more than some tenths of a
     * second, the process is killed. */
    int (*cancelled)(const struct onnxdbg_host *host);

    /* In load_model(): the model as structs, weights and all, made when first asked for. Lives
     * until the next load_model() begins, or release(). NULL: it cannot be had; return. */
    const struct onnxdbg_graph *(*graph)(const struct onnxdbg_host *host);

    /* In execute(), to give output i of the model. One that is not wanted may be given all the
     * same. output: memory to fill, zeroed, which is the host's. NULL: it cannot be had; return. */
    void *(*output)(const struct onnxdbg_host *host, size_t i, int dtype, int rank,
                    const int64_t *dims);
    /* Copies a string into element e of output i, made by output(). */
    int (*output_string)(const struct onnxdbg_host *host, size_t i, size_t e, const char *text,
                         size_t size);
    /* What the library has already, of any kind. With done, elements are borrowed until
     * done(payload) is called: once, on the thread of the calls, before release(), at once if
     * give() fails; the structs themselves need not outlive the call. Without done everything is
     * copied. */
    int (*give)(const struct onnxdbg_host *host, size_t i, const struct onnxdbg_data *data,
                void (*done)(void *payload), void *payload);

    /* In account(). text: appends to the model as the executor sees it: an optimised graph, an IR.
     * place: where a node ran, "npu:0"; the name may be one of the executor's own. note: a line
     * that its user should know, in the manner of printf. */
    void (*text)(const struct onnxdbg_host *host, const char *text, size_t size);
    void (*place)(const struct onnxdbg_host *host, const char *node, const char *op_type,
                  const char *where);
    void (*note)(const struct onnxdbg_host *host, const char *format, ...) ONNXDBG_PRINTF(2, 3);
};

/* --- the library's side ----------------------------------------------------------------------- */

struct onnxdbg_setup {
    const char *library;   /* path of the library, absolute */
    const char *directory; /* where the user is: what relative paths among the options mean. It is
                              the working directory in init(), and no more in load_model() */
    size_t n_options;
    const char *const *keys;   /* [n_options], each once */
    const char *const *values; /* [n_options]; "" for a flag */
};

struct onnxdbg_run {
    const struct onnxdbg_data *const *inputs; /* as the model has them; NULL: an optional one that
                                                 was not given */
    const unsigned char *wanted;              /* [n_outputs] of the model: 0: not wanted */
};

/* Static data of the library. */
struct onnxdbg_executor {
    uint32_t abi;     /* ONNXDBG_EXECUTOR_ABI */
    uint32_t size;    /* sizeof(struct onnxdbg_executor) */
    const char *name; /* short, for messages */

    /* Checks the options, every one of them, and opens the device. *self is passed to all other
     * calls. When it fails, no other call follows, release() neither. A process may hold several,
     * each with a host of its own, whose calls still come one at a time. */
    int (*init)(const struct onnxdbg_host *host, const struct onnxdbg_setup *setup, void **self);
    /* Replaces the model before. When it fails, none is loaded. */
    int (*load_model)(void *self, const struct onnxdbg_model *model);
    /* Gives every output that is wanted. */
    int (*execute)(void *self, const struct onnxdbg_run *run);
    void (*release)(void *self);

    /* What follows may be NULL. */

    /* Name, version, device, in one line, which lives until release(). */
    const char *(*describe)(void *self);
    /* Tells what became of the loaded model, with host->text, place and note. */
    int (*account)(void *self);
    /* The call under way is given up (host->cancelled): comes on another thread while the call is
     * still under way, to stop what cannot ask. */
    void (*cancel)(void *self);
};

/* The one symbol that a library exports. */
const struct onnxdbg_executor *onnxdbg_executor(void);

#ifdef __cplusplus
}
#endif

#endif
