/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/fleet/fleet_commands.h"

#include <stdlib.h>
#include <string.h>

#include "command/table/command.h"
#include "command/table/command_find.h"
#include "ui/view/keymap.h"

bool ui_fleet_takes(const struct odb_command *command)
{
    static const enum odb_screen_id screen[] = {
        ODB_SCREEN_UP,      ODB_SCREEN_DOWN,       ODB_SCREEN_PAGE_UP,    ODB_SCREEN_PAGE_DOWN,
        ODB_SCREEN_HALF_UP, ODB_SCREEN_HALF_DOWN,  ODB_SCREEN_ROW,        ODB_SCREEN_CENTRE,
        ODB_SCREEN_TOP,     ODB_SCREEN_BOTTOM,     ODB_SCREEN_OPEN,       ODB_SCREEN_BACK,
        ODB_SCREEN_SHOW,    ODB_SCREEN_FILTER,     ODB_SCREEN_SORT,       ODB_SCREEN_FOLD,
        ODB_SCREEN_BY,      ODB_SCREEN_GO_ON,      ODB_SCREEN_RELOAD,     ODB_SCREEN_SEARCH,
        ODB_SCREEN_WRITE,   ODB_SCREEN_NEXT_MATCH, ODB_SCREEN_PREV_MATCH, ODB_SCREEN_PAGE,
        ODB_SCREEN_EDIT,    ODB_SCREEN_COPY,       ODB_SCREEN_THEME,      ODB_SCREEN_MOUSE,
        ODB_SCREEN_PROMPT,  ODB_SCREEN_CANCEL,     ODB_SCREEN_REDRAW,     ODB_SCREEN_SUSPEND,
        ODB_SCREEN_CLOSE,   ODB_SCREEN_QUIT};
    static const char *const others[] = {"help", "shell"};
    for (size_t i = 0; i < ODB_COUNT(screen); i++)
        if (command->screen == screen[i])
            return true;
    for (size_t i = 0; i < ODB_COUNT(others); i++)
        if (!strcmp(command->name, others[i]))
            return true;
    return false;
}

/* Of views that are there, and that show no model. */
static bool commands_keep(const struct ui_binding *binding)
{
    static const char *const views[] = {"all", "fleet", "help", "choose", "output"};
    const struct odb_command *command = NULL;
    bool view = false;
    for (size_t i = 0; i < ODB_COUNT(views); i++)
        view |= !strcmp(binding->view, views[i]);
    char *word = odb_xstrndup(binding->command, strcspn(binding->command, " "));
    bool known = odb_command_find(&command, word, true, NULL) == ODB_OK;
    free(word);
    if (!view || !known || !ui_fleet_takes(command))
        return false;
    if (command->screen == ODB_SCREEN_SHOW) /* most views are of a model */
        for (size_t i = 0; i < ODB_COUNT(views); i++)
            if (!strcmp(binding->command + strlen(command->name), "") ||
                !strcmp(binding->command + strlen(command->name) + 1, views[i]))
                return true;
    if (command->screen == ODB_SCREEN_COPY)
        return strstr(binding->command, "row") || strstr(binding->command, "view");
    return command->screen != ODB_SCREEN_SHOW &&
           (command->screen != ODB_SCREEN_PROMPT || !strcmp(binding->command, command->name));
}

void ui_fleet_trim_keys(struct ui_keymap *keymap)
{
    size_t kept = 0;
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        struct ui_binding *binding = &keymap->bindings.items[i];
        if (commands_keep(binding)) {
            keymap->bindings.items[kept++] = *binding;
            continue;
        }
        free(binding->view);
        free(binding->command);
        free(binding->hint);
        free(binding->words);
    }
    keymap->bindings.n = kept;
}
