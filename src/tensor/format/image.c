/* SPDX-License-Identifier: MIT
 *
 * ImageMagick's library reads the files: it is one door to seven formats, and behind it stand the
 * decoders that other programs use, so that pixels come out as they do elsewhere (fancy upsampling
 * in JPEG, as ONNX asks for). It is loaded by the first image and never linked; the few functions
 * that are needed are declared here. Formats are distinguished here too: ImageMagick knows many
 * more, some of which are programs.
 */
#include "tensor/format/image.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"

/* --- the library ------------------------------------------------------------------------------ */

typedef struct image_wand image_wand; /* its MagickWand */

enum { IMAGE_CHAR_PIXEL = 1, IMAGE_SHORT_PIXEL = 7 }; /* of its StorageType */
enum { IMAGE_CMYK = 12 };                             /* of its ColorspaceType */
enum { IMAGE_AREA = 1, IMAGE_DISK = 2, IMAGE_MAP = 4, IMAGE_MEMORY = 5 }; /* of its ResourceType */

/* A picture may have so many pixels: a file of a kilobyte can claim any number, and mean it. */
#define IMAGE_PIXELS ((size_t)1 << 27)
#define IMAGE_BYTES ((uint64_t)2 << 30) /* that the library may take for one */

struct image_library {
    void (*genesis)(void);
    unsigned (*limit)(int resource, uint64_t limit);
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
    {"MagickSetResourceLimit", offsetof(struct image_library, limit)},
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
    image_magick.limit(IMAGE_AREA, IMAGE_PIXELS);
    image_magick.limit(IMAGE_MEMORY, IMAGE_BYTES);
    image_magick.limit(IMAGE_MAP, 0); /* nor any files instead of memory */
    image_magick.limit(IMAGE_DISK, 0);
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

static bool image_known(const char *data, size_t size)
{
    for (size_t i = 0; i < ODB_COUNT(image_formats); i++) {
        const struct image_format *f = &image_formats[i];
        if (size >= 12 && memcmp(data, f->at_start, f->n) == 0 &&
            (!f->at_8 || memcmp(data + 8, f->at_8, 4) == 0))
            return true;
    }
    return false;
}

/* ITU-R 601 luma in 16-bit fixed point, as Pillow has it, from which ONNX takes what is right. */
static uint32_t image_luma(uint32_t red, uint32_t green, uint32_t blue)
{
    return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
}

/* From an image in RGB. */
static void image_to_gray(struct odb_tensor *gray, const struct odb_tensor *colour)
{
    for (size_t i = 0; i < gray->count; i++)
        if (gray->dtype == ODB_U8) {
            const odb_u8 *p = (const odb_u8 *)colour->data + 3 * i;
            ((odb_u8 *)gray->data)[i] = (odb_u8)image_luma(p[0], p[1], p[2]);
        } else {
            const odb_u16 *p = (const odb_u16 *)colour->data + 3 * i;
            ((odb_u16 *)gray->data)[i] = (odb_u16)image_luma(p[0], p[1], p[2]);
        }
}

/* What the wand has read, as the output; gray takes a colour image on its way. */
static enum odb_status image_export(struct odb_tensor **out, image_wand *wand,
                                    enum odb_pixels pixels, bool deep, struct odb_error *err)
{
    static const char *const maps[] = {
        [ODB_PIXELS_RGB] = "RGB", [ODB_PIXELS_BGR] = "BGR", [ODB_PIXELS_GRAY] = "RGB"};
    const struct image_library *m = &image_magick;
    size_t width = m->width(wand), height = m->height(wand), most = deep ? 16 : 8;
    const int64_t dims[] = {(int64_t)height, (int64_t)width, 3};
    bool gray = pixels == ODB_PIXELS_GRAY, wide = m->depth(wand) > 8;
    enum odb_dtype dtype = wide ? ODB_U16 : ODB_U8;
    struct odb_tensor *colour, *plain;
    if (!width || height > IMAGE_PIXELS / width) {
        odb_fail(err, ODB_UNSUPPORTED, "an image of %zu x %zu pixels; at most %zu are read", width,
                 height, IMAGE_PIXELS);
        return odb_error_remedy(err, "scale it to the size of the input, or give a .npy");
    }
    if (m->depth(wand) > most) {
        odb_fail(err, ODB_UNSUPPORTED, "an image of %zu bits per channel, and %zu are read",
                 m->depth(wand), most);
        return odb_error_remedy(err, "give what the model is fed as a .npy file");
    }
    if (m->colorspace(wand) == IMAGE_CMYK) {
        odb_fail(err, ODB_UNSUPPORTED, "an image in CMYK, of which no RGB is the only right one");
        return odb_error_remedy(err, "convert it to RGB as the model was trained, or give a .npy");
    }
    ODB_TRY(odb_tensor_new_raw(&colour, dtype, 3, dims, err));
    enum odb_status status = ODB_OK;
    if (!m->pixels(wand, 0, 0, width, height, maps[pixels],
                   wide ? IMAGE_SHORT_PIXEL : IMAGE_CHAR_PIXEL, colour->data))
        status = odb_fail(err, ODB_E_NOMEM, "no memory for an image of %zu x %zu", width, height);
    if (status == ODB_OK && gray)
        status = odb_tensor_new_raw(&plain, dtype, 3, (int64_t[]){dims[0], dims[1], 1}, err);
    if (status == ODB_OK && gray)
        image_to_gray(plain, colour);
    if (status == ODB_OK)
        *out = odb_tensor_ref(gray ? plain : colour);
    if (status == ODB_OK && gray)
        odb_tensor_unref(plain);
    odb_tensor_unref(colour);
    return status;
}

enum odb_status odb_image_decode(struct odb_tensor **out, const void *data, size_t size,
                                 enum odb_pixels pixels, bool deep, struct odb_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *out = NULL;
    if (!image_known(data, size))
        return ODB_OK;
    pthread_once(&once, image_load);
    if (!image_magick.loaded) {
        odb_fail(err, ODB_UNSUPPORTED, "images cannot be read without ImageMagick's library");
        return odb_error_remedy(err, "install libmagickwand-6.q16-6");
    }
    image_wand *wand = image_magick.new_wand();
    enum odb_status status = ODB_OK;
    if (image_magick.read_blob(wand, data, size)) {
        image_magick.first(wand);
        status = image_export(out, wand, pixels, deep, err);
    }
    image_magick.destroy(wand);
    return status;
}
