/* SPDX-License-Identifier: MIT
 *
 * ImageDecoder, for which tensor/format/image.c decodes.
 */
#include "tensor/format/image.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/core/kern.h"
#include "kernels/core/row.h"

static enum odb_status image_run(struct odb_kern *k)
{
    static const char *const formats[] = {
        [ODB_PIXELS_RGB] = "RGB", [ODB_PIXELS_BGR] = "BGR", [ODB_PIXELS_GRAY] = "Grayscale"};
    const struct odb_tensor *x = k->in[0];
    const char *format = odb_kern_string(k, "pixel_format", "RGB");
    struct odb_tensor *image;
    size_t pixels = 0;
    while (pixels < ODB_COUNT(formats) && strcmp(format, formats[pixels]) != 0)
        pixels++;
    if (pixels == ODB_COUNT(formats))
        return ODB_KERN_FAIL(k, "there is no pixel_format '%s'", format);
    ODB_TRY(odb_image_decode(&image, x->data, x->count, (enum odb_pixels)pixels, false, k->err));
    if (!image) /* what cannot be decoded is empty */
        return odb_kern_output(k, 0, ODB_U8, 3,
                               (int64_t[]){0, 0, pixels == ODB_PIXELS_GRAY ? 1 : 3});
    enum odb_status status = odb_kern_output(k, 0, ODB_U8, 3, image->dims);
    if (status == ODB_OK)
        memcpy(k->out[0]->data, image->data, image->bytes);
    odb_tensor_unref(image);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec image_attrs[] = {
    {.name = "pixel_format", .type = ODB_ATTR_STRING, .def = "RGB"}, {.name = NULL}};

const struct odb_op odb_ops_image[] = {
    ODB_ONNX("ImageDecoder", 20, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT, image_attrs, NULL,
             image_run, ODB_BIT(ODB_U8), ODB_NAMES("encoded_stream", "image"), ODB_WORK(depends)),
    {.name = NULL},
};
