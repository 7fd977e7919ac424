/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where inputs lie: folders that hold a set each, and files in them.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "engine/inputs.h"

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
    const char *name = entry->d_name, *number = name + strlen("test_data_set_");
    return !strncmp(name, "test_data_set_", (size_t)(number - name)) && *number &&
           !number[strspn(number, "0123456789")];
}

static int sets_is_input(const struct dirent *entry)
{
    return !strcmp(entry->d_name, "input_0.pb") || sets_is_npy(entry->d_name);
}

static void sets_free_entries(struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

char **odb_input_sets(const char *dir, size_t *n)
{
    struct dirent **own = NULL, **sets = NULL;
    int n_own = scandir(dir, &own, sets_is_input, NULL);
    int found = n_own ? 0 : scandir(dir, &sets, sets_is_set, sets_by_version);
    char **paths = odb_new_n(char *, (size_t)ODB_MAX(found, 0) + 1);
    for (int i = 0; i < found; i++)
        paths[i] = odb_xasprintf("%s/%s", dir, sets[i]->d_name);
    *n = (size_t)ODB_MAX(found, 0);
    sets_free_entries(own, n_own);
    sets_free_entries(sets, found);
    return paths;
}

/* The name, or the first with a number behind it, that nobody has yet. */
static char *sets_take_free(struct odb_map *taken, char *file)
{
    char *free_one = odb_xstrdup(file);
    for (size_t k = 1; !odb_map_add(taken, free_one, 0); k++) {
        free(free_one);
        free_one = odb_xasprintf("%s~%zu", file, k);
    }
    free(file);
    return free_one;
}

char *odb_feed_file(const struct odb_graph *graph, size_t at)
{
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    const char *own = graph->values[feeds[at]].name;
    char *file = odb_file_name(own);
    struct odb_map *taken = odb_map_new();
    bool as_it_is = strcmp(own, file) == 0;
    for (size_t i = 0; i < n && !as_it_is; i++)
        odb_map_add(taken, graph->values[feeds[i]].name, i); /* no file's name does no harm */
    for (size_t i = 0; i <= at && !as_it_is; i++) {
        const char *name = graph->values[feeds[i]].name;
        free(file);
        file = odb_file_name(name);
        if (strcmp(name, file) != 0)
            file = sets_take_free(taken, file);
    }
    odb_map_free(taken);
    free(feeds);
    return file;
}
