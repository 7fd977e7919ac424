/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of sound, as it feeds an input.
 */
#include "fuzz.h"

#include "tensor/format/wav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    uint32_t rate;
    if (odb_wav_parse(&t, &rate, data, size, &err) == ODB_OK)
        fuzz_look_take(t);
    return 0;
}
