/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/quoting.h"
#include "onnxdbgrc.h"
#include "system/file.h"
#include "ui/terminal/key.h"

/* Views that can have keys; "all" stands for each of them. */
static bool keymap_is_view(const char *name)
{
    size_t len = strlen(name);
    if (!strcmp(name, "all"))
        return true;
    for (const char *p = ODB_VIEWS; len && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strcspn(p, "|") == len && !strncmp(p, name, len))
            return true;
    return false;
}

static void keymap_dispose(struct ui_binding *binding)
{
    free(binding->view);
    free(binding->command);
    free(binding->hint);
    free(binding->words);
}

static void keymap_bind_take(struct ui_keymap *keymap, struct ui_binding binding)
{
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        struct ui_binding *old = &keymap->bindings.items[i];
        if (old->key == binding.key && !strcmp(old->view, binding.view)) {
            keymap_dispose(old);
            *old = binding;
            return;
        }
    }
    odb_push(&keymap->bindings, binding);
}

/* The next word of a line; NULL at its end. */
static char *keymap_word(const char **line)
{
    *line += strspn(*line, " \t");
    size_t n = strcspn(*line, " \t");
    char *word = n ? odb_xstrndup(*line, n) : NULL;
    *line += n;
    return word;
}

/* What stands behind the last " # ", and cuts it off. */
static char *keymap_hint(char *command)
{
    char *hash = NULL, *hint = NULL;
    for (char *p = strstr(command, " # "); p; p = strstr(p + 1, " # "))
        hash = p;
    if (hash) {
        hint = odb_xstrdup(hash + 3 + strspn(hash + 3, " "));
        *hash = '\0';
    }
    for (size_t n = strlen(command); n && command[n - 1] == ' '; n--)
        command[n - 1] = '\0';
    return hint;
}

/* What stands behind a semicolon in the hint, which loses it, and is none where nothing is left. */
static char *keymap_words(char **hint)
{
    char *end = *hint ? strchr(*hint, ';') : NULL, *words = NULL;
    if (!end)
        return NULL;
    words = odb_xstrdup(end + 1 + strspn(end + 1, " "));
    while (end > *hint && end[-1] == ' ')
        end--;
    *end = '\0';
    if (end == *hint) {
        free(*hint);
        *hint = NULL;
    }
    return words;
}

static enum odb_status keymap_check(const struct ui_binding *binding, const char *key,
                                    struct odb_error *err)
{
    const struct odb_command *command;
    char **argv = NULL;
    int argc;
    if (!keymap_is_view(binding->view)) {
        odb_fail(err, ODB_E_USAGE, "there is no view '%.40s'", binding->view);
        return odb_error_remedy(err, "choose all|%s", ODB_VIEWS);
    }
    if (binding->key == UI_KEY_NONE) {
        odb_fail(err, ODB_E_USAGE, "there is no key '%.40s'", key);
        return odb_error_remedy(err, "keys are written as j, C-c, M-x, Enter, PgDn, F1");
    }
    enum odb_status status = odb_words_split(&argv, &argc, binding->command, err);
    if (status == ODB_OK && !argc)
        status = odb_fail(err, ODB_E_USAGE, "no command is bound to %.40s", key);
    if (status == ODB_OK)
        status = odb_command_find(&command, argv[0], true, err);
    free(argv);
    return status;
}

/* A command that is given at the beginning. */
static enum odb_status keymap_start(struct ui_keymap *keymap, const char *verb, const char *line,
                                    const char *place, struct odb_error *err)
{
    const struct odb_command *command;
    if (odb_command_find(&command, verb, true, NULL) != ODB_OK) {
        odb_fail(err, ODB_E_USAGE, "'%.40s' is no binding, and no command", verb);
        return odb_error_remedy(err, "write bind VIEW KEY COMMAND, or a command");
    }
    if (command->flags & ODB_COMMAND_LONG) {
        odb_fail(err, ODB_E_USAGE, "%s takes too long for the beginning", command->name);
        return odb_error_remedy(err, "bind it to a key, or give it by -x");
    }
    struct ui_start start = {.command = odb_xstrdup(line), .place = odb_xstrdup(place)};
    free(keymap_hint(start.command));
    odb_push(&keymap->starts, start);
    return ODB_OK;
}

static enum odb_status keymap_line(struct ui_keymap *keymap, const char *line, const char *place,
                                   struct odb_error *err)
{
    const char *whole = line;
    char *verb = keymap_word(&line);
    enum odb_status status = ODB_OK;
    if (!verb || *verb == '#') {
        free(verb);
        return ODB_OK;
    }
    if (strcmp(verb, "bind")) {
        status = keymap_start(keymap, verb, whole, place, err);
        free(verb);
        return status;
    }
    struct ui_binding binding = {.view = keymap_word(&line)};
    char *key = keymap_word(&line);
    binding.command = odb_xstrdup(line + strspn(line, " \t"));
    binding.hint = keymap_hint(binding.command);
    binding.words = keymap_words(&binding.hint);
    binding.key = key ? ui_key_parse(key) : UI_KEY_NONE;
    if (!binding.view || !key) {
        status = odb_fail(err, ODB_E_USAGE, "this is no binding");
        odb_error_remedy(err, "write bind VIEW KEY COMMAND");
    } else {
        status = keymap_check(&binding, key, err);
    }
    if (status == ODB_OK)
        keymap_bind_take(keymap, binding);
    else
        keymap_dispose(&binding);
    free(verb);
    free(key);
    return status;
}

enum odb_status ui_keymap_read(struct ui_keymap *keymap, const char *name, const char *text,
                               struct odb_error *err)
{
    enum odb_status first = ODB_OK;
    for (int number = 1; *text; number++) {
        size_t n = strcspn(text, "\n");
        char *line = odb_xstrndup(text, n), *place = odb_xasprintf("%s: line %d", name, number);
        enum odb_status status = keymap_line(keymap, line, place, first == ODB_OK ? err : NULL);
        if (status != ODB_OK && first == ODB_OK) {
            odb_error_at(err, "%s", place);
            first = status;
        }
        free(place);
        free(line);
        text += n + (text[n] == '\n');
    }
    return first;
}

static enum odb_status keymap_read_file(struct ui_keymap *keymap, const char *path,
                                        struct odb_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return ODB_OK;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        return odb_error_at(err, "%s", path);
    bool empty = getdelim(&text, &size, '\0', file) < 0;
    fclose(file);
    status = ui_keymap_read(keymap, path, empty ? "" : text, err);
    free(text);
    return status;
}

enum odb_status ui_keymap_load(struct ui_keymap **out, struct odb_error *err)
{
    struct ui_keymap *keymap = odb_new(struct ui_keymap);
    char *path = odb_file_home("XDG_CONFIG_HOME", ".config", "onnxdbgrc");
    enum odb_status status = ui_keymap_read(keymap, "built-in keys", keymap_builtin, err);
    if (status == ODB_OK && path)
        status = keymap_read_file(keymap, path, err);
    free(path);
    *out = keymap;
    return status;
}

void ui_keymap_free(struct ui_keymap *keymap)
{
    if (!keymap)
        return;
    for (size_t i = 0; i < keymap->bindings.n; i++)
        keymap_dispose(&keymap->bindings.items[i]);
    for (size_t i = 0; i < keymap->starts.n; i++) {
        free(keymap->starts.items[i].command);
        free(keymap->starts.items[i].place);
    }
    free(keymap->starts.items);
    free(keymap->bindings.items);
    free(keymap);
}

const struct ui_binding *ui_keymap_find(const struct ui_keymap *keymap, const char *view, int key)
{
    const struct ui_binding *found = NULL;
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        const struct ui_binding *binding = &keymap->bindings.items[i];
        if (binding->key != key)
            continue;
        if (!strcmp(binding->view, view))
            return binding;
        if (!strcmp(binding->view, "all"))
            found = binding;
    }
    return found;
}

int ui_keymap_key(const struct ui_keymap *keymap, const char *view, const char *command)
{
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        const struct ui_binding *binding = &keymap->bindings.items[i];
        if (!strcmp(binding->view, view) && !strcmp(binding->command, command))
            return binding->key;
    }
    return 0;
}

bool ui_keymap_begins(const struct ui_keymap *keymap, const char *view, int key)
{
    if (ui_keymap_find(keymap, view, key))
        return false;
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        const struct ui_binding *binding = &keymap->bindings.items[i];
        if (ui_key_first(binding->key) == key && key &&
            (!strcmp(binding->view, view) || !strcmp(binding->view, "all")))
            return true;
    }
    return false;
}
