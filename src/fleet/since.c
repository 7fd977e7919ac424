/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/since.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    bool gates;
} since_rows[] = {
#define SINCE_ROW(name, word, gates) [ODB_SINCE_##name] = {word, gates},
    ODB_SINCE_LIST(SINCE_ROW)
#undef SINCE_ROW
};

const char *odb_since_word(enum odb_since_kind kind)
{
    return since_rows[kind].word;
}

bool odb_since_gates(enum odb_since_kind kind)
{
    return since_rows[kind].gates;
}

static bool since_has(const struct odb_causes *causes, const struct odb_cause *cause, size_t model)
{
    for (size_t i = 0; i < causes->list.n; i++)
        if (odb_cause_same(&causes->list.items[i], cause) &&
            odb_cause_is_in(&causes->list.items[i], model))
            return true;
    return false;
}

/* The first cause that a model has now and had not; NULL: none. */
static const struct odb_cause *since_came(const struct odb_causes *now, size_t model,
                                          const struct odb_causes *then, size_t before)
{
    for (size_t i = 0; i < now->list.n; i++)
        if (odb_cause_is_in(&now->list.items[i], model) &&
            !since_has(then, &now->list.items[i], before))
            return &now->list.items[i];
    return NULL;
}

static void since_add(struct odb_since *out, enum odb_since_kind kind, const char *name,
                      enum odb_fleet_verdict was, enum odb_fleet_verdict is,
                      const struct odb_cause *cause)
{
    struct odb_since_change change = {kind, odb_xstrdup(name), was, is,
                                      cause ? odb_xstrdup(cause->title) : NULL};
    odb_push(&out->changes, change);
}

void odb_since_find(struct odb_since *out, const struct odb_fleet *was, const struct odb_fleet *is,
                    const struct odb_causes *causes)
{
    struct odb_causes then;
    *out = (struct odb_since){0};
    odb_causes_find(&then, was);
    for (size_t i = 0; i < is->models.n; i++) {
        const struct odb_fleet_model *now = &is->models.items[i];
        const struct odb_fleet_model *before = odb_fleet_find(was, now->name);
        size_t at = before ? (size_t)(before - was->models.items) : SIZE_MAX;
        enum odb_fleet_verdict had = before ? before->verdict : ODB_FLEET_QUEUED;
        const struct odb_cause *came = since_came(causes, i, &then, at);
        /* What was not searched, now or then, may have the cause that it had. */
        bool open = (came && !strcmp(came->base, ODB_CAUSE_OPEN)) ||
                    (before && before->stage != ODB_FLEET_SEARCHED);
        if (odb_fleet_fails(now->verdict) && !odb_fleet_fails(had))
            since_add(out, ODB_SINCE_NEW, now->name, had, now->verdict, came);
        else if (odb_fleet_fails(now->verdict) && ((came && !open) || now->verdict != had))
            since_add(out, ODB_SINCE_CHANGED, now->name, had, now->verdict, came);
        else if ((now->verdict == ODB_FLEET_NONE || now->verdict == ODB_FLEET_QUEUED) && before &&
                 had != now->verdict)
            since_add(out, ODB_SINCE_LOST, now->name, had, now->verdict, came);
        else if (now->verdict == ODB_FLEET_PASS && odb_fleet_fails(had))
            since_add(out, ODB_SINCE_MENDED, now->name, had, now->verdict, NULL);
    }
    for (size_t i = 0; i < was->models.n; i++)
        if (!odb_fleet_find(is, was->models.items[i].name))
            since_add(out, ODB_SINCE_GONE, was->models.items[i].name, was->models.items[i].verdict,
                      ODB_FLEET_QUEUED, NULL);
    odb_causes_dispose(&then);
}

void odb_since_dispose(struct odb_since *since)
{
    for (size_t i = 0; i < since->changes.n; i++) {
        free(since->changes.items[i].name);
        free(since->changes.items[i].cause);
    }
    free(since->changes.items);
    *since = (struct odb_since){0};
}

size_t odb_since_count(const struct odb_since *since, enum odb_since_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < since->changes.n; i++)
        n += since->changes.items[i].kind == kind;
    return n;
}
