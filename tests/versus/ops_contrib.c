/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "versus.h"
const struct row vs_contrib_rows[] = {{NULL}};
