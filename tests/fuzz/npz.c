/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An archive of arrays, all of which are read.
 */
#include "fuzz.h"

#include <unistd.h>

#include "tensor/format/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_npz *npz;
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    if (odb_npz_open(&npz, path, &err) == ODB_OK) {
        for (size_t i = 0; i < odb_npz_count(npz) && i < 64; i++) {
            struct odb_tensor *t = NULL;
            if (odb_npz_read(&t, npz, odb_npz_name(npz, i), &err) == ODB_OK)
                fuzz_look_take(t);
        }
        odb_npz_close(npz);
    }
    close(fd);
    return 0;
}
