/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/file.h"
#include "model/write/build.h"
#include "model/model.h"
#include "model/read/load.h"
#include "tensor/tensor_print.h"

#define FUZZ_LOOK ((size_t)1 << 16) /* elements: more take long and show nothing new */

int fuzz_file(const uint8_t *data, size_t size, char *path)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    return odb_xstrndup((const char *)data, size);
}

void fuzz_check_shown(const struct odb_buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if ((c < ' ' && c != '\n') || c == 0x7f)
            abort();
        if (c == 0xc2 && (unsigned char)text->data[i + 1] < 0xa0) /* C1 controls */
            abort();
    }
}

void fuzz_look_take(struct odb_tensor *t)
{
    if (!t)
        return;
    struct odb_buf out = ODB_BUF_INIT;
    odb_print_tensor(&out, t, NULL);
    odb_buf_dispose(&out);
    if (t->kind == ODB_TENSOR && t->count <= FUZZ_LOOK && t->data) {
        struct odb_tensor *copy;
        if (odb_tensor_clone(&copy, t, NULL) == ODB_OK) {
            if (!odb_tensor_identical(copy, t))
                abort();
            odb_tensor_unref(copy);
        }
    }
    odb_tensor_unref(t);
}

void fuzz_model_bytes(struct odb_buf *bytes)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Sigmoid", "first", "x", "a");
    odb_build_node(b, "Exp", "second", "a", "b");
    odb_build_node(b, "Sqrt", "third", "b", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){4});
    odb_build_bytes(b, bytes);
    odb_build_free(b);
}

struct odb_model *fuzz_model(void)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model;
    fuzz_model_bytes(&bytes);
    if (odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, "/nowhere", "chain", NULL) !=
        ODB_OK)
        abort();
    odb_buf_dispose(&bytes);
    return model;
}

void fuzz_pair(const struct odb_tensor *pair[2])
{
    static const float values[2][4] = {{1, -2.5f, 3e-3f, NAN}, {1, -2, 4e-3f, NAN}};
    static struct odb_tensor *made[2];
    for (size_t i = 0; i < 2; i++) {
        if (!made[i] && odb_tensor_new(&made[i], ODB_F32, 1, (int64_t[]){4}, NULL) == ODB_OK)
            memcpy(made[i]->data, values[i], sizeof values[i]);
        pair[i] = made[i];
    }
}

const char *fuzz_folder(void)
{
    static char *folder;
    if (folder)
        return folder;
    setenv("TMPDIR", "/dev/shm", 0); /* memory is faster than a disk */
    folder = odb_file_temporary("fuzz-");
    if (!mkdtemp(folder))
        abort();
    return folder;
}

void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(data, size, 1, file) != 1) || fclose(file))
        abort();
}

__attribute__((destructor)) static void fuzz_tidy(void)
{
    static const char *const files[] = {
        "session",        "session-wal", "session-shm", "session-journal",
        "dump_info.json", "a.npy",       "b.npy",       "a.pb",
        "a.bin",          "a.png",       "a.jpg",       "topoidx_00001__a_b.npy",
        "a.b~2.npy"};
    const char *folder = fuzz_folder();
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        char *path = odb_xasprintf("%s/%s", folder, files[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
}
