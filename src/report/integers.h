/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A few integers, as shapes, axes and counts are, say more by themselves than how far they are off.
 */
#ifndef ODB_REPORT_INTEGERS_H
#define ODB_REPORT_INTEGERS_H

#include "base/buf.h"
#include "tensor/tensor.h"

/* "It holds [1, 8, 1, -1] where the original has [1, 8, 20, -1]. ", whose being "the original"; of
 * tensors of one type and shape that differ, of eight elements at most. Else nothing; t may be
 * NULL. Appends. */
void odb_report_put_integers(const struct odb_tensor *t, const struct odb_tensor *ref,
                             const char *whose, struct odb_buf *out);

#endif
