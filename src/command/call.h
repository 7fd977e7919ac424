/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What commands share among themselves.
 */
#ifndef ODB_COMMAND_CALL_H
#define ODB_COMMAND_CALL_H

#include "base/buf.h"
#include "command/command.h"
#include "engine/bisect.h"
#include "session/store.h"

/* The rows' functions. */
#define ODB_COMMAND_LIST(X)                                                                        \
    X(bisect)                                                                                      \
    X(run) X(info) X(nodes) X(node) X(tensor) X(print) X(compare) X(extract) X(export) X(check)    \
        X(executors) X(help)
#define ODB_COMMAND_DECLARE(name)                                                                  \
    enum odb_status odb_command__##name(struct odb_command_call *call, struct odb_error *err);
ODB_COMMAND_LIST(ODB_COMMAND_DECLARE)
#undef ODB_COMMAND_DECLARE

/* Writes the text to the call's out and empties the buffer. */
void odb_call__print(struct odb_command_call *call, struct odb_buf *text);
/* Appends a line, cut to so many columns of a terminal; 0: not cut. text is shown safely already.
 */
void odb_call__put_line(struct odb_buf *out, const char *text, int width);
/* "onnxdbg: warning: TEXT" on the call's log, shown safely. */
void odb_call__warn(struct odb_command_call *call, const char *text);
/* Inputs as --input, --inputs-from, --dim and --seed say; their warnings are printed. */
enum odb_status odb_call__feeds(struct odb_command_call *call, struct odb_feeds **out,
                                struct odb_error *err) ODB_MUST_USE;
/* --tol, else the default. */
enum odb_status odb_call__tolerance(const struct odb_command_call *call, struct odb_criterion *out,
                                    struct odb_error *err) ODB_MUST_USE;
/* What --reference, --target, --tol, --expect, --strategy and --seed say; no hooks. */
enum odb_status odb_call__search_options(const struct odb_command_call *call,
                                         struct odb_bisect_options *out,
                                         struct odb_error *err) ODB_MUST_USE;
/* --target, else the best that is here. Borrowed. */
const char *odb_call__target(const struct odb_command_call *call);
/* The session of --session, which must exist; NULL without the option. */
enum odb_status odb_call__session(const struct odb_command_call *call, struct odb_store **out,
                                  struct odb_error *err) ODB_MUST_USE;
/* The spec of what runs a model once: --target, else --reference, else "cpu". Borrowed. */
const char *odb_call__runner(const struct odb_command_call *call);
/* Opens the first argument (an ODB_ARG_SOURCE) into call->model unless it is a tensor file. */
enum odb_status odb_call__open_source(struct odb_command_call *call,
                                      struct odb_error *err) ODB_MUST_USE;
/* What the first argument (an ODB_ARG_SOURCE) and the name of a value in it stand for: a tensor
 * file's content, name NULL; a weight; an input; or a value computed by odb_call__runner(). After
 * odb_call__open_source(). */
enum odb_status odb_call__value(struct odb_command_call *call, const char *name,
                                struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* A value by name, "#INDEX:SLOT" or "#INDEX" (the node's first output). ODB_E_USAGE with the
 * nearest name. */
enum odb_status odb_call__find_value(const struct odb_graph *graph, const char *text, int *index,
                                     struct odb_error *err) ODB_MUST_USE;
/* A tensor file: .npy, or .pb (a TensorProto). */
enum odb_status odb_call__read_tensor(struct odb_tensor **out, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;
/* The same way out, by the file's ending. */
enum odb_status odb_call__write_tensor(const struct odb_tensor *t, const char *name,
                                       const char *path, struct odb_error *err) ODB_MUST_USE;
/* "float (1, 3)", "sequence of 2", into buf; returns buf. */
const char *odb_call__type_text(const struct odb_tensor *t, char *buf, size_t size);

/* ODB_E_USAGE when path is the very file that the model was read from. */
enum odb_status odb_call__spare_model(const struct odb_command_call *call, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;

/* While it is on, Ctrl-C asks instead of killing; a second one kills. */
void odb_call__catch_interrupt(bool on);
/* True after Ctrl-C. The argument is ignored: this is a hook. */
bool odb_call__interrupted(void *payload);

#endif
