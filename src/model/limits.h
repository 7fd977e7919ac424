/* SPDX-License-Identifier: MIT
 *
 * How much a model may be, and not only hold: a file comes from a stranger, and structure costs a
 * hundred times the bytes that describe it. Weights have no limit but the file's size and that of
 * the files beside it, from which every claimed size must be found before memory is asked for.
 *
 * Elsewhere: tensors have at most ODB_MAX_RANK dimensions (tensor/dtype.h), images as many pixels
 * as tensor/format/image.c says, sparse tensors as many bytes as tensor/sparse.c says, archives
 * what their bytes can unpack to (npz.c), messages of executors what protocol.c says, texts of a
 * session what store_guard.c says.
 */
#ifndef ODB_MODEL_LIMITS_H
#define ODB_MODEL_LIMITS_H

#include <stdint.h>

enum {
    ODB_LIMIT_DEPTH = 100, /* of nested messages, as other readers of protobuf have it; a
                              body in a body takes three */
    ODB_LIMIT_PARTS = 10,  /* singular messages in one message: merging copies what there is */
    ODB_LIMIT_MESSAGES = 10000000, /* nodes, attributes, tensors, types and all, in one file */
    ODB_LIMIT_TEXT = 64 << 20,     /* bytes of a name, a description, an entry of the metadata */
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    ODB_LIMIT_EXPANDED = 1000000, /* nodes beside the graph's own: each function's for each call */
#else                             /* instrumented, and a thousand files a second */
    ODB_LIMIT_EXPANDED = 20000,
#endif
    ODB_LIMIT_CALLS = 100, /* functions that call each other */
    ODB_LIMIT_OPSETS = 100 /* imports of a model, or of a function */
};

#endif
