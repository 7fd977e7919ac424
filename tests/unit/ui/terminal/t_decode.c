/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void decode_put(struct ui_decoder *decoder, const char *bytes, size_t n)
{
    assert_true(decoder->n + n <= sizeof decoder->bytes);
    memcpy(decoder->bytes + decoder->n, bytes, n);
    decoder->n += n;
}

static struct ui_decoder decode_with(const char *bytes)
{
    struct ui_decoder decoder = {.mouse = true, .rows = 24, .cols = 300};
    decode_put(&decoder, bytes, strlen(bytes));
    return decoder;
}

/* All events of the bytes, as words. */
static void decode_words(struct ui_decoder *decoder, bool complete, char *words, size_t size)
{
    struct ui_event event;
    words[0] = 0;
    while (ui_decoder_next(decoder, complete, 1000, &event) == UI_DECODED_EVENT) {
        size_t at = strlen(words);
        char name[32];
        const char *space = at ? " " : "";
        switch ((int)event.what) {
        case UI_EVENT_KEY:
            snprintf(words + at, size - at, "%s%s", space,
                     ui_key_name(event.key, name, sizeof name));
            break;
        case UI_EVENT_BYTE:
            snprintf(words + at, size - at, "%s%02x", space, (unsigned)event.key);
            break;
        case UI_EVENT_CLICK:
            snprintf(words + at, size - at, "%sclick%s@%d,%d", space, event.twice ? "2" : "",
                     event.row, event.col);
            break;
        case UI_EVENT_WHEEL:
            snprintf(words + at, size - at, "%swheel%+d@%d,%d", space, event.delta, event.row,
                     event.col);
            break;
        case UI_EVENT_DRAG:
            snprintf(words + at, size - at, "%sdrag@%d,%d", space, event.row, event.col);
            break;
        case UI_EVENT_RELEASE:
            snprintf(words + at, size - at, "%sup", space);
            break;
        case UI_EVENT_BACKGROUND:
            snprintf(words + at, size - at, "%slight%d", space, event.delta);
            break;
        default:
            fail_msg("event %d", (int)event.what);
        }
    }
}

static void decode_expect(const char *bytes, const char *expected)
{
    char words[512];
    struct ui_decoder decoder = decode_with(bytes);
    ui_decoder_learn(&decoder, "\033A", UI_KEY_UP); /* as a VT52 sends it */
    ui_decoder_learn(&decoder, "\033[24~", UI_KEY_F10);
    ui_decoder_learn(&decoder, "\b", UI_KEY_LEFT);
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, expected);
    assert_int_equal(decoder.n, 0);
    ui_decoder_dispose(&decoder);
}

static void test_decode__keys(void **state)
{
    static const struct {
        const char *bytes, *keys;
    } cases[] = {
        {"jG :", "j G Space :"},
        {"\r\n\t\x7f", "Enter Enter Tab Backspace"},
        {"\x01\x03\x1a\x1c\b", "C-a C-c C-z C-\\ C-h"},
        {"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x90\x9b", "\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x90\x9b"},
        {"\033", "Esc"},
        {"\033\033", "Esc Esc"},
        {"\033x\033:", "M-x M-:"},
        {"\033\xc3\xa9", "M-\xc3\xa9"},
        {"\033\r\033\x7f", "M-Enter M-Backspace"},
        {"\033[A\033[B\033[C\033[D", "Up Down Right Left"},
        {"\033OA\033OB\033OH\033OF\033OP\033OM", "Up Down Home End F1 Enter"},
        {"\033[1~\033[2~\033[3~\033[4~\033[5~\033[6~\033[7~\033[8~",
         "Home Insert Delete End PgUp PgDn Home End"},
        {"\033[[A\033[[E\033[11~\033[15~\033[17~\033[23~", "F1 F5 F1 F5 F6 F11"},
        {"\033[Z\033[H\033[F", "S-Tab Home End"},
        {"\033[1;3A\033[5;3~", "M-Up M-PgUp"},
        {"\033\033[A", "Esc Up"},
        {"\033A\033[24~", "Up F10"}, /* terminfo first */
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        decode_expect(cases[i].bytes, cases[i].keys);
}

static void test_decode__what_has_no_meaning(void **state)
{
    static const char *const cases[] = {
        "\033[1;5C",
        "\033[1;2A",
        "\033[5;5~",
        "\033[I",
        "\033[O",
        "\033[?62;22c",
        "\033[>0;136;0c",
        "\033[27;5;9~",
        "\033[99~",
        "\033[200000000~",
        "\033[1;2;3;4;5;6A",
        "\033[ q",
        "\033Oz",
        "\033[<35;5;5M",
        "\xff",
        "\xc3",
        "\xed\xa0\x80",
        "\xc2\x85",
        "\033[38;5;1m",
    };
    char bytes[64];
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        snprintf(bytes, sizeof bytes, "a%sz", cases[i]);
        decode_expect(bytes, "a z");
    }
    decode_expect("\033[", "M-[");
    decode_expect("\033O", "M-O");
    decode_expect("\033[1;5", "");
}

static void test_decode__partial(void **state)
{
    static const char *const cases[] = {"\033",     "\033[",    "\033O",  "\033[1;3", "\033[<0;12",
                                        "\033[M  ", "\xe4\xb8", "\033[[", "\033\xc3"};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct ui_decoder decoder = decode_with(cases[i]);
        struct ui_event event;
        assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_PARTIAL);
        assert_int_equal(decoder.n, strlen(cases[i]));
    }
    char words[64];
    struct ui_decoder decoder = decode_with("\033[1;");
    struct ui_event event;
    assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_PARTIAL);
    decode_put(&decoder, "3Bq", 3);
    decode_words(&decoder, false, words, sizeof words);
    assert_string_equal(words, "M-Down q");
}

static void test_decode__backspace_as_the_terminal_has_it(void **state)
{
    char words[64];
    struct ui_decoder decoder = decode_with("\b\x7f");
    decoder.backspace = true;
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, "Backspace Backspace");
}

static void test_decode__mouse(void **state)
{
    decode_expect("\033[<0;1;1M\033[<0;1;1m", "click@0,0 up");
    decode_expect("\033[<0;1;1M\033[<32;3;2M\033[<32;999;2M\033[<0;3;2m", "click@0,0 drag@1,2 up");
    decode_expect("\033[<33;3;2M\033[<35;3;2M\033[<96;3;2M", "");
    decode_expect("\033[<0;280;24M", "click@23,279");
    decode_expect("\033[<16;5;6M", "click@5,4"); /* with Ctrl */
    decode_expect("\033[<64;5;6M\033[<65;5;6M\033[<66;5;6M", "wheel-1@5,4 wheel+1@5,4");
    decode_expect("\033[<0;301;1M\033[<0;1;25M\033[<0;0;0M", "");
    decode_expect("\033[<2;1;1M\033[<1;1;1M", "");
    decode_expect("\033[M !!\033[M#!!\033[M`*(", "click@0,0 wheel-1@7,9");
    struct ui_decoder decoder = decode_with("\033[<0;1;1Mx");
    char words[64];
    decoder.mouse = false;
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, "x");
}

static void decode_answers(const char *bytes, bool raw, const char *expected, bool asked)
{
    char words[256];
    struct ui_decoder decoder = decode_with(bytes);
    decoder.asked = true;
    decoder.raw = raw;
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, expected);
    assert_int_equal(decoder.asked, asked);
    assert_int_equal(decoder.n, 0);
    ui_decoder_dispose(&decoder);
}

/* The answer may come in pieces, among keys, to a prompt, or never. */
static void test_decode__background(void **state)
{
    decode_answers("\033]11;rgb:0000/0000/0000\033\\", false, "light0", false);
    decode_answers("\033]11;rgb:ffff/ffff/ffff\a", false, "light255", false);
    decode_answers("\033]11;rgb:1e/1e/2e\ax", false, "light31 x", false);
    decode_answers("\033]11;rgba:1e1e/1e1e/1e1e/ffff\033\\x", false, "light30 x", false);
    decode_answers("a\033]11;rgb:ffff/ffff/ffff\ab", true, "61 light255 62", false);
    decode_answers("j\033[A", false, "j Up", true);
    decode_answers("\033]11;rgb:nonsense\ax", false, "x", false);
    struct ui_decoder decoder = decode_with("\033]11;rgb:ff");
    struct ui_event event;
    decoder.asked = true;
    assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_PARTIAL);
    decode_put(&decoder, "ff/ffff/ffff\a", 14);
    assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_EVENT);
    assert_int_equal(event.what, UI_EVENT_BACKGROUND);
    ui_decoder_dispose(&decoder);
}

/* A pause in it, longer than between the bytes of a key, makes no keys of it. */
static void test_decode__background_on_a_slow_line(void **state)
{
    static const char answer[] = "\033]11;rgb:ffff/ffff/ffff\033\\";
    for (size_t cut = 3; cut < sizeof answer - 1; cut++) {
        struct ui_decoder decoder = decode_with("");
        struct ui_event event;
        char words[64];
        decoder.asked = true;
        decode_put(&decoder, answer, cut);
        assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_PARTIAL);
        assert_int_equal(ui_decoder_next(&decoder, true, 25, &event), UI_DECODED_NOTHING);
        decode_put(&decoder, answer + cut, sizeof answer - 1 - cut);
        decode_put(&decoder, "j", 1);
        decode_words(&decoder, true, words, sizeof words);
        assert_string_equal(words, "light255 j");
        ui_decoder_dispose(&decoder);
    }
    /* An answer that has lost its end does not wait for ever. */
    struct ui_decoder decoder = decode_with("\033]11;rgb:ff");
    struct ui_event event;
    decoder.asked = true;
    assert_int_equal(ui_decoder_next(&decoder, true, 1000, &event), UI_DECODED_NOTHING);
    decode_put(&decoder, "j", 1);
    assert_int_equal(ui_decoder_next(&decoder, false, 3000, &event), UI_DECODED_EVENT);
    assert_int_equal(event.key, 'j');
    ui_decoder_dispose(&decoder);
}

static void test_decode__double_click(void **state)
{
    static const struct {
        const char *bytes;
        int64_t ms;
        bool twice;
    } clicks[] = {{"\033[<0;5;5M", 1000, false}, {"\033[<0;5;5M", 1200, true},
                  {"\033[<0;5;5M", 1300, false}, {"\033[<0;6;5M", 1400, false},
                  {"\033[<0;6;5M", 2400, false}, {"\033[<0;6;5M", 2600, true}};
    struct ui_decoder decoder = decode_with("");
    struct ui_event event;
    for (size_t i = 0; i < ODB_COUNT(clicks); i++) {
        decode_put(&decoder, clicks[i].bytes, strlen(clicks[i].bytes));
        assert_int_equal(ui_decoder_next(&decoder, true, clicks[i].ms, &event), UI_DECODED_EVENT);
        assert_int_equal(event.what, UI_EVENT_CLICK);
        assert_int_equal(event.twice, clicks[i].twice);
    }
}

static void test_decode__pasted_text_is_dropped(void **state)
{
    decode_expect("a\033[200~:quit\rx\033[A\033[201~b", "a b");
    /* Its end may be lost; a pause is one too. */
    struct ui_decoder decoder = decode_with("\033[200~qqq");
    struct ui_event event;
    assert_int_equal(ui_decoder_next(&decoder, true, 1000, &event), UI_DECODED_NOTHING);
    decode_put(&decoder, "r", 1);
    assert_int_equal(ui_decoder_next(&decoder, true, 1500, &event), UI_DECODED_NOTHING);
    decode_put(&decoder, "j", 1);
    assert_int_equal(ui_decoder_next(&decoder, true, 4000, &event), UI_DECODED_EVENT);
    assert_int_equal(event.key, 'j');
}

static void test_decode__raw(void **state)
{
    char words[256];
    struct ui_decoder decoder = decode_with("a\033[A\xc3\xa9\r\033");
    decoder.raw = true;
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, "61 1b 5b 41 c3 a9 0d 1b");
    decoder = decode_with("a\033[200~b\rc\x03\td\033[201~\r");
    decoder.raw = true;
    decode_words(&decoder, true, words, sizeof words);
    assert_string_equal(words, "61 62 20 63 20 64 0d");
    decoder = decode_with("\033[20");
    struct ui_event event;
    decoder.raw = true;
    assert_int_equal(ui_decoder_next(&decoder, false, 0, &event), UI_DECODED_PARTIAL);
}

/* Whatever comes, something is consumed, and nothing that is no key comes out. */
static void test_decode__noise(void **state)
{
    static const char alphabet[] = "\033\033\033[[O<;012~MmAZ \xc3\xa9\xf0\x9f";
    unsigned seed = 7;
    struct ui_decoder decoder = decode_with("");
    ui_decoder_learn(&decoder, "\033[24~", UI_KEY_F12);
    for (int round = 0; round < 200000; round++) {
        seed = seed * 1103515245 + 12345;
        if (decoder.n < sizeof decoder.bytes)
            decoder.bytes[decoder.n++] =
                (unsigned char)alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        struct ui_event event;
        decoder.raw = round / 1000 % 5 == 4;
        bool complete = (seed >> 8) % 4 == 0;
        enum ui_decoded result = ui_decoder_next(&decoder, complete, round, &event);
        if (complete)
            assert_int_not_equal(result, UI_DECODED_PARTIAL);
        if (result == UI_DECODED_EVENT && event.what == UI_EVENT_KEY)
            assert_int_not_equal(event.key, UI_KEY_NONE);
    }
    ui_decoder_dispose(&decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode__keys),
        cmocka_unit_test(test_decode__what_has_no_meaning),
        cmocka_unit_test(test_decode__partial),
        cmocka_unit_test(test_decode__backspace_as_the_terminal_has_it),
        cmocka_unit_test(test_decode__mouse),
        cmocka_unit_test(test_decode__background),
        cmocka_unit_test(test_decode__background_on_a_slow_line),
        cmocka_unit_test(test_decode__double_click),
        cmocka_unit_test(test_decode__pasted_text_is_dropped),
        cmocka_unit_test(test_decode__raw),
        cmocka_unit_test(test_decode__noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
