/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A picture. Its decoders are ImageMagick's and are not instrumented; what is tried here is that
 * what they give is taken rightly, and that no more memory is asked for than the file can fill.
 */
#include "fuzz.h"

#include "tensor/format/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int pixels = ODB_PIXELS_RGB; pixels <= ODB_PIXELS_GRAY; pixels++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *t = NULL;
        if (odb_image_decode(&t, data, size, (enum odb_pixels)pixels, true, &err) == ODB_OK)
            odb_tensor_unref(t);
    }
    return 0;
}
