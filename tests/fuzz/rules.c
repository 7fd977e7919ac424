/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of tolerances by name, and what it says of a pair of tensors.
 */
#include "fuzz.h"

#include <unistd.h>

#include "engine/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_rules rules = {0};
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    if (odb_rules_read(&rules, path, &err) == ODB_OK) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_rules_th(&rules, "0003__encoder.0.npy", NULL);
        odb_rules_put(&rules, &text);
        odb_rules_put_unmet(&rules, &text);
        odb_buf_dispose(&text);
    }
    odb_rules_dispose(&rules);
    close(fd);
    return 0;
}
