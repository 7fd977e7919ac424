/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ImageDecoder on images small enough to write down. JPEG, WebP and PNG come in ONNX's own cases.
 */
#include "tests/help/op_case.h"

#define IMAGE_OK(call) assert_int_equal(call, ODB_OK)

static enum odb_status image_decode(const void *bytes, size_t n, const char *attrs,
                                    struct odb_tensor **out, struct odb_error *err)
{
    struct op_call c = {.op = "ImageDecoder", .opset = 20, .attrs = attrs};
    struct odb_tensor *x;
    IMAGE_OK(odb_tensor_copy_of(&x, ODB_U8, 1, (int64_t[]){(int64_t)n}, bytes, NULL));
    enum odb_status status = op_run(&c, 1, &x, 1, out, err);
    odb_tensor_unref(x);
    return status;
}

static void image_expect(const void *bytes, size_t n, const char *attrs, const char *want)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out = NULL, *expected = op_tensor(want);
    enum odb_status status = image_decode(bytes, n, attrs, &out, &err);
    if (status == ODB_UNSUPPORTED && strstr(err.remedy, "libmagickwand")) {
        odb_tensor_unref(expected);
        print_message("skipped: ImageMagick's library is not installed\n");
        skip();
    }
    if (status != ODB_OK)
        fail_msg("%s: %s", want, err.what);
    op_assert_close(out, expected, 0, want);
    odb_tensor_unref(out);
    odb_tensor_unref(expected);
}
#define IMAGE(bytes, attrs, want) image_expect(bytes, sizeof bytes - 1, attrs, want)

/* Two pixels above two: red, green; blue, (10, 20, 30). */
#define IMAGE_PPM "P6\n2 2\n255\n\xff\0\0\0\xff\0\0\0\xff\x0a\x14\x1e"

static void test_image__pixel_formats(void **state)
{
    IMAGE(IMAGE_PPM, NULL, "uint8[2,2,3] 255 0 0 0 255 0 0 0 255 10 20 30");
    IMAGE(IMAGE_PPM, "pixel_format=BGR", "uint8[2,2,3] 0 0 255 0 255 0 255 0 0 30 20 10");
    IMAGE(IMAGE_PPM, "pixel_format=Grayscale", "uint8[2,2,1] 76 150 29 18");
}

static void test_image__file_formats(void **state)
{
    static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\x18\0"
                              "\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                              "\1\2\3\4\5\6\0\0";
    /* little-endian, 1 x 2, 8-bit RGB, one strip at 8 */
    static const char tiff[] = "II*\0\x0e\0\0\0\1\2\3\4\5\6\x09\0"
                               "\0\1\3\0\1\0\0\0\2\0\0\0"     /* ImageWidth 2 */
                               "\1\1\3\0\1\0\0\0\1\0\0\0"     /* ImageLength 1 */
                               "\2\1\3\0\3\0\0\0\x80\0\0\0"   /* BitsPerSample at 128 */
                               "\3\1\3\0\1\0\0\0\1\0\0\0"     /* Compression none */
                               "\6\1\3\0\1\0\0\0\2\0\0\0"     /* PhotometricInterpretation RGB */
                               "\x11\1\4\0\1\0\0\0\x08\0\0\0" /* StripOffsets 8 */
                               "\x15\1\3\0\1\0\0\0\3\0\0\0"   /* SamplesPerPixel 3 */
                               "\x16\1\3\0\1\0\0\0\1\0\0\0"   /* RowsPerStrip 1 */
                               "\x17\1\4\0\1\0\0\0\6\0\0\0"   /* StripByteCounts 6 */
                               "\0\0\0\0"
                               "\x08\0\x08\0\x08\0";
    IMAGE("P3\n1 1\n255\n1 2 3\n", NULL, "uint8[1,1,3] 1 2 3");
    IMAGE("P2\n2 1\n255\n7 9\n", NULL, "uint8[1,2,3] 7 7 7 9 9 9");
    IMAGE("P1\n# bits\n2 1\n0 1\n", NULL, "uint8[1,2,3] 255 255 255 0 0 0");
    IMAGE("P5\n2 1\n255\n\7\x09", "pixel_format=Grayscale", "uint8[1,2,1] 7 9");
    IMAGE(bmp, NULL, "uint8[1,2,3] 3 2 1 6 5 4");
    IMAGE(tiff, NULL, "uint8[1,2,3] 1 2 3 4 5 6");
}

/* An empty image, says ONNX; nothing else of what the library could read is read. */
static void test_image__no_image(void **state)
{
    IMAGE("", NULL, "uint8[0,0,3]");
    IMAGE("hello, this is no image", "pixel_format=Grayscale", "uint8[0,0,1]");
    IMAGE("\x89PNG\r\n\x1a\n, but nothing behind it", NULL, "uint8[0,0,3]");
    IMAGE("<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>", NULL, "uint8[0,0,3]");
    IMAGE("GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\0;", NULL, "uint8[0,0,3]");
}

static void test_image__refused(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out = NULL;
    static const char deep[] = "P6\n1 1\n65535\n\1\2\3\4\5\6";
    assert_int_equal(image_decode(IMAGE_PPM, sizeof IMAGE_PPM - 1, "pixel_format=HSV", &out, &err),
                     ODB_E_OPERATOR);
    /* as above, 1 x 1, four inks */
    static const char cmyk[] = "II*\0\x0c\0\0\0\1\2\3\4\x09\0"
                               "\0\1\3\0\1\0\0\0\1\0\0\0"
                               "\1\1\3\0\1\0\0\0\1\0\0\0"
                               "\2\1\3\0\4\0\0\0\x7e\0\0\0"
                               "\3\1\3\0\1\0\0\0\1\0\0\0"
                               "\6\1\3\0\1\0\0\0\5\0\0\0" /* separated */
                               "\x11\1\4\0\1\0\0\0\x08\0\0\0"
                               "\x15\1\3\0\1\0\0\0\4\0\0\0"
                               "\x16\1\3\0\1\0\0\0\1\0\0\0"
                               "\x17\1\4\0\1\0\0\0\4\0\0\0"
                               "\0\0\0\0"
                               "\x08\0\x08\0\x08\0\x08\0";
    assert_int_equal(image_decode(deep, sizeof deep - 1, NULL, &out, &err), ODB_UNSUPPORTED);
    assert_null(out);
    assert_int_equal(image_decode(cmyk, sizeof cmyk - 1, NULL, &out, &err), ODB_UNSUPPORTED);
    assert_true(strstr(err.what, "CMYK") || strstr(err.remedy, "libmagickwand"));
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image__pixel_formats),
        cmocka_unit_test(test_image__file_formats),
        cmocka_unit_test(test_image__no_image),
        cmocka_unit_test(test_image__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
