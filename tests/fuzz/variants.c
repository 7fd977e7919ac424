/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of variants.
 */
#include "fuzz.h"

#include <unistd.h>

#include "explain/own/own_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_own_rows *rows;
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    if (odb_own_rows_read(&rows, path, &err) == ODB_OK)
        odb_own_rows_free(rows);
    close(fd);
    return 0;
}
