/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that are there as a whole or not at all.
 */
#include "system/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h wants those first. */
#include <cmocka.h>

#include "base/buf.h"
#include "system/temporary.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tests/help/models.h"

/* A file system that has no files without names (O_TMPFILE), as NFS has none. */
static bool names_only;

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (names_only && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

struct folder {
    char *name;     /* owned */
    char path[300]; /* of a file in it */
};

static int folder_setup(void **state)
{
    struct folder *f = odb_new(struct folder);
    f->name = models_folder();
    snprintf(f->path, sizeof f->path, "%s/it", f->name);
    *state = f;
    return 0;
}

static int folder_teardown(void **state)
{
    struct folder *f = *state;
    models_remove(f->name);
    free(f);
    return 0;
}

static size_t folder_count(const struct folder *f)
{
    DIR *dir = opendir(f->name);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void assert_holds(const char *path, const char *text)
{
    char got[64] = "";
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, text);
}

static void put_text(const char *path, const char *text)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_file_write(path, text, strlen(text), &err), ODB_OK);
}

static void test_file__nobody_sees_half_of_it(void **state)
{
    struct folder *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_file_out *out;
    put_text(f->path, "old");
    assert_int_equal(odb_file_begin(&out, f->path, 6, NULL, &err), ODB_OK);
    assert_int_equal(odb_file_put(out, "new", 3, &err), ODB_OK);
    assert_holds(f->path, "old");
    assert_int_equal(folder_count(f), 1); /* it has no name as yet: nobody has to clean up */
    assert_int_equal(odb_file_put(out, "est", 3, &err), ODB_OK);
    assert_int_equal(odb_file_end_take(out, ODB_OK, &err), ODB_OK);
    assert_holds(f->path, "newest");
    assert_int_equal(folder_count(f), 1);
}

static void test_file__what_failed_leaves_nothing(void **state)
{
    struct folder *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_file_out *out;
    assert_int_equal(odb_file_begin(&out, f->path, 3, NULL, &err), ODB_OK);
    assert_int_equal(odb_file_put(out, "new", 3, &err), ODB_OK);
    assert_int_equal(odb_file_end_take(out, ODB_E_INPUT, &err), ODB_E_INPUT);
    assert_int_equal(folder_count(f), 0);
}

/* What somebody else has written takes the place of a file whole, or leaves it. */
static void test_file__install(void **state)
{
    struct folder *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct stat st;
    char *beside = odb_xasprintf("%s/beside", f->name), *link = odb_xasprintf("%s/link", f->name);
    put_text(beside, "first");
    assert_int_equal(odb_file_install(beside, f->path, &err), ODB_OK);
    assert_holds(f->path, "first");
    assert_int_equal(folder_count(f), 1);
    assert_int_equal(chmod(f->path, 0640), 0);
    assert_int_equal(symlink(f->path, link), 0);
    put_text(beside, "second");
    assert_int_equal(odb_file_install(beside, link, &err), ODB_OK);
    assert_holds(f->path, "second");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(odb_file_install(beside, f->path, &err), ODB_E_IO); /* there is none */
    assert_holds(f->path, "second");
    put_text(beside, "third");
    assert_int_equal(odb_file_install(beside, f->name, &err), ODB_E_IO);
    assert_non_null(strstr(err.what, "no regular file"));
    assert_holds(beside, "third");
    free(beside);
    free(link);
}

/* Whose end comes too soon takes along what was for a while only, and nothing else. */
static void test_file__what_is_for_a_while_goes_with_the_program(void **state)
{
    struct folder *f = *state;
    char *made = odb_xasprintf("%s/made", f->name), *deep = odb_xasprintf("%s/a/b", made);
    char *file = odb_xasprintf("%s/file", deep), *link = odb_xasprintf("%s/link", made);
    char *done = odb_xasprintf("%s/done", f->name);
    assert_int_equal(odb_file_mkdir(deep, NULL), ODB_OK);
    put_text(file, "text");
    put_text(f->path, "kept");
    put_text(done, "kept");
    assert_int_equal(symlink(f->path, link), 0);
    chmod(deep, 0500);
    odb_temporary_add(made);
    odb_temporary_add(done);
    odb_temporary_drop(done);
    pid_t child = fork();
    if (child == 0) {
        odb_temporary_remove(); /* it made nothing */
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_holds(file, "text");
    odb_temporary_remove();
    assert_int_equal(folder_count(f), 2);
    assert_holds(f->path, "kept");
    odb_temporary_drop(made);
    char *const names[] = {made, deep, file, link, done};
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        free(names[i]);
}

struct stopper {
    size_t calls, after, done, total;
};

static bool stop_after(void *payload, size_t done, size_t total)
{
    struct stopper *s = payload;
    assert_true(done >= s->done && done <= total);
    s->done = done;
    s->total = total;
    return s->calls++ >= s->after;
}

static char *folder_make(const struct folder *f, const char *name, time_t changed)
{
    char *path = odb_xasprintf("%s/%s", f->name, name), *file = odb_xasprintf("%s/a/file", path);
    char *deep = odb_xasprintf("%s/a", path);
    struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
    assert_int_equal(odb_file_mkdir(deep, NULL), ODB_OK);
    put_text(file, "text");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(deep);
    free(file);
    return path;
}

/* Folders of programs that were killed are swept, and none that somebody may be at, or has. */
static void test_file__temporary_files_of_the_killed_are_swept(void **state)
{
    struct folder *f = *state;
    struct stat st;
    const struct {
        const char *name;
        bool old, held, stays;
    } folders[] = {{"run-a1B2c3", true, false, false}, {"run-held00", true, true, true},
                   {"run-young0", false, false, true}, {"run-a1B2-3", true, false, true},
                   {"run-", true, false, true},        {"ran-a1B2c3", true, false, true},
                   {"run-a1B2c3.x", true, false, true}};
    char *link = odb_xasprintf("%s/run-link00", f->name), *paths[ODB_COUNT(folders)];
    for (size_t i = 0; i < ODB_COUNT(folders); i++) {
        paths[i] = folder_make(f, folders[i].name, folders[i].old ? 1000 : time(NULL));
        if (folders[i].held)
            odb_temporary_add(paths[i]);
    }
    assert_int_equal(symlink(paths[2], link), 0);
    odb_temporary_sweep(f->name, "run-", "");
    for (size_t i = 0; i < ODB_COUNT(folders); i++)
        assert_int_equal(stat(paths[i], &st), folders[i].stays ? 0 : -1);
    assert_int_equal(lstat(link, &st), 0);
    odb_temporary_drop(paths[1]); /* its maker is gone */
    odb_temporary_sweep(f->name, "run-", "");
    assert_int_equal(stat(paths[1], &st), -1);
    odb_temporary_sweep(f->name, "run-", ".x");
    assert_int_equal(stat(paths[6], &st), -1);
    for (size_t i = 0; i < ODB_COUNT(folders); i++)
        free(paths[i]);
    free(link);
}

static bool kill_at_once(void *payload, size_t done, size_t total)
{
    raise(SIGKILL);
    return false;
}

/* What is in the folder was last changed long ago. */
static void folder_age(const struct folder *f)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    DIR *dir = opendir(f->name);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            assert_int_equal(utimensat(dirfd(dir), e->d_name, times, AT_SYMLINK_NOFOLLOW), 0);
    closedir(dir);
}

/* Who is killed while he writes leaves what has a name; whoever writes beside it next takes it
 * away, and nothing that is somebody's, young, or called otherwise. */
static void test_file__what_the_killed_wrote_is_swept(void **state)
{
    struct folder *f = *state;
    const struct odb_progress progress = {kill_at_once, NULL};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_file_out *held = NULL;
    char *kept = odb_xasprintf("%s/it.12-0.tmp", f->name);
    char *other = odb_xasprintf("%s/other", f->name);
    char *npz = odb_xasprintf("%s/a.npz", f->name);
    names_only = true;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct odb_file_out *out;
            struct odb_tensor *one = models_f32(1, (int64_t[]){1}, (const float[]){1});
            struct odb_npy_image image;
            const char *name = "x";
            MODELS_OK(odb_npy_image_init(&image, one, &why));
            if (i)
                MODELS_OK(odb_npz_write_images(npz, &name, &image, 1, false, &progress, &why));
            MODELS_OK(odb_file_begin(&out, f->path, 4, &progress, &why));
            MODELS_OK(odb_file_put(out, "text", 4, &why));
            _exit(1);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        assert_int_equal(folder_count(f), i + 1);
    }
    put_text(kept, "kept");
    MODELS_OK(odb_file_begin(&held, other, 0, NULL, &why));
    folder_age(f);
    char *again = odb_xasprintf("%s/./it", f->name); /* another name of the folder: not yet swept */
    put_text(again, "text");
    assert_int_equal(folder_count(f), 3);
    assert_holds(kept, "kept");
    assert_int_equal(odb_file_end_take(held, ODB_OK, &err), ODB_OK);
    assert_holds(other, "");
    names_only = false;
    free(kept);
    free(other);
    free(npz);
    free(again);
}

static void test_file__is_stopped_in_the_middle(void **state)
{
    struct folder *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct stopper s = {.after = 2};
    const struct odb_progress progress = {stop_after, &s};
    struct odb_file_out *out;
    size_t size = (size_t)40 << 20;
    char *data = odb_new_n(char, size);
    put_text(f->path, "old");
    assert_int_equal(odb_file_begin(&out, f->path, size, &progress, &err), ODB_OK);
    enum odb_status status = odb_file_put(out, data, size, &err);
    assert_int_equal(odb_file_end_take(out, status, &err), ODB_CANCELLED);
    assert_int_equal(s.total, size);
    assert_in_range(s.done, 1, size / 2);
    assert_holds(f->path, "old");
    assert_int_equal(folder_count(f), 1);
    free(data);
}

static void test_file__a_link_stays_a_link(void **state)
{
    struct folder *f = *state;
    struct stat st;
    char *link = odb_xasprintf("%s/link", f->name);
    put_text(f->path, "old");
    assert_int_equal(symlink(f->path, link), 0);
    put_text(link, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_holds(f->path, "new");
    free(link);
}

static void test_file__keeps_who_may_read_it(void **state)
{
    struct folder *f = *state;
    struct stat st;
    put_text(f->path, "old");
    assert_int_equal(chmod(f->path, 0600), 0);
    put_text(f->path, "new");
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_file__says_why_it_cannot_be(void **state)
{
    struct folder *f = *state;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_file_out *out;
    char text[512], *path = odb_xasprintf("%s/none/it", f->name);
    assert_int_equal(odb_file_begin(&out, path, 3, NULL, &err), ODB_E_IO);
    assert_non_null(strstr(odb_error_text(&err, text, sizeof text), path));
    assert_null(out);
    free(path);
}

/* --- files that are read ---------------------------------------------------------------------- */

static void file_assert_refused(const char *path, const char *why)
{
    FILE *file = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char said[256];
    assert_int_equal(odb_file_open(&file, path, &err), ODB_E_IO);
    assert_string_equal(odb_error_text(&err, said, sizeof said), why);
    assert_null(file);
}

static void test_file__what_is_no_file_is_not_read(void **state)
{
    const struct folder *f = *state;
    file_assert_refused(f->path, "No such file or directory");
    file_assert_refused(f->name, "Is a directory");
    file_assert_refused("/dev/zero", "it is a device, and no file");
    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_false(odb_file_is_regular(f->path));
    file_assert_refused(f->path, "it is a FIFO that no program writes into");
}

/* As `onnxdbg report <(…)` has it: the writer is there, and may take its time. */
static void test_file__a_pipe_is_read_to_its_end(void **state)
{
    const struct folder *f = *state;
    FILE *file;
    struct odb_error err = ODB_ERROR_INIT;
    char got[16] = "";
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int fd = open(f->path, O_RDWR);
    assert_int_equal(odb_file_open(&file, f->path, &err), ODB_OK);
    if (fork() == 0) {
        usleep(50000);
        _exit(write(fd, "late", 4) != 4);
    }
    close(fd);
    assert_int_equal(fread(got, 1, sizeof got, file), 4);
    assert_string_equal(got, "late");
    fclose(file);
    int status;
    wait(&status);
    assert_int_equal(status, 0);

    fd = open(f->path, O_RDWR);
    assert_int_equal(write(fd, "soon", 4), 4);
    assert_int_equal(odb_file_open(&file, f->path, &err), ODB_OK);
    close(fd);
    assert_int_equal(fread(got, 1, sizeof got, file), 4);
    assert_string_equal(got, "soon");
    fclose(file);

    assert_int_equal(odb_file_open(&file, "/dev/null", &err), ODB_OK);
    assert_int_equal(getc(file), EOF);
    fclose(file);
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(test_file__nobody_sees_half_of_it),
        FILE_TEST(test_file__what_failed_leaves_nothing),
        FILE_TEST(test_file__install),
        FILE_TEST(test_file__what_is_for_a_while_goes_with_the_program),
        FILE_TEST(test_file__temporary_files_of_the_killed_are_swept),
        FILE_TEST(test_file__what_the_killed_wrote_is_swept),
        FILE_TEST(test_file__is_stopped_in_the_middle),
        FILE_TEST(test_file__a_link_stays_a_link),
        FILE_TEST(test_file__keeps_who_may_read_it),
        FILE_TEST(test_file__says_why_it_cannot_be),
        FILE_TEST(test_file__what_is_no_file_is_not_read),
        FILE_TEST(test_file__a_pipe_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
