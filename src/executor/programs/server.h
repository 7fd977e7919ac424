/* SPDX-License-Identifier: MIT
 *
 * A program that stays, starts once, and runs models as lines of JSON ask it to: server:PROGRAM,
 * and what is built on it. onnxdbg-server(7) has the protocol.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_SERVER_H
#define ODB_EXECUTOR_PROGRAMS_SERVER_H

#include "executor/executor.h"
#include "executor/transport/program.h"

/* Starts the program and asks what it can do. keep: as in odb_place_new(); cache: as in
 * odb_compiled_open(), for programs that compile. *out is the self of the calls below. */
enum odb_status odb_server_open_take(void **out, struct odb_argv *take, const char *keep,
                                     const char *cache, struct odb_error *err) ODB_MUST_USE;

/* The calls of a row. */
enum odb_status odb_server_load(void *self, const struct odb_load *load,
                                struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_server_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                   const char *const *names, size_t n_outputs,
                                   struct odb_tensor **outputs, struct odb_error *err) ODB_MUST_USE;
void odb_server_release(void *self);
bool odb_server_cancel(void *self);
/* Appends what the program says that it can do, as options of a spec with ',' between. */
void odb_server_capabilities(void *self, struct odb_buf *options);
void odb_server_describe(void *self, char *text, size_t size);
enum odb_status odb_server_account(void *self, struct odb_account *account,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
