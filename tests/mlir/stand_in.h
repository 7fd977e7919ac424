/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the stand-in for onnx-mlir's compiler and the libraries that it makes say to each other.
 *
 * model.constants.bin begins with STAND_IN_LINES lines: the compiler's path, the signatures of
 * inputs and outputs, and how the library is to misbehave; then comes the model. To run, a library
 * starts the compiler with --run FILE, writes the inputs to it in order and reads the outputs: a
 * count, then for each a head, the dimensions, the data. A negative count is an errno.
 */
#ifndef ODB_TESTS_STAND_IN_H
#define ODB_TESTS_STAND_IN_H

#include <stdint.h>

enum { STAND_IN_COMPILER, STAND_IN_INPUTS, STAND_IN_OUTPUTS, STAND_IN_HABIT, STAND_IN_LINES };

struct stand_in_head {
    int64_t type, rank, bytes;
};

#endif
