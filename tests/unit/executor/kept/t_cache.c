/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/kept/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sha2.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "system/scratch.h"
#include "tests/help/executor_help.h"

struct place {
    char dir[64], cache[80], tmp[80];
};

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    snprintf(place->dir, sizeof place->dir, "/tmp/t_cache-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->cache, sizeof place->cache, "%s/cache", place->dir);
    snprintf(place->tmp, sizeof place->tmp, "%s/tmp", place->dir);
    mkdir(place->tmp, 0700);
    setenv("ONNXDBG_CACHE", place->cache, 1);
    setenv("TMPDIR", place->tmp, 1);
    unsetenv("ONNXDBG_CACHE_SIZE");
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    odb_scratch_remove(place->dir);
    unsetenv("TMPDIR");
    free(place);
    return 0;
}

static size_t count(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

static struct odb_cache *open_cache(void)
{
    struct odb_cache *cache = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_cache_open(&cache, &err), &err);
    return cache;
}

/* Contents by number, and their key. */
static void make(int number, char *bytes, size_t size, char key[ODB_CACHE_KEY + 1])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX sha;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + (size_t)number);
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)bytes, size);
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, key);
}

static enum odb_status put(struct odb_cache *cache, const char *key, const char *bytes, size_t size,
                           struct odb_error *err)
{
    *err = (struct odb_error)ODB_ERROR_INIT;
    return odb_cache_put(cache, key, 0, size, bytes, size, err);
}

static void expect_file(const struct odb_cache *cache, const char *path, const char *bytes,
                        size_t size)
{
    char full[300], got[100000];
    snprintf(full, sizeof full, "%s/%s", odb_cache_dir(cache), path);
    FILE *f = fopen(full, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got, f), size);
    assert_memory_equal(got, bytes, size);
    fclose(f);
}

static void test_cache__files(void **state)
{
    const struct place *place = *state;
    char a[5000], b[1], a_key[65], b_key[65], empty_key[65];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_cache *cache = open_cache();
    make(1, a, sizeof a, a_key);
    make(2, b, sizeof b, b_key);
    make(3, b, 0, empty_key);
    assert_false(odb_cache_has(cache, a_key));
    for (size_t at = 0; at < sizeof a; at += 1000) { /* in pieces */
        assert_false(odb_cache_has(cache, a_key));
        help_ok(odb_cache_put(cache, a_key, at, sizeof a, a + at, 1000, &err), &err);
    }
    assert_true(odb_cache_has(cache, a_key));
    help_ok(put(cache, b_key, b, sizeof b, &err), &err);
    help_ok(put(cache, empty_key, "", 0, &err), &err);
    help_ok(odb_cache_place(cache, a_key, "w.bin", &err), &err);
    help_ok(odb_cache_place(cache, b_key, "deep/down/w.bin", &err), &err);
    help_ok(odb_cache_place(cache, empty_key, "deep/none", &err), &err);
    expect_file(cache, "w.bin", a, sizeof a);
    expect_file(cache, "deep/down/w.bin", b, sizeof b);
    expect_file(cache, "deep/none", b, 0);
    help_ok(odb_cache_place(cache, b_key, "w.bin", &err), &err); /* another under the same name */
    expect_file(cache, "w.bin", b, sizeof b);
    odb_cache_close(cache);
    assert_int_equal(count(place->cache), 3); /* and nothing of the process */
    cache = open_cache();
    assert_true(odb_cache_has(cache, a_key));
    odb_cache_close(cache);
}

static void test_cache__lies(void **state)
{
    static const char *const names[] = {"../out", "/etc/out", "a/../../out", "a//b", "./a", "..",
                                        ".",      "",         "a/"};
    const struct place *place = *state;
    char a[5000], b[5000], a_key[65], b_key[65];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_cache *cache = open_cache();
    make(1, a, sizeof a, a_key);
    make(2, b, sizeof b, b_key);
    assert_int_equal(put(cache, a_key, b, sizeof b, &err), ODB_E_IO);
    help_has_text(&err, "not what was to come");
    assert_false(odb_cache_has(cache, a_key));
    assert_false(odb_cache_has(cache, b_key));
    static const char *const keys[] = {"", "short", "../../../../etc/passwd"};
    for (size_t i = 0; i < ODB_COUNT(keys); i++) {
        assert_int_equal(put(cache, keys[i], b, sizeof b, &err), ODB_E_FORMAT);
        assert_false(odb_cache_has(cache, keys[i]));
        assert_int_equal(odb_cache_place(cache, keys[i], "w.bin", &err), ODB_E_FORMAT);
    }
    /* pieces out of order, too many, of another file, without end */
    assert_int_equal(odb_cache_put(cache, a_key, 10, 5000, a, 10, &err), ODB_E_FORMAT);
    help_ok(odb_cache_put(cache, a_key, 0, 5000, a, 10, &err), &err);
    assert_int_equal(odb_cache_put(cache, a_key, 20, 5000, a, 10, &err), ODB_E_FORMAT);
    assert_int_equal(odb_cache_put(cache, b_key, 10, 5000, a, 10, &err), ODB_E_FORMAT);
    assert_int_equal(odb_cache_put(cache, a_key, 10, 15, a, 10, &err), ODB_E_FORMAT);
    assert_int_equal(odb_cache_put(cache, a_key, 10, UINT64_MAX, a, 10, &err), ODB_E_FORMAT);
    help_ok(put(cache, b_key, b, sizeof b, &err), &err); /* begins anew */
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        assert_int_equal(odb_cache_place(cache, b_key, names[i], &err), ODB_E_FORMAT);
        help_has_text(&err, "no name for a file");
    }
    assert_int_equal(odb_cache_place(cache, a_key, "w.bin", &err), ODB_E_IO); /* never came */
    odb_cache_close(cache);
    assert_int_equal(count(place->cache), 1);
}

/* What was used last stays; what somebody uses is his though it goes. */
static void test_cache__room(void **state)
{
    const struct place *place = *state;
    char bytes[6][50000], keys[6][65];
    struct odb_error err = ODB_ERROR_INIT;
    setenv("ONNXDBG_CACHE_SIZE", "160K", 1); /* three of 52 KiB */
    struct odb_cache *user = open_cache(), *cache = open_cache();
    for (int i = 0; i < 6; i++)
        make(i, bytes[i], sizeof bytes[i], keys[i]);
    for (int i = 0; i < 3; i++) {
        help_ok(put(cache, keys[i], bytes[i], sizeof bytes[i], &err), &err);
        usleep(20 * 1000);
    }
    assert_true(odb_cache_has(user, keys[1])); /* used again: 0 is the oldest, then 2 */
    usleep(20 * 1000);
    help_ok(put(cache, keys[3], bytes[3], sizeof bytes[3], &err), &err);
    help_ok(put(cache, keys[4], bytes[4], sizeof bytes[4], &err), &err);
    odb_cache_close(cache);
    cache = open_cache();
    assert_false(odb_cache_has(cache, keys[0]));
    assert_false(odb_cache_has(cache, keys[2]));
    assert_true(odb_cache_has(cache, keys[1]));
    help_ok(put(cache, keys[5], bytes[5], sizeof bytes[5], &err), &err);
    help_ok(put(cache, keys[0], bytes[0], sizeof bytes[0], &err), &err);
    help_ok(put(cache, keys[2], bytes[2], sizeof bytes[2], &err), &err);
    help_ok(odb_cache_place(user, keys[1], "w.bin", &err), &err);
    expect_file(user, "w.bin", bytes[1], sizeof bytes[1]);
    odb_cache_close(cache);
    odb_cache_close(user);
    assert_int_equal(count(place->cache), 3);
    setenv("ONNXDBG_CACHE_SIZE", "lots", 1);
    assert_int_equal(odb_cache_open(&cache, &err), ODB_E_USAGE);
    help_has_text(&err, "ONNXDBG_CACHE_SIZE=lots");
}

static void test_cache__no_place(void **state)
{
    const struct place *place = *state;
    char a[5000], key[65];
    struct odb_error err = ODB_ERROR_INIT;
    setenv("ONNXDBG_CACHE", "/proc/no/such/place", 1);
    struct odb_cache *cache = open_cache();
    make(1, a, sizeof a, key);
    help_ok(put(cache, key, a, sizeof a, &err), &err);
    help_ok(odb_cache_place(cache, key, "w.bin", &err), &err);
    expect_file(cache, "w.bin", a, sizeof a);
    assert_true(count(place->tmp) > 0);
    odb_cache_close(cache);
    assert_int_equal(count(place->tmp), 0);
}

/* Several at once, the same files. */
static void test_cache__many(void **state)
{
    const struct place *place = *state;
    pid_t pids[6];
    for (size_t p = 0; p < ODB_COUNT(pids); p++) {
        pids[p] = fork();
        if (pids[p] != 0)
            continue;
        struct odb_cache *cache;
        bool ok = odb_cache_open(&cache, NULL) == ODB_OK;
        for (int i = 0; ok && i < 20; i++) {
            char bytes[20000], key[65], path[20];
            make(i, bytes, sizeof bytes, key);
            snprintf(path, sizeof path, "%d", i);
            ok = (odb_cache_has(cache, key) || odb_cache_put(cache, key, 0, sizeof bytes, bytes,
                                                             sizeof bytes, NULL) == ODB_OK) &&
                 odb_cache_place(cache, key, path, NULL) == ODB_OK;
        }
        odb_cache_close(cache);
        _exit(!ok);
    }
    for (size_t p = 0; p < ODB_COUNT(pids); p++) {
        int how;
        assert_int_equal(waitpid(pids[p], &how, 0), pids[p]);
        assert_int_equal(how, 0);
    }
    assert_int_equal(count(place->cache), 20);
}

/* What the dead left is removed, what the living have is not, nor anything of somebody else's. */
static void test_cache__rubbish(void **state)
{
    const struct place *place = *state;
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    char path[300];
    struct odb_cache *cache = open_cache();
    assert_int_equal(utimensat(AT_FDCWD, odb_cache_scratch(cache), old, 0), 0);
    static const char *const dead[] = {".run-abcdef", "somebody's"};
    for (size_t i = 0; i < ODB_COUNT(dead); i++) {
        snprintf(path, sizeof path, "%s/%s", place->cache, dead[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    }
    snprintf(path, sizeof path, "%s/.new-abcdef", place->cache);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    snprintf(path, sizeof path, "%s/.run-ghijkl", place->cache); /* made just now */
    assert_int_equal(mkdir(path, 0700), 0);
    struct odb_cache *other = open_cache();
    assert_int_equal(count(place->cache), 4); /* two at work, the new one, and somebody's */
    assert_int_equal(access(odb_cache_dir(cache), F_OK), 0);
    odb_cache_close(other);
    odb_cache_close(cache);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_cache__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files), CASE(lies), CASE(room), CASE(no_place), CASE(many), CASE(rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
