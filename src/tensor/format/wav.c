/* SPDX-License-Identifier: MIT
 *
 * A file is "RIFF", a size, "WAVE", and chunks: four letters, a size, so many bytes, and one more
 * where they are odd. "fmt " says how the samples of "data" are stored.
 */
#include "tensor/format/wav.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/file.h"

#define WAV_MOST (1 << 30) /* bytes of a file */
#define WAV_HEAD 12
#define WAV_CHANNELS 256

enum wav_kind { WAV_PCM = 1, WAV_FLOAT = 3, WAV_EXTENSIBLE = 0xfffe };

struct wav {
    const unsigned char *format, *samples; /* borrowed; NULL: no such chunk */
    size_t format_size, samples_size;
};

static uint32_t wav_number(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint32_t)p[i] << 8 * i;
    return v;
}

/* Of a file that was cut off while it was written, samples are what there is. */
static void wav_chunks(struct wav *wav, const unsigned char *data, size_t size)
{
    for (size_t at = WAV_HEAD; size >= 8 && at <= size - 8;) {
        const unsigned char *chunk = data + at;
        size_t left = size - at - 8, n = ODB_MIN((size_t)wav_number(chunk + 4, 4), left);
        if (!memcmp(chunk, "fmt ", 4)) {
            wav->format = chunk + 8;
            wav->format_size = n;
        } else if (!memcmp(chunk, "data", 4) && !wav->samples) {
            wav->samples = chunk + 8;
            wav->samples_size = n;
        }
        at += 8 + n + n % 2;
    }
}

static float wav_sample(const unsigned char *p, uint32_t kind, size_t bytes)
{
    union {
        uint32_t bits;
        float f;
    } one = {wav_number(p, ODB_MIN(bytes, (size_t)4))};
    union {
        uint64_t bits;
        double f;
    } two = {bytes == 8 ? one.bits | (uint64_t)wav_number(p + 4, 4) << 32 : 0};
    if (kind == WAV_FLOAT)
        return bytes == 4 ? one.f : (float)two.f;
    if (bytes == 1) /* the only one without a sign */
        return ((float)one.bits - 128) / 128;
    int32_t whole = (int32_t)(one.bits << 8 * (4 - bytes));
    return (float)((double)whole / 2147483648.0);
}

enum odb_status odb_wav_parse(struct odb_tensor **out, uint32_t *rate, const void *data,
                              size_t size, struct odb_error *err)
{
    struct wav wav = {0};
    const unsigned char *bytes = data;
    if (size < WAV_HEAD || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0)
        return odb_fail(err, ODB_E_FORMAT, "it is no .wav file: it does not begin with RIFF, WAVE");
    wav_chunks(&wav, bytes, size);
    if (wav.format_size < 16 || !wav.samples)
        return odb_fail(err, ODB_E_FORMAT, "it has no %s", wav.samples ? "format" : "samples");
    uint32_t kind = wav_number(wav.format, 2), bits = wav_number(wav.format + 14, 2);
    size_t channels = wav_number(wav.format + 2, 2), each = bits / 8;
    *rate = wav_number(wav.format + 4, 4);
    if (kind == WAV_EXTENSIBLE && wav.format_size >= 26)
        kind = wav_number(wav.format + 24, 2);
    bool known = (kind == WAV_PCM && bits % 8 == 0 && bits >= 8 && bits <= 32) ||
                 (kind == WAV_FLOAT && (bits == 32 || bits == 64));
    if (!known)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "its samples are of kind %u with %u bits; PCM of 8 "
                        "to 32 bits and floats are read",
                        kind, bits);
    if (!channels || channels > WAV_CHANNELS)
        return odb_fail(err, ODB_E_FORMAT, "it has %zu channels", channels);
    size_t frames = wav.samples_size / (channels * each);
    int64_t dims[] = {(int64_t)channels, (int64_t)frames};
    ODB_TRY(
        odb_tensor_new(out, ODB_F32, channels > 1 ? 2 : 1, channels > 1 ? dims : dims + 1, err));
    float *to = (*out)->data;
    for (size_t c = 0; c < channels; c++)
        for (size_t f = 0; f < frames; f++)
            to[c * frames + f] = wav_sample(wav.samples + (f * channels + c) * each, kind, each);
    return ODB_OK;
}

enum odb_status odb_wav_read(struct odb_tensor **out, uint32_t *rate, const char *path,
                             struct odb_error *err)
{
    struct stat info;
    FILE *file;
    ODB_TRY(odb_file_open(&file, path, err));
    enum odb_status status = ODB_OK;
    void *data = NULL;
    if (fstat(fileno(file), &info) != 0)
        status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    else if (info.st_size > WAV_MOST)
        status = odb_fail(err, ODB_UNSUPPORTED, "it has more than 1 GiB");
    if (status == ODB_OK) {
        data = malloc((size_t)info.st_size + 1);
        size_t n = data ? fread(data, 1, (size_t)info.st_size, file) : 0;
        status = !data          ? odb_fail(err, ODB_E_NOMEM, "no memory to read it")
                 : ferror(file) ? odb_fail(err, ODB_E_IO, "%s", strerror(errno))
                                : odb_wav_parse(out, rate, data, n, err);
    }
    free(data);
    fclose(file);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", path);
}
