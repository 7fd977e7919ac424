/* SPDX-License-Identifier: MIT */
#include "executor/transport/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "executor/executor.h"

enum odb_status odb_link_wrong(const struct odb_spec *spec, const char *what, struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "%s", what);
    odb_error_at(err, "%s", spec->text);
    return odb_error_remedy(err, "%s", spec->row->transport->syntax);
}

enum odb_status odb_link_parse(struct odb_link *out, const struct odb_spec *spec,
                               struct odb_error *err)
{
    const struct odb_transport *transport = spec->row->transport;
    char what[64];
    bool named = spec->arg && spec->arg[strspn(spec->arg, " ")];
    snprintf(what, sizeof what, named ? "no executor is named for the %s" : "no %s is named",
             transport->what);
    if (!named || !spec->inner)
        return odb_link_wrong(spec, what, err);
    *out = (struct odb_link){.transport = transport};
    enum odb_status status = transport->parse(out, spec, err);
    if (status != ODB_OK)
        odb_link_dispose(out);
    return status;
}

void odb_link_dispose(struct odb_link *link)
{
    free(link->where);
    free(link->port);
    *link = (struct odb_link){0};
}

bool odb_link_explain(const struct odb_link *link, int how, const char *words, const char *doing,
                      struct odb_error *err)
{
    if (doing)
        odb_fail(err, ODB_E_IO, "%s %s was lost while %s", link->transport->lost, link->where,
                 doing);
    else
        link->transport->no_answer(link, how >= 0 && WIFEXITED(how) ? WEXITSTATUS(how) : -1,
                                   how >= 0 && WIFSIGNALED(how) ? WTERMSIG(how) : 0, words, err);
    return doing != NULL;
}

/* --- several places --------------------------------------------------------------------------- */

/* The text between ':' and ',', as it was written; "": none. */
static char *link_places(const struct odb_spec *spec)
{
    const char *from = strchr(spec->text, ':');
    size_t behind = spec->inner ? strlen(spec->inner) + 1 : 0;
    if (!spec->row || !spec->row->transport || !from || !behind)
        return odb_xstrdup("");
    return odb_xstrndup(from + 1, strlen(from + 1) - behind);
}

size_t odb_link_count(const struct odb_spec *spec)
{
    char *places = link_places(spec);
    size_t n = 1;
    for (const char *p = places; places[0] && (p = strstr(p, spec->row->transport->between)); n++)
        p += strlen(spec->row->transport->between);
    free(places);
    return n;
}

char *odb_link_spec(const struct odb_spec *spec, size_t i)
{
    char *places = link_places(spec), *from = places;
    if (!places[0]) {
        free(places);
        return odb_xstrdup(spec->text);
    }
    const char *between = spec->row->transport->between, *also = spec->row->transport->also;
    for (; i > 0; i--)
        from = strstr(from, between) + strlen(between);
    char *end = strstr(from, between);
    if (end)
        *end = '\0';
    from += strspn(from, " ");
    bool whole = also && !strncmp(from, also, strlen(also));
    char *text =
        odb_xasprintf("%s%s%s,%s", whole ? "" : spec->kind, whole ? "" : ":", from, spec->inner);
    free(places);
    return text;
}

enum odb_status odb_link_not_here(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    const char *kind = spec->kind, *place = spec->row->transport->place;
    odb_fail(err, ODB_E_USAGE, "%s: stands at the very beginning of a spec", kind);
    odb_error_at(err, "%s", spec->text);
    return odb_error_remedy(err, "write %s:%s,fault:...@SPEC for fault:...@%s:%s,SPEC", kind, place,
                            kind, place);
}
