/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One input from one file: a tensor, a picture, or bytes alone.
 *
 *     x.npy  x.pb  cat.png  cat.jpg  x.bin  x.wav  cat.png,dog.png
 *     image(FILE[,FILE…][,resize=N|HxW|none][,crop=N|HxW][,filter=bilinear|bicubic|nearest]
 *           [,order=rgb|bgr][,layout=nchw|nhwc][,scale=X][,mean=A[:B:C]][,std=A[:B:C]])
 *     raw(FILE[,TYPE[,SHAPE]])          as raw(x.bin,float16,1x3x224x224)
 *
 * A comma in a file's name is written "\,".
 */
#ifndef ODB_INPUTS_INPUT_FILE_H
#define ODB_INPUTS_INPUT_FILE_H

#include "model/model.h"

/* What the model says of the input, as far as it is known. */
struct odb_input_form {
    const struct odb_type *type; /* borrowed */
    int rank;                    /* -1: not known */
    const int64_t *dims;         /* borrowed; [rank]; -1: not known */
};

/* source: what was read, and what was done to it, in a few words. ODB_E_USAGE, ODB_E_IO,
 * ODB_E_INPUT, ODB_E_FORMAT, ODB_UNSUPPORTED. */
enum odb_status odb_input_read(struct odb_tensor **out, char *source, size_t size,
                               const struct odb_input_form *form, const char *text,
                               struct odb_error *err) ODB_MUST_USE;
/* Whether NAME=WHAT may name a file, which it never does where this is false, whatever the inputs
 * are called. */
bool odb_input_names_file(const char *text);
/* The text with whole paths in it, for a reader in another folder. The caller's; NULL: it names no
 * file that is there. */
char *odb_input_whole(const char *text);

#endif
