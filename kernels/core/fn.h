/* SPDX-License-Identifier: MIT
 *
 * The name of a function in one of its versions: FN(sum) is sum_f32 where SUFFIX is f32.
 */
#ifndef ODB_KERNELS_CORE_FN_H
#define ODB_KERNELS_CORE_FN_H

#define ODB_PASTE_(a, b) a##_##b
#define ODB_PASTE(a, b) ODB_PASTE_(a, b)
#define FN(name) ODB_PASTE(name, SUFFIX)

#endif
