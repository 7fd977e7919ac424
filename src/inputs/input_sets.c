/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where inputs lie: folders that hold a set each, or pictures, each of which is one.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "system/file.h"
#include "inputs/input_int.h"
#include "inputs/inputs.h"

static bool sets_is_npy(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".npy");
}

static int sets_by_version(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static int sets_is_set(const struct dirent *entry)
{
    static const char *const words[] = {"test_data_set_", "step_"};
    for (size_t i = 0; i < ODB_COUNT(words); i++) {
        const char *number = entry->d_name + strlen(words[i]);
        if (!strncmp(entry->d_name, words[i], strlen(words[i])) && *number &&
            !number[strspn(number, "0123456789")])
            return true;
    }
    return false;
}

static int sets_is_input(const struct dirent *entry)
{
    return !strcmp(entry->d_name, "input_0.pb") || sets_is_npy(entry->d_name);
}

static int sets_is_picture(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && odb_input__is_image(entry->d_name);
}

static void sets_free_entries(struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

/* "image(DIR" and the rest, or a folder alone. */
static char *sets_folder(const char *text, const char **rest)
{
    size_t call = odb_input__pictures(text), n = strlen(text);
    if (call)
        n = call + strcspn(text + call, ",)");
    *rest = text + n;
    return odb_xstrndup(text + call, n - call);
}

char **odb_input_sets(const char *text, size_t *n)
{
    struct dirent **own = NULL, **sets = NULL;
    const char *rest;
    char *dir = sets_folder(text, &rest);
    int n_own = scandir(dir, &own, sets_is_input, NULL);
    int found = n_own || *rest ? 0 : scandir(dir, &sets, sets_is_set, sets_by_version);
    if (!n_own && !found)
        found = scandir(dir, &sets, sets_is_picture, sets_by_version);
    char **paths = odb_new_n(char *, (size_t)ODB_MAX(found, 0) + 1);
    for (int i = 0; i < found; i++)
        paths[i] = odb_xasprintf("%.*s%s/%s%s", (int)odb_input__pictures(text), text, dir,
                                 sets[i]->d_name, rest);
    *n = (size_t)ODB_MAX(found, 0);
    sets_free_entries(own, n_own);
    sets_free_entries(sets, found);
    free(dir);
    return paths;
}
