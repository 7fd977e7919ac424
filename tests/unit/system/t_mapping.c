/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that become shorter under who has them mapped.
 */
#include "system/mapping.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "system/temporary.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

#define PAGES 3

struct mapped {
    char *dir, *path; /* owned */
    size_t page;
    int fd;
    struct odb_mapping mapping;
};

static int mapped_setup(void **state)
{
    struct mapped *m = odb_new(struct mapped);
    m->dir = models_folder();
    m->path = odb_xasprintf("%s/weights\033[2J", m->dir);
    m->page = (size_t)sysconf(_SC_PAGESIZE);
    m->fd = open(m->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(m->fd >= 0);
    assert_int_equal(ftruncate(m->fd, (off_t)(PAGES * m->page)), 0);
    MODELS_OK(odb_mapping_open(&m->mapping, m->fd, PAGES * m->page, m->path, &why));
    *state = m;
    return 0;
}

static int mapped_teardown(void **state)
{
    struct mapped *m = *state;
    odb_mapping_close(&m->mapping);
    close(m->fd);
    models_remove(m->dir);
    free(m->path);
    free(m);
    return 0;
}

static void mapped_shorten(const struct mapped *m)
{
    assert_int_equal(ftruncate(m->fd, (off_t)m->page), 0);
}

/* What a child writes to standard error and how it ends. */
static int mapped_child(void (*play)(const struct mapped *m), const struct mapped *m,
                        char words[512])
{
    int ends[2], how;
    size_t n = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        odb_mapping_watch();
        play(m);
        _exit(99);
    }
    close(ends[1]);
    while ((got = read(ends[0], words + n, 511 - n)) > 0)
        n += (size_t)got;
    words[n] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    return how;
}

static void mapped_play_read(const struct mapped *m)
{
    struct odb_mapping more[2];
    char *leaving = odb_xasprintf("%s/leaving", m->dir);
    assert_int_equal(mkdir(leaving, 0700), 0);
    odb_temporary_add(leaving);
    free(leaving);
    for (size_t i = 0; i < ODB_COUNT(more); i++) /* the one that it is is not the last */
        if (odb_mapping_open(&more[i], m->fd, m->page, "another", NULL) != ODB_OK)
            _exit(98);
    odb_mapping_close(&more[1]);
    mapped_shorten(m);
    _exit(((volatile char *)m->mapping.data)[m->page] ? 97 : 96);
}

static void test_mapping__a_line_and_a_status(void **state)
{
    struct mapped *m = *state;
    char words[512], *leaving = odb_xasprintf("%s/leaving", m->dir);
    int how = mapped_child(mapped_play_read, m, words);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), ODB_MAPPING_STATUS);
    assert_ptr_equal(strchr(words, '\n'), words + strlen(words) - 1);
    assert_non_null(strstr(words, "weights\\x1b[2J: the file became shorter while it was read"));
    assert_int_equal(access(leaving, F_OK), -1);
    free(leaving);
}

static void mapped_play_foreign(const struct mapped *m)
{
    volatile char *own = mmap(NULL, m->page, PROT_READ, MAP_SHARED, m->fd, 0);
    (void)!ftruncate(m->fd, 0);
    _exit(own[0] ? 97 : 96);
}

static void mapped_play_sent(const struct mapped *m)
{
    (void)m;
    raise(SIGBUS);
}

static void mapped_play_watched_twice(const struct mapped *m)
{
    alarm(5);
    odb_mapping_watch();
    mapped_play_sent(m);
}

/* Whoever looks for the cause of another SIGBUS shall see it. */
static void test_mapping__any_other_is_what_it_was(void **state)
{
    char words[512];
    void (*const plays[])(const struct mapped *m) = {mapped_play_foreign, mapped_play_sent,
                                                     mapped_play_watched_twice};
    for (size_t i = 0; i < ODB_COUNT(plays); i++) {
        signal(SIGBUS, SIG_DFL); /* sanitizers take it */
        int how = mapped_child(plays[i], *state, words);
        assert_true(WIFSIGNALED(how));
        assert_int_equal(WTERMSIG(how), SIGBUS);
        assert_string_equal(words, "");
    }
}

static void test_mapping__is_found_without_a_signal(void **state)
{
    struct mapped *m = *state;
    struct odb_mapping whole;
    struct odb_error err = ODB_ERROR_INIT;
    assert_false(odb_mapping_lost(&err));
    assert_int_equal(err.code, ODB_OK);
    mapped_shorten(m);
    MODELS_OK(odb_mapping_open(&whole, m->fd, m->page, "whole", &why));
    assert_true(odb_mapping_lost(&err));
    assert_int_equal(err.code, ODB_E_IO);
    help_has_text(&err, "weights\\x1b[2J: the file became shorter");
    odb_mapping_close(&m->mapping);
    assert_false(odb_mapping_lost(&err));
    odb_mapping_close(&whole);
    odb_mapping_close(&whole);
}

static void test_mapping__an_empty_file(void **state)
{
    struct mapped *m = *state;
    struct odb_mapping empty;
    struct odb_error err = ODB_ERROR_INIT;
    MODELS_OK(odb_mapping_open(&empty, m->fd, 0, "empty", &why));
    assert_null(empty.data);
    odb_mapping_close(&empty);
    assert_int_equal(odb_mapping_open(&empty, -1, 1, "none", &err), ODB_E_IO);
    odb_mapping_close(&empty);
}

/* The child reads the same file: what becomes of it is not the target's doing. */
static void test_mapping__is_no_crash_of_the_target(void **state)
{
    struct mapped *m = *state;
    struct odb_target *target;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[2];
    struct odb_buf bytes = ODB_BUF_INIT;
    help_find_serve();
    MODELS_OK(odb_target_open(&target, "fault:crash,node=second@cpu", &why));
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    struct odb_tensor *x = help_floats(2, 4, help_x);
    struct odb_named in = {"x", x};
    for (int shorter = 0; shorter <= 1; shorter++) {
        MODELS_OK(odb_target_load(target, &load, &why));
        if (shorter)
            mapped_shorten(m);
        assert_int_equal(odb_target_run(target, &in, 1, help_chain_outputs, 2, out, &err),
                         shorter ? ODB_E_IO : ODB_E_CRASH);
        help_has_text(&err, shorter ? "the file became shorter" : "SIGSEGV");
    }
    odb_tensor_unref(x);
    odb_buf_dispose(&bytes);
    odb_target_close(target);
}

#define MAPPED_TEST(name) cmocka_unit_test_setup_teardown(name, mapped_setup, mapped_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MAPPED_TEST(test_mapping__a_line_and_a_status),
        MAPPED_TEST(test_mapping__any_other_is_what_it_was),
        MAPPED_TEST(test_mapping__is_found_without_a_signal),
        MAPPED_TEST(test_mapping__an_empty_file),
        MAPPED_TEST(test_mapping__is_no_crash_of_the_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
