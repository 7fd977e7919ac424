/* SPDX-License-Identifier: MIT
 *
 * Kernels from shared libraries (include/onnxdbg/kernel.h).
 */
#ifndef ODB_KERNELS_CORE_KERNEL_PLUGIN_H
#define ODB_KERNELS_CORE_KERNEL_PLUGIN_H

#include "base/error.h"

/* The environment variable through which a child learns of libraries: paths between colons. */
#define ODB_KERNELS_ENV "ONNXDBG_KERNELS"

/* Loads a library and adds its kernels, before all that are there already; a library that is there
 * is not loaded again. It stays until the process ends. ODB_E_INPUT: it cannot be loaded, or is no
 * library of kernels for this version; nothing is added then. Thread-safe. */
enum odb_status odb_plugin_load(const char *path, struct odb_error *err) ODB_MUST_USE;

/* All libraries that ODB_KERNELS_ENV names. */
enum odb_status odb_plugin_load_env(struct odb_error *err) ODB_MUST_USE;

#endif
