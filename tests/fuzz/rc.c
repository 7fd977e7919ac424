/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of keys.
 */
#include "fuzz.h"

#include "ui/view/keymap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct ui_keymap *keymap = odb_new(struct ui_keymap);
    char *text = fuzz_text(data, size);
    if (ui_keymap_read(keymap, "rc", text, &err) != ODB_OK && !err.code)
        abort();
    ui_keymap_find(keymap, "nodes", 'j');
    ui_keymap_free(keymap);
    free(text);
    return 0;
}
