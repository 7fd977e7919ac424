/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the terminal sends: all at once, and byte by byte.
 */
#include "fuzz.h"

#include "ui/terminal/decode.h"

static void keys_take(struct ui_decoder *decoder, bool complete)
{
    struct ui_event event;
    for (size_t i = 0; i < 4 * sizeof decoder->bytes; i++)
        if (ui_decoder_next(decoder, complete, 0, &event) != UI_DECODED_EVENT)
            return;
    abort(); /* more events than bytes */
}

static void keys_feed(const uint8_t *data, size_t size, size_t step, bool raw)
{
    struct ui_decoder decoder = {.raw = raw, .mouse = true, .rows = 24, .cols = 80, .asked = true};
    ui_decoder_learn(&decoder, "\033OP", 0x101);
    ui_decoder_learn(&decoder, "\033[15~", 0x102);
    while (size) {
        size_t n = ODB_MIN(step, ODB_MIN(size, sizeof decoder.bytes - decoder.n));
        if (!n)
            break;
        memcpy(decoder.bytes + decoder.n, data, n);
        decoder.n += n;
        data += n;
        size -= n;
        keys_take(&decoder, false);
    }
    keys_take(&decoder, true);
    ui_decoder_dispose(&decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    keys_feed(data, size, 1, false);
    keys_feed(data, size, 512, false);
    keys_feed(data, size, 7, true);
    return 0;
}
