/* SPDX-License-Identifier: MIT
 *
 * The machine that this process runs on, in words.
 */
#ifndef ODB_BASE_HOST_H
#define ODB_BASE_HOST_H

#include "base/buf.h"

/* Appends "Linux 6.1.0 x86_64, PROCESSOR"; the processor where the system tells it. */
void odb_host_put(struct odb_buf *out);

#endif
