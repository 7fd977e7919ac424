/* SPDX-License-Identifier: MIT
 *
 * The far end of ssh: an executor that hands everything on to a target, so that a child there may
 * crash, hang and babble as one here may.
 */
#ifndef ODB_EXECUTOR_RELAY_H
#define ODB_EXECUTOR_RELAY_H

#include "executor/executor.h"
#include "executor/target.h"

/* gone: asked while the target is at work; true ends that. */
enum odb_status odb_relay_open(struct odb_executor **out, const char *spec,
                               bool (*gone)(void *payload), void *payload,
                               struct odb_error *err) ODB_MUST_USE;
/* Of an executor that is a relay. */
struct odb_target *odb_relay_target(const struct odb_executor *relay);

#endif
