/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search goes on inside a node with bodies.
 */
#ifndef ODB_ENGINE_BODIES_H
#define ODB_ENGINE_BODIES_H

#include "engine/findings.h"

/* Goes on inside culprits that have bodies. */
enum odb_status bodies_enter_all(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

#endif
