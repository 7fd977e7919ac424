/* SPDX-License-Identifier: MIT
 *
 * Where the weights of a model stand that is written.
 */
#ifndef ODB_MODEL_WRITE_WEIGHTS_PLACE_H
#define ODB_MODEL_WRITE_WEIGHTS_PLACE_H

enum odb_weights {
    ODB_WEIGHTS_INLINE,    /* in the model's own bytes */
    ODB_WEIGHTS_REFERENCE, /* large ones by byte range in the original file, from model->base */
    ODB_WEIGHTS_KEEP,      /* where they are: inside, or in files beside the original */
    ODB_WEIGHTS_BESIDE     /* large ones in a file of their own */
};

#endif
