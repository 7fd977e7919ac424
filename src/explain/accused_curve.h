/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The curve of a call (measure/curve.h), where its operator takes element by element.
 */
#ifndef ODB_EXPLAIN_ACCUSED_CURVE_H
#define ODB_EXPLAIN_ACCUSED_CURVE_H

#include "explain/accused.h"

/* Of the output that shows the error most, over the one operand that varies. NULL: several vary, or
 * none, or the operator is another. The caller's. */
struct odb_curve *accused_curve(const struct accused *s);

#endif
