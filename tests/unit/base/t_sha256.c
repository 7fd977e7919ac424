/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void test_sha256__examples_of_the_standard(void **state)
{
    static const struct {
        const char *text;
        size_t times;
        const char *hex;
    } cases[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaa",
         10000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        SHA256_CTX sha;
        uint8_t digest[SHA256_DIGEST_LENGTH];
        char hex[2 * SHA256_DIGEST_LENGTH + 1];
        SHA256Init(&sha);
        for (size_t i = 0; i < cases[c].times; i++)
            odb_sha256_update(&sha, cases[c].text, strlen(cases[c].text));
        SHA256Final(digest, &sha);
        odb_hex(digest, sizeof digest, hex);
        assert_string_equal(hex, cases[c].hex);
    }
}

/* Whatever the pieces, from whatever address: libmd says the same. */
static void test_sha256__pieces_of_all_sizes(void **state)
{
    static uint8_t data[4096];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 167 + i / 256);
    for (size_t piece = 1; piece < 400; piece += piece < 140 ? 1 : 37) {
        SHA256_CTX ours, theirs;
        uint8_t a[SHA256_DIGEST_LENGTH], b[SHA256_DIGEST_LENGTH];
        size_t at = piece % 16, size = sizeof data - at - piece % 77;
        SHA256Init(&ours);
        SHA256Init(&theirs);
        for (size_t i = 0; i < size; i += piece)
            odb_sha256_update(&ours, data + at + i, size - i < piece ? size - i : piece);
        SHA256Update(&theirs, data + at, size);
        SHA256Final(a, &ours);
        SHA256Final(b, &theirs);
        assert_memory_equal(a, b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__examples_of_the_standard),
        cmocka_unit_test(test_sha256__pieces_of_all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
