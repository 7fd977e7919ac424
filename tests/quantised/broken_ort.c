/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An ONNX Runtime with a fault of its own: whatever model it is given goes through a program that
 * changes it first, as a compiler that is wrong would, and then to the real library.
 *
 *     ONNXDBG_ORT=build/broken-ort.so BROKEN_ORT=REAL.so BROKEN_ORT_EDIT="python3 spoil.py …"
 *
 * The program lives as long as the process. It reads models and writes them: eight bytes of length,
 * then the bytes.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BROKEN_SLOTS 300 /* of the table of functions, more than the program calls */
#define BROKEN_OPEN 7
#define BROKEN_CREATE 8

struct broken_base {
    const void *const *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
};

typedef void *broken_create_fn(const void *env, const void *bytes, size_t size, const void *options,
                               void **out);

static const struct broken_base *broken_real;
static broken_create_fn *broken_create; /* the real one */
static int broken_pipe = -1;            /* to the program and from it */

/* The real library is asked at once; without it there is nothing to be broken. */
__attribute__((constructor)) static void broken_begin(void)
{
    const char *path = getenv("BROKEN_ORT");
    const struct broken_base *(*get_base)(void);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "OrtGetApiBase") : NULL;
    if (!symbol)
        return;
    memcpy(&get_base, &symbol, sizeof get_base);
    broken_real = get_base();
}

static void broken_start(void)
{
    int ends[2];
    const char *program = getenv("BROKEN_ORT_EDIT");
    if (!program || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        unsetenv("LD_PRELOAD");
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        execl("/bin/sh", "sh", "-c", program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    broken_pipe = pid > 0 ? ends[0] : -1;
}

static int broken_move(void *bytes, size_t size, int out)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = out ? write(broken_pipe, (char *)bytes + done, size - done)
                        : read(broken_pipe, (char *)bytes + done, size - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

/* The changed model, the caller's; NULL: it stays as it is. */
static void *broken_edit(const void *bytes, size_t size, size_t *changed)
{
    uint64_t length = size;
    if (broken_pipe < 0)
        broken_start();
    if (broken_pipe < 0 || !broken_move(&length, sizeof length, 1) ||
        !broken_move((void *)(uintptr_t)bytes, size, 1) || !broken_move(&length, sizeof length, 0))
        return NULL;
    void *model = malloc(length);
    if (model && !broken_move(model, length, 0)) {
        free(model);
        model = NULL;
    }
    *changed = length;
    return model;
}

static void *broken_create_session(const void *env, const void *bytes, size_t size,
                                   const void *options, void **out)
{
    size_t changed = size;
    void *model = broken_edit(bytes, size, &changed);
    void *status = broken_create(env, model ? model : bytes, changed, options, out);
    free(model);
    return status;
}

static void *broken_open_session(const void *env, const char *path, const void *options, void **out)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0)
        abort();
    void *bytes = malloc((size_t)about.st_size + 1);
    if (!bytes || fread(bytes, 1, (size_t)about.st_size, file) != (size_t)about.st_size)
        abort();
    fclose(file);
    void *status = broken_create_session(env, bytes, (size_t)about.st_size, options, out);
    free(bytes);
    return status;
}

static const void *const *broken_api(uint32_t version)
{
    static const void *table[BROKEN_SLOTS];
    const void *const *real = broken_real->get_api(version);
    void *(*create)(const void *, const void *, size_t, const void *, void **) =
        broken_create_session;
    void *(*opens)(const void *, const char *, const void *, void **) = broken_open_session;
    if (!real)
        return NULL;
    memcpy(table, real, (version < 20 ? 260 : BROKEN_SLOTS) * sizeof *table);
    memcpy(&broken_create, &real[BROKEN_CREATE], sizeof broken_create);
    memcpy(&table[BROKEN_CREATE], &create, sizeof create);
    memcpy(&table[BROKEN_OPEN], &opens, sizeof opens);
    return table;
}

static const char *broken_version(void)
{
    return broken_real->get_version_string();
}

const struct broken_base *OrtGetApiBase(void);
const struct broken_base *OrtGetApiBase(void)
{
    static const struct broken_base base = {broken_api, broken_version};
    return broken_real ? &base : NULL;
}
