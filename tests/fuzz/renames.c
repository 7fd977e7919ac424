/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A map of names, and what it says of names, among them those that it holds.
 */
#include "fuzz.h"

#include <unistd.h>

#include "executor/recorded/renames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "a", "conv1", "encoder.layer.0.attention", "aaaaaaaaa"};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_renames *renames;
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path), line;
    if (odb_renames_read(&renames, path, &err) == ODB_OK) {
        for (size_t i = 0; i < ODB_COUNT(names); i++)
            free(odb_renames_apply(renames, names[i], &line));
        char *own = fuzz_text(data, size);
        own[strcspn(own, " =\n")] = '\0';
        free(odb_renames_apply(renames, own, NULL));
        free(own);
        odb_renames_free(renames);
    }
    close(fd);
    return 0;
}
