/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where ONNX Runtime is known to differ from ONNX, or from what its own documentation says.
 */
#ifndef ODB_TESTS_VERSUS_KNOWN_H
#define ODB_TESTS_VERSUS_KNOWN_H

/* The reason for a case's line (operator, attributes, inputs, what differs); NULL: not known. */
const char *vs_known(const char *line);

#endif
