/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A part of a model, between the values that --inputs and --outputs name.
 */
#ifndef ODB_COMMAND_VERBS_FILE_PART_H
#define ODB_COMMAND_VERBS_FILE_PART_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct odb_graph;
struct odb_port;
struct odb_tensor;

struct odb_part_ports {
    struct odb_port *items; /* owned */
    size_t n, cap;
};

struct odb_part {
    struct odb_command_call *call; /* borrowed */
    const struct odb_graph *graph; /* borrowed: the call's model */
    bool alone; /* set it after odb_part_init() where inputs that the call gives are the part's, and
                   not the model's: what goes into the part then has the fixed shape of a run */
    bool given; /* --input names files for inputs of the part that are none of the model */
    struct odb_part_ports inputs, outputs;
    bool *nodes;              /* owned; [n_nodes] */
    size_t weight_bytes;      /* that the nodes read */
    struct odb_tensor **like; /* owned refs; [n_values]; NULL: as declared */
    bool fixed;               /* all dimensions of the model's inputs are declared */
};

void odb_part_init(struct odb_part *part, struct odb_command_call *call);
void odb_part_dispose(struct odb_part *part);

/* What the options name; without --outputs the model's outputs. */
enum odb_status odb_part_ports(struct odb_part *part, struct odb_error *err) ODB_MUST_USE;
/* Marks the nodes between inputs and outputs, and adds what is fed, where --inputs says nothing.
 * Inputs that the nodes need beside --inputs are an error. */
enum odb_status odb_part_cut(struct odb_part *part, struct odb_error *err) ODB_MUST_USE;
/* Values at the border that the model declares no type or no shape for get the one of the file that
 * --input names for them, else the one that the reference gives them, where it does: an output may
 * be without; their dimensions only where those of the model's inputs are all fixed, or
 * the part is alone. */
enum odb_status odb_part_types(struct odb_part *part, struct odb_error *err) ODB_MUST_USE;

#endif
