/* SPDX-License-Identifier: MIT
 *
 * libmd's SHA-256, whole blocks by the processor's own instructions where it has them: a model's
 * file may be gigabytes, and is hashed before anything else can be said of it.
 */
#ifndef ODB_BASE_SHA256_H
#define ODB_BASE_SHA256_H

#include <sha256.h>
#include <stddef.h>

/* As SHA256Update(), for a context of SHA256Init() and SHA256Final(). */
void odb_sha256_update(SHA256_CTX *sha, const void *data, size_t size);

#endif
