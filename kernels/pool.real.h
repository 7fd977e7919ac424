/* SPDX-License-Identifier: MIT
 *
 * The bodies of the pools for floating-point types.
 */
#include "kernels/pool.body.h"
#include "kernels/pool_global.real.h"
