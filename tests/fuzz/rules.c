/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of tolerances by name, and what it says of a pair of tensors.
 */
#include "fuzz.h"

#include <unistd.h>

#include "judge/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_rules rules = {0};
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    if (odb_rules_read(&rules, path, &err) == ODB_OK) {
        static const char *const names[] = {"topoidx_00003__encoder.0.npy", "logits.pb", "x"};
        const struct odb_tensor *pair[2];
        struct odb_buf text = ODB_BUF_INIT;
        fuzz_pair(pair);
        for (size_t i = 0; i < ODB_COUNT(names); i++) {
            struct odb_measured m = {.evaluated = pair[0], .base = pair[1]};
            m.options.th = odb_rules_th(&rules, names[i], pair[1]);
            odb_buf_clear(&text);
            odb_rules_judge(&rules, names[i], &m, &text);
            fuzz_check_shown(&text);
        }
        odb_buf_clear(&text);
        odb_rules_put(&rules, &text);
        fuzz_check_shown(&text);
        odb_rules_put_unmet(&rules, &text);
        odb_buf_dispose(&text);
    }
    odb_rules_dispose(&rules);
    close(fd);
    return 0;
}
