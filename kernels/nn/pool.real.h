/* SPDX-License-Identifier: MIT
 *
 * The bodies of the pools for floating-point types.
 */
#include "kernels/nn/pool.body.h"
#include "kernels/nn/pool_global.real.h"
