/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dump_info.json: inputs that are made as in an earlier dump, and a folder of arrays whose names
 * the file tells.
 */
#include "fuzz.h"

#include <unistd.h>

#include "tensor/format/pyjson.h"
#include "dump/dump_info.h"
#include "executor/recorded/recording.h"

/* All that the recording has, by the names that it says. */
static void dump_info_look(struct odb_recording *recording)
{
    for (size_t i = 0; i < odb_recording_count(recording); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *t;
        const char *name = odb_recording_name(recording, i);
        size_t found = odb_recording_find(recording, name);
        if (found == ODB_RECORDING_NONE || strcmp(odb_recording_name(recording, found), name))
            abort();
        (void)odb_recording_find_file(recording, name);
        if (odb_recording_read(&t, recording, i, NULL, &err) == ODB_OK)
            fuzz_look_take(t);
    }
}

/* The arrays are there, under the names that dumps give their files. */
static void dump_info_recording(const uint8_t *data, size_t size)
{
    static const char *const arrays[] = {"a.npy", "b.npy", "topoidx_00001__a_b.npy", "a.b~2.npy"};
    static const char array[] = "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (1,), }                                              "
                                "             \n\0\0\x80\x3f";
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_recording *recording;
    for (size_t i = 0; i < ODB_COUNT(arrays); i++) {
        char *path = odb_xasprintf("%s/%s", fuzz_folder(), arrays[i]);
        if (access(path, F_OK) != 0)
            fuzz_write(path, (const uint8_t *)array, sizeof array - 1);
        free(path);
    }
    char *path = odb_xasprintf("%s/%s", fuzz_folder(), ODB_DUMP_INFO);
    fuzz_write(path, data, size);
    free(path);
    if (odb_recording_open(&recording, fuzz_folder(), false, &err) == ODB_OK) {
        dump_info_look(recording);
        odb_recording_close(recording);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_dump_input input;
    json_t *info = NULL;
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    if (odb_pyjson_load(&info, path, &err) == ODB_OK) {
        const json_t *list = json_object_get(info, "input_info");
        size_t i;
        json_t *entry;
        json_array_foreach(list, i, entry) {
            const char *name = json_string_value(json_object_get(entry, "input_name"));
            if (name && odb_dump_info_input(&input, list, name, &err) == ODB_OK &&
                (input.rank < 0 || input.rank > ODB_MAX_RANK))
                abort();
        }
        json_decref(info);
    }
    close(fd);
    dump_info_recording(data, size);
    return 0;
}
