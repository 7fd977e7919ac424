/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/format/wav.h"

#include "tests/help/models.h"

#define U16(v) (unsigned char)(v), (unsigned char)((v) >> 8)
#define U32(v) U16(v), U16((v) >> 16)
#define TAG(t) (t)[0], (t)[1], (t)[2], (t)[3]
/* A file of so many bytes of samples, whose "data" chunk claims `says`. */
#define WAV(kind, channels, bits, says)                                                            \
    TAG("RIFF"), U32(0), TAG("WAVE"), TAG("odd "), U32(3), 1, 2, 3, 0, TAG("fmt "), U32(16),       \
        U16(kind), U16(channels), U32(16000), U32(0), U16(0), U16(bits), TAG("data"), U32(says)

static void wav_gives(const unsigned char *data, size_t size, int rank, int64_t last,
                      const float *wanted, size_t n)
{
    struct odb_tensor *t = NULL;
    uint32_t rate;
    MODELS_OK(odb_wav_parse(&t, &rate, data, size, &why));
    assert_int_equal(rate, 16000);
    assert_int_equal(t->rank, rank);
    assert_int_equal(t->dims[rank - 1], last);
    assert_int_equal(t->count, n);
    for (size_t i = 0; i < n; i++)
        assert_float_equal(((const float *)t->data)[i], wanted[i], 0);
    odb_tensor_unref(t);
}

static void test_wav__samples(void **state)
{
    static const unsigned char two[] = {WAV(1, 2, 16, 8), U16(0x4000), U16(0x8000), U16(0), U16(1)};
    static const unsigned char one[] = {WAV(1, 1, 8, 3), 128, 0, 192};
    static const unsigned char three[] = {WAV(1, 1, 24, 6), 0, 0, 0x40, 0, 0, 0x80};
    static const unsigned char floats[] = {WAV(3, 1, 32, 4), U32(0x3fc00000)};
    static const unsigned char doubles[] = {WAV(3, 1, 64, 8), U32(0), U32(0x3ff80000)};
    (void)state;
    wav_gives(two, sizeof two, 2, 2, (float[]){0.5f, 0, -1, 1 / 32768.0f}, 4);
    wav_gives(one, sizeof one, 1, 3, (float[]){0, -1, 0.5f}, 3);
    wav_gives(three, sizeof three, 1, 2, (float[]){0.5f, -1}, 2);
    wav_gives(floats, sizeof floats, 1, 1, (float[]){1.5f}, 1);
    wav_gives(doubles, sizeof doubles, 1, 1, (float[]){1.5f}, 1);
}

/* What a file claims and has not is not read; every beginning of one is refused or read. */
static void test_wav__cut(void **state)
{
    static const unsigned char claims[] = {WAV(1, 1, 16, 0xffffffff), U16(0x4000), 7};
    (void)state;
    wav_gives(claims, sizeof claims, 1, 1, (float[]){0.5f}, 1);
    for (size_t n = 0; n < sizeof claims; n++) {
        unsigned char *part = malloc(n + 1); /* so that a sanitizer sees a byte too far */
        unsigned char *exact = realloc(part, n ? n : 1);
        struct odb_tensor *t = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        uint32_t rate;
        memcpy(exact, claims, n);
        if (odb_wav_parse(&t, &rate, exact, n, &err) == ODB_OK)
            odb_tensor_unref(t);
        free(exact);
    }
}

static void wav_refused(const unsigned char *data, size_t size, enum odb_status wanted,
                        const char *what)
{
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    uint32_t rate;
    assert_int_equal(odb_wav_parse(&t, &rate, data, size, &err), wanted);
    assert_non_null(strstr(err.what, what));
}

static void test_wav__refused(void **state)
{
    static const unsigned char adpcm[] = {WAV(2, 1, 4, 2), 0, 0};
    static const unsigned char none[] = {WAV(1, 0, 16, 2), 0, 0};
    static const unsigned char wide[] = {WAV(1, 1, 12, 2), 0, 0};
    (void)state;
    wav_refused((const unsigned char *)"RIFX....WAVE", 12, ODB_E_FORMAT, "it is no .wav file");
    wav_refused(none, sizeof none, ODB_E_FORMAT, "it has 0 channels");
    wav_refused(none, 40, ODB_E_FORMAT, "it has no ");
    wav_refused(adpcm, sizeof adpcm, ODB_UNSUPPORTED, "its samples are of kind 2 with 4 bits");
    wav_refused(wide, sizeof wide, ODB_UNSUPPORTED, "with 12 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wav__samples),
        cmocka_unit_test(test_wav__cut),
        cmocka_unit_test(test_wav__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
