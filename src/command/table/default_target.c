/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target where none is named.
 */
#include "command/table/default_target.h"

#include <sys/stat.h>
#include <wchar.h>

#include "executor/executor.h"

const char *odb_default_target(void)
{
    const struct odb_executor_ops *usual = odb_executor_usual();
    return usual ? usual->kind : "cpu:f16";
}
