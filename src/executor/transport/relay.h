/* SPDX-License-Identifier: MIT
 *
 * Executors that hand everything on to a target, so that a child of theirs may crash, hang and
 * babble: the far end of ssh, and Python inside a wrapper.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_RELAY_H
#define ODB_EXECUTOR_TRANSPORT_RELAY_H

#include "executor/executor.h"
#include "executor/transport/target.h"

/* The calls of a row whose self is a target. */
enum odb_status odb_relay_load(void *self, const struct odb_load *load,
                               struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_relay_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                  const char *const *names, size_t n_outputs,
                                  struct odb_tensor **outputs, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_relay_account(void *self, struct odb_account *account,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_relay_describe(void *self, char *text, size_t size);
void odb_relay_capabilities(void *self, struct odb_buf *options);
void odb_relay_release(void *self);

/* The far end of ssh. gone: asked while the target is at work; true ends that. */
enum odb_status odb_relay_open(struct odb_executor **out, const char *spec,
                               bool (*gone)(void *payload), void *payload,
                               struct odb_error *err) ODB_MUST_USE;
/* Of an executor that is a relay. */
struct odb_target *odb_relay_target(const struct odb_executor *relay);

#endif
