/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A .pb file: of each kind that it could be, and its name.
 */
#include "fuzz.h"

#include <unistd.h>

#include "model/model.h"
#include "model/read/pb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    free(odb_pb_name(path));
    close(fd);
    for (int kind = ODB_TENSOR; kind <= ODB_MAP; kind++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *t = NULL;
        if (odb_pb_decode(&t, (enum odb_kind)kind, data, size, &err) == ODB_OK)
            fuzz_look_take(t);
    }
    return 0;
}
