/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * External data whose folder is another at any moment: a folder and a link to one outside change
 * places as fast as they can, while a model is opened. What is outside is never seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model_int.h"
#include "model/files.h"
#include "tests/help/onnx_make.h"
#include "tests/help/models.h"

static char *race_dir;

static const char *race_path(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", race_dir, name);
    return p;
}

static void race_write(const char *name, const char *text)
{
    FILE *file = fopen(race_path(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int race_setup(void **state)
{
    race_dir = models_folder();
    mkdir(race_path("model"), 0700);
    mkdir(race_path("model/sub"), 0700);
    mkdir(race_path("away"), 0700);
    race_write("model/sub/w.bin", "inside!!");
    race_write("away/w.bin", "secret!!");
    return symlink("../away", race_path("model/link"));
}

static int race_teardown(void **state)
{
    models_remove(race_dir);
    return 0;
}

static atomic_bool race_over;

static void *race_swap(void *unused)
{
    while (!atomic_load(&race_over))
        renameat2(AT_FDCWD, race_path("model/sub"), AT_FDCWD, race_path("model/link"),
                  RENAME_EXCHANGE);
    return NULL;
}

static void test_load_race__a_folder_becomes_a_link(void **state)
{
    char dir[128], bytes[8];
    pthread_t thread;
    unsigned inside = 0, refused = 0;
    snprintf(dir, sizeof dir, "%s", race_path("model"));
    assert_int_equal(pthread_create(&thread, NULL, race_swap, NULL), 0);
    for (int i = 0; i < 20000 || (i < 400000 && (!inside || !refused)); i++) {
        int fd;
        if (odb_model_open_external(&fd, dir, "sub/w.bin", NULL) != ODB_OK) {
            refused++;
            continue;
        }
        assert_int_equal(read(fd, bytes, sizeof bytes), sizeof bytes);
        close(fd);
        assert_memory_equal(bytes, "inside!!", sizeof bytes);
        inside++;
    }
    atomic_store(&race_over, true);
    pthread_join(thread, NULL);
    assert_true(inside && refused); /* else nothing raced */
}

static void test_load_race__fifos_and_devices(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    char dir[128];
    int fd;
    snprintf(dir, sizeof dir, "%s", race_path("model"));
    assert_int_equal(mkfifo(race_path("model/fifo"), 0600), 0);
    assert_int_equal(odb_model_open_external(&fd, dir, "fifo", &err), ODB_E_MODEL);
    assert_non_null(strstr(err.what, "not a regular file"));
    assert_int_equal(odb_model_open_external(&fd, "/dev", "zero", &err), ODB_E_MODEL);
    assert_non_null(strstr(err.what, "not a regular file"));
    assert_int_equal(odb_model_open_external(&fd, "/", "etc/hostname/..", &err), ODB_E_MODEL);
    assert_int_equal(odb_model_open_external(&fd, "/", "etc/passwd", &err), ODB_OK);
    close(fd);
}

/* Takes openat2() away, as kernels before 5.6 and some sandboxes do. */
static bool race_forbid_openat2(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ODB_COUNT(rules), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS;
}

#define RACE_WALKS "T_LOAD_RACE_WALKS"

/* All of it holds where a path is walked name by name: this program once more. */
static void test_load_race__without_openat2(void **state)
{
    int how;
    if (getenv(RACE_WALKS))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        setenv(RACE_WALKS, "1", 1);
        if (!race_forbid_openat2())
            _exit(77);
        execl("/proc/self/exe", "t_load_race", NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 77)
        skip(); /* nothing may be forbidden here */
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_race__a_folder_becomes_a_link),
        cmocka_unit_test(test_load_race__fifos_and_devices),
        cmocka_unit_test(test_load_race__without_openat2),
    };
    return cmocka_run_group_tests(tests, race_setup, race_teardown);
}
