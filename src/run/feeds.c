/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/feeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/file.h"
#include "base/map.h"
#include "base/mem.h"

struct odb_feeds *odb_feeds_new(const struct odb_model *model)
{
    struct odb_feeds *feeds = odb_new(struct odb_feeds);
    feeds->items = odb_new_n(struct odb_feed, model->graph->n_inputs + 1);
    feeds->warnings = odb_xstrdup("");
    feeds->step = ODB_NO_STEP;
    return feeds;
}

void odb_feeds_add(struct odb_feeds *feeds, int value, const struct odb_tensor *t,
                   const char *source)
{
    struct odb_feed *feed = &feeds->items[feeds->n++];
    *feed = (struct odb_feed){.value = value, .tensor = odb_tensor_ref(t)};
    snprintf(feed->source, sizeof feed->source, "%s", source);
}

void odb_feeds_free(struct odb_feeds *feeds)
{
    if (!feeds)
        return;
    for (size_t i = 0; i < feeds->n; i++)
        odb_tensor_unref(feeds->items[i].tensor);
    free(feeds->items);
    free(feeds->warnings);
    free(feeds->chosen);
    free(feeds);
}

size_t odb_feeds_border(const struct odb_feeds *feeds, const struct odb_graph *graph,
                        const bool *nodes, int *list)
{
    size_t n = odb_graph_segment_inputs(graph, nodes, list);
    for (size_t f = 0; f < feeds->n; f++) {
        const struct odb_value *value = &graph->values[feeds->items[f].value];
        bool read = false;
        for (size_t c = 0; c < value->n_consumers && value->init; c++)
            read |= nodes[value->consumers[c]];
        if (read)
            list[n++] = value->index;
    }
    return n;
}

/* The name, or the first with a number behind it, that is not taken yet. */
static char *feeds_take_free(struct odb_map *taken, char *file)
{
    char *free_one = odb_xstrdup(file);
    for (size_t k = 1; !odb_map_add(taken, free_one, 0); k++) {
        free(free_one);
        free_one = odb_xasprintf("%s~%zu", file, k);
    }
    free(file);
    return free_one;
}

char *odb_feed_file(const struct odb_graph *graph, int value)
{
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds), at = 0;
    const char *own = graph->values[value].name;
    while (at < n && feeds[at] != value)
        at++;
    if (at == n) /* the model has a value for it */
        feeds[n++] = value;
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
            file = feeds_take_free(taken, file);
    }
    odb_map_free(taken);
    free(feeds);
    return file;
}
