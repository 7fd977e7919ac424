/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What harnesses share. A harness is one file with LLVMFuzzerTestOneInput(), which hands the bytes
 * to one parser as a stranger's and returns 0; README.md tells how they are run.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "tensor/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory with these bytes, for parsers that take a path; path has room for FUZZ_PATH. To
 * be closed with close(). */
#define FUZZ_PATH 64
int fuzz_file(const uint8_t *data, size_t size, char *path);

/* The bytes as a text. Owned by the caller. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Looks at all of a tensor, as a command does that shows it, and lets it go; NULL is fine. */
void fuzz_look_take(struct odb_tensor *t);

/* Fails where a text for people would reach the terminal as anything but printable text. */
void fuzz_check_shown(const struct odb_buf *text);

/* The model that harnesses with a session work on: a chain of three nodes. Owned by the caller. */
struct odb_model *fuzz_model(void);
/* The same as a file. */
void fuzz_model_bytes(struct odb_buf *bytes);

/* Runs a model by the reference, in its own types, in double and with noise, on small inputs that
 * are always the same, until a value is large. */
void fuzz_run_model(const struct odb_model *model);

/* Two vectors of four floats, as a target and the reference give them: they differ, and both have a
 * NaN at the same place. Borrowed. */
void fuzz_pair(const struct odb_tensor *pair[2]);

/* A folder of this process's own, in memory where that can be, which goes with it if there is
 * nothing in it but what fuzz_tidy() knows. Static. */
const char *fuzz_folder(void);
void fuzz_write(const char *path, const uint8_t *data, size_t size);

#endif
