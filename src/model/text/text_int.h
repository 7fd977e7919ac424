/* SPDX-License-Identifier: MIT
 *
 * ONNX text while it is being written: what model_text.c and text_data.c share.
 */
#ifndef ODB_MODEL_TEXT_TEXT_INT_H
#define ODB_MODEL_TEXT_TEXT_INT_H

#include "model/model_int.h"

/* What a model says and the syntax cannot. */
enum text_lost {
    TEXT_LOST_DENSE,
    TEXT_LOST_SPARSE,
    TEXT_LOST_LIST,
    TEXT_LOST_NAME,
    TEXT_LOST_GRAPH_NAME,
    TEXT_LOST_TYPE,
    TEXT_LOST_DATA,
    TEXT_LOST_DOC,
    TEXT_LOST_ACTS,
    TEXT_LOST_COUNT
};

/* Some nodes of the main graph as a graph of their own. */
struct text_part {
    const bool *nodes;     /* borrowed; [n_nodes] marks */
    int *inputs, *outputs; /* owned; values */
    size_t n_inputs, n_outputs;
    bool *given, *reads; /* owned; [n_values] outputs; what the nodes read */
    bool *functions;     /* owned; [n_functions] called */
};

struct text {
    struct odb_buf *out;           /* borrowed */
    const struct odb_model *model; /* borrowed; NULL: tensors have no place in a file */
    bool exact;      /* for ONNX's parser; else for people, shortened and shown safely */
    bool ranks;      /* types: "float[]" is a scalar and "float[...]" has any rank, where ONNX's
                        text has "float" and "float[]" */
    size_t elements; /* exact: larger tensors are named by their place */
    const struct text_part *part;        /* borrowed; NULL: all of the model */
    size_t lost[TEXT_LOST_COUNT];        /* exact: how often */
    const struct odb_progress *progress; /* borrowed; NULL: not wanted */
    size_t done, total;                  /* for progress: elements, about */
    bool stopped;                        /* by progress: the rest is not worth writing */
};

/* A name: as it is where it is an identifier, else quoted. */
void odb_model__text_id(const char *name, struct text *to);
/* One that cannot be quoted: part of a domain, an operator, an attribute. */
void odb_model__text_bare(const char *name, struct text *to);
/* The name of a body, which the parser takes for a string or a type where it is not plain. */
void odb_model__text_body_id(const char *name, struct text *to);
void odb_model__text_quoted(const char *data, size_t len, struct text *to);
/* The shortest decimal that reads back as the same number. */
void odb_model__text_float(double v, bool is_double, struct text *to);
/* The same where an integer would be taken for another type. */
void odb_model__text_real(float v, struct text *to);
/* The separator before item i of n, and whether it is shown. */
bool odb_model__text_item(size_t i, size_t n, size_t shown, size_t head, struct text *to);
/* "float[3, 4]". */
void odb_model__text_tensor_type(const struct odb_tensor *t, struct text *to);
/* "{1, 2}", or where the bytes are: "[\"location\": …]". proto: its message; NULL: not at hand. */
void odb_model__text_data(const struct odb_tensor *t, const Onnx__TensorProto *proto,
                          struct text *to);
/* The same behind its type, as the value of an attribute. */
void odb_model__text_tensor(const struct odb_tensor *t, struct text *to);

#endif
