/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an executor is made of, beyond what its spec says: a target that was built anew is another
 * one, and what the old one answered is no evidence against it.
 */
#ifndef ODB_SESSION_IDENTITY_H
#define ODB_SESSION_IDENTITY_H

#include "base/buf.h"

/* Appends a line "file:PATH DIGEST" for every file of this machine that a spec names, as far as
 * that can be seen: libraries, Python files, programs, and the libraries and Python files beside
 * these that they name, and so on. The path has no blanks. NULL: nothing. */
void odb_identity_put_spec(const char *spec, struct odb_buf *out);
/* Such a line of one file; nothing where it is none. */
void odb_identity_put_file(const char *path, struct odb_buf *out);
/* The same for what all executors run in or may be asked: the child, and ONNX Runtime. */
void odb_identity_put_common(struct odb_buf *out);

#endif
