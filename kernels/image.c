/* SPDX-License-Identifier: MIT
 *
 * ImageDecoder. ImageMagick's library reads the files: it is one door to seven formats, and behind
 * it stand the decoders that everybody uses, so that pixels come out as they do elsewhere (fancy
 * upsampling in JPEG, as ONNX asks for). It is loaded by the first image and never linked; the few
 * functions that are needed are declared here. Formats are told apart here too: ImageMagick knows
 * many more, some of which are programs.
 *
 * Grayscale is ITU-R 601 luma in 16-bit fixed point, as Pillow has it, from which ONNX takes what
 * is right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"
#include "kernels/kern.h"
#include "kernels/row.h"

/* --- the library ------------------------------------------------------------------------------ */

typedef struct image_wand image_wand; /* its MagickWand */

enum { IMAGE_CHAR_PIXEL = 1, IMAGE_CMYK = 12 }; /* of its StorageType and ColorspaceType */

struct image_library {
    void (*genesis)(void);
    image_wand *(*new_wand)(void);
    image_wand *(*destroy)(image_wand *wand);
    unsigned (*read_blob)(image_wand *wand, const void *blob, size_t size);
    void (*first)(image_wand *wand);
    size_t (*width)(image_wand *wand);
    size_t (*height)(image_wand *wand);
    size_t (*depth)(image_wand *wand);
    int (*colorspace)(image_wand *wand);
    unsigned (*pixels)(image_wand *wand, ssize_t x, ssize_t y, size_t width, size_t height,
                       const char *map, int storage, void *out);
    bool loaded;
};

static const struct image_symbol {
    const char *name;
    size_t offset;
} image_symbols[] = {
    {"MagickWandGenesis", offsetof(struct image_library, genesis)},
    {"NewMagickWand", offsetof(struct image_library, new_wand)},
    {"DestroyMagickWand", offsetof(struct image_library, destroy)},
    {"MagickReadImageBlob", offsetof(struct image_library, read_blob)},
    {"MagickSetFirstIterator", offsetof(struct image_library, first)},
    {"MagickGetImageWidth", offsetof(struct image_library, width)},
    {"MagickGetImageHeight", offsetof(struct image_library, height)},
    {"MagickGetImageDepth", offsetof(struct image_library, depth)},
    {"MagickGetImageColorspace", offsetof(struct image_library, colorspace)},
    {"MagickExportImagePixels", offsetof(struct image_library, pixels)},
};

static struct image_library image_magick; /* set once, by image_load() */

/* Never closed again: it keeps threads and tables of its own. */
static void image_load(void)
{
    void *handle = dlopen("libMagickWand-6.Q16.so.6", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < ODB_COUNT(image_symbols); i++) {
        void *symbol = handle ? dlsym(handle, image_symbols[i].name) : NULL;
        if (!symbol)
            return;
        memcpy((char *)&image_magick + image_symbols[i].offset, &symbol, sizeof symbol);
    }
    image_magick.genesis();
    image_magick.loaded = true;
}

/* --- decoding --------------------------------------------------------------------------------- */

static const struct image_format {
    const char *at_start;
    size_t n;
    const char *at_8; /* NULL: whatever */
} image_formats[] = {
    {"BM", 2, NULL},
    {"\xff\xd8\xff", 3, NULL}, /* JPEG */
    {"\x89PNG\r\n\x1a\n", 8, NULL},
    {"RIFF", 4, "WEBP"},
    {"II*\0", 4, NULL}, /* TIFF */
    {"MM\0*", 4, NULL},
    {"\0\0\0\x0cjP  \r\n\x87\n", 12, NULL}, /* JPEG 2000 */
    {"\xff\x4f\xff\x51", 4, NULL},          /* its bare stream */
    {"P1", 2, NULL},                        /* portable maps */
    {"P2", 2, NULL},
    {"P3", 2, NULL},
    {"P4", 2, NULL},
    {"P5", 2, NULL},
    {"P6", 2, NULL},
    {"P7", 2, NULL},
};

static bool image_known(const struct odb_tensor *x)
{
    const char *data = x->data;
    for (size_t i = 0; i < ODB_COUNT(image_formats); i++) {
        const struct image_format *f = &image_formats[i];
        if (x->count >= 12 && memcmp(data, f->at_start, f->n) == 0 &&
            (!f->at_8 || memcmp(data + 8, f->at_8, 4) == 0))
            return true;
    }
    return false;
}

/* RGB to luma, in place, packed at the front. */
static void image_to_gray(odb_u8 *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const odb_u8 *p = pixels + 3 * i;
        pixels[i] = (odb_u8)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16);
    }
}

static enum odb_status image_output(struct odb_kern *k, size_t height, size_t width,
                                    size_t channels)
{
    return odb_kern_output(k, 0, ODB_U8, 3,
                           (int64_t[]){(int64_t)height, (int64_t)width, (int64_t)channels});
}

/* What the wand has read, as the output. */
static enum odb_status image_export(struct odb_kern *k, image_wand *wand, const char *map)
{
    const struct image_library *m = &image_magick;
    size_t width = m->width(wand), height = m->height(wand);
    struct odb_tensor *rgb = NULL;
    enum odb_status status;
    if (m->depth(wand) > 8)
        return ODB_KERN_UNSUPPORTED(k, "an image of %zu bits per channel; the output has 8",
                                    m->depth(wand));
    if (m->colorspace(wand) == IMAGE_CMYK)
        return ODB_KERN_UNSUPPORTED(k, "an image in CMYK");
    ODB_TRY_OUT(image_output(k, height, width, map ? 3 : 1));
    if (!map)
        ODB_TRY_OUT(odb_tensor_new_raw(&rgb, ODB_U8, 3,
                                       (int64_t[]){(int64_t)height, (int64_t)width, 3}, k->err));
    odb_u8 *pixels = rgb ? rgb->data : k->out[0]->data;
    if (!m->pixels(wand, 0, 0, width, height, map ? map : "RGB", IMAGE_CHAR_PIXEL, pixels)) {
        status =
            odb_fail(k->err, ODB_E_NOMEM, "no memory for an image of %zu x %zu", width, height);
        goto out;
    }
    if (rgb) {
        image_to_gray(pixels, width * height);
        memcpy(k->out[0]->data, pixels, width * height);
    }
out:
    odb_tensor_unref(rgb);
    return status;
}

static enum odb_status image_run(struct odb_kern *k)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct odb_tensor *x = k->in[0];
    const char *format = odb_kern_string(k, "pixel_format", "RGB");
    bool gray = strcmp(format, "Grayscale") == 0;
    if (!gray && strcmp(format, "RGB") != 0 && strcmp(format, "BGR") != 0)
        return ODB_KERN_FAIL(k, "there is no pixel_format '%s'", format);
    if (!image_known(x))
        return image_output(k, 0, 0, gray ? 1 : 3); /* what cannot be decoded is empty */
    pthread_once(&once, image_load);
    if (!image_magick.loaded) {
        (void)ODB_KERN_UNSUPPORTED(k, "images cannot be read without ImageMagick's library");
        return odb_error_remedy(k->err, "install libmagickwand-6.q16-6");
    }
    image_wand *wand = image_magick.new_wand();
    enum odb_status status;
    if (image_magick.read_blob(wand, x->data, x->count)) {
        image_magick.first(wand);
        status = image_export(k, wand, gray ? NULL : format);
    } else {
        status = image_output(k, 0, 0, gray ? 1 : 3);
    }
    image_magick.destroy(wand);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec image_attrs[] = {
    {.name = "pixel_format", .type = ODB_ATTR_STRING, .def = "RGB"}, {.name = NULL}};

const struct odb_op odb_ops_image[] = {
    ODB_ONNX("ImageDecoder", 20, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT, image_attrs, NULL,
             image_run, ODB_BIT(ODB_U8)),
    {.name = NULL},
};
