/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array of NumPy's, copied.
 */
#include "fuzz.h"

#include "tensor/format/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    if (odb_npy_parse(&t, data, size, NULL, &err) == ODB_OK)
        fuzz_look_take(t);
    return 0;
}
