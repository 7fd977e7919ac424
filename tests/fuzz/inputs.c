/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a model is fed, as command lines say it, and a file that it is read from. Lines up to an
 * empty one are options: --dim where one begins with "d ", --inputs-from after "f ", --input after
 * "i "; "@" stands for the file's path without its ending. What follows is the file, which has
 * every ending that tells of a format.
 */
#include "fuzz.h"

#include <ctype.h>
#include <unistd.h>

#include "inputs/inputs.h"
#include "inputs/input_file.h"
#include "model/write/build.h"
#include "model/read/load.h"

#define INPUTS_LINES 8
#define INPUTS_DIGITS 3 /* of numbers, where a tensor of such a size is made */

static struct odb_model *inputs_model(void)
{
    struct odb_builder *b = odb_build_new("fed", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model;
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){-1, 3, 4, 4});
    odb_build_input(b, "ids", ODB_I64, 2, (int64_t[]){-1, -1});
    odb_build_input(b, "a=b:c", ODB_BOOL, 1, (int64_t[]){2});
    odb_build_input(b, "words", ODB_STRING, 1, (int64_t[]){2});
    odb_build_node(b, "Exp", "n", "x", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    if (odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, "/nowhere", "fed", NULL) !=
        ODB_OK)
        abort();
    odb_buf_dispose(&bytes);
    return model;
}

/* One file under many names; returns the part that they share. */
static const char *inputs_file(const uint8_t *data, size_t size)
{
    static const char *const endings[] = {"pb", "bin", "png", "jpg"};
    static char *stem, *first;
    if (!stem) {
        stem = odb_xasprintf("%s/a", fuzz_folder());
        first = odb_xasprintf("%s.npy", stem);
        fuzz_write(first, NULL, 0);
        for (size_t i = 0; i < ODB_COUNT(endings); i++) {
            char *path = odb_xasprintf("%s.%s", stem, endings[i]);
            if (link(first, path))
                abort();
            free(path);
        }
    }
    fuzz_write(first, data, size);
    return stem;
}

static char *inputs_line(const char *line, size_t n, const char *stem)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        if (line[i] == '@')
            odb_buf_puts(&out, stem);
        else if (line[i] != '/') /* no other file is input */
            odb_buf_putc(&out, line[i]);
    char *text = odb_buf_take(&out);
    return text ? text : odb_xstrdup("");
}

static bool inputs_are_small(const char *text)
{
    size_t digits = 0;
    for (; *text && digits <= INPUTS_DIGITS; text++)
        digits = isdigit((unsigned char)*text) || strchr("eExX", *text) ? digits + 1 : 0;
    return digits <= INPUTS_DIGITS;
}

static void inputs_try(const struct odb_input_options *options, bool small)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model = inputs_model();
    struct odb_feeds *feeds;
    enum odb_status checked = odb_feeds_check(model, options, &err);
    if (small && odb_feeds_make(&feeds, model, options, &err) == ODB_OK) {
        if (checked != ODB_OK)
            abort();
        for (size_t i = 0; i < feeds->n; i++)
            fuzz_look_take(odb_tensor_ref(feeds->items[i].tensor));
        odb_feeds_free(feeds);
    }
    odb_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *lists[2][INPUTS_LINES], *from = NULL;
    char *texts[INPUTS_LINES];
    size_t n[2] = {0, 0}, n_texts = 0;
    char *all = fuzz_text(data, size), *line = all;
    const char *body = strstr(all, "\n\n");
    size_t head = body ? (size_t)(body - all) : strlen(all);
    const char *stem = inputs_file(data + ODB_MIN(head + 2, size), size - ODB_MIN(head + 2, size));
    bool small = true;
    all[head] = '\0';
    while (line && n_texts < INPUTS_LINES) {
        size_t len = strcspn(line, "\n");
        char *text = inputs_line(line + ODB_MIN(len, 2), len - ODB_MIN(len, 2), stem);
        texts[n_texts++] = text;
        small = small && inputs_are_small(text);
        if (*line == 'f')
            from = text;
        else if (small || *line == 'd')
            lists[*line == 'd'][n[*line == 'd']++] = text;
        free(odb_input_whole(text));
        line = line[len] ? line + len + 1 : NULL;
    }
    const struct odb_input_options options = {.inputs = lists[0],
                                              .n_inputs = n[0],
                                              .inputs_from = from,
                                              .dims = lists[1],
                                              .n_dims = n[1],
                                              .seed = 42};
    inputs_try(&options, small);
    for (size_t i = 0; i < n_texts; i++)
        free(texts[i]);
    free(all);
    return 0;
}
