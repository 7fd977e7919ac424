/* SPDX-License-Identifier: MIT
 *
 * Specs in files. A session says what it was made with, and a session may come from a stranger: to
 * follow such a spec must not start a program, load a library, reach a host, nor read or write a
 * file that the spec names (what is read ends up in what is exported). So there is a list of what
 * may be followed, and whatever is not in it, as any new executor or option, has to be given by the
 * user himself.
 */
#include "executor/executor.h"

#include <string.h>

#define TRUST_WRAPPED 4 /* executors around one */

/* "*": all options, and the argument; else those keys, parted by blanks, and no argument. */
static const struct {
    const char *kind, *options;
} trust_rows[] = {
    {"cpu", "*"},
    {"fault", "*"}, /* what it wraps is looked at on its own */
    {"ort", "opt threads inter_threads mode ep provider arena mem_pattern deterministic"},
    {"numpy", ""},
    {"opencv", "backend target fusion threads"},
    {"torch", "precision device threads"},
};

static bool trust_lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == n && !strncmp(p, word, n))
            return true;
    return false;
}

static bool trust_options(const struct odb_spec *spec, const char *options)
{
    if (!strcmp(options, "*"))
        return true;
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (odb_spec_row(odb_spec_common, option->key))
            continue;
        if (!trust_lists(options, option->key) || strchr(option->value, '/'))
            return false;
    }
    return !spec->arg || trust_lists(options, ":");
}

/* Wrappers in wrappers run what they wrap several times each. */
static bool trust_spec(const char *text, int wrapped)
{
    struct odb_spec *spec;
    bool trusted = false;
    if (wrapped > TRUST_WRAPPED || odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return false;
    for (size_t i = 0; i < ODB_COUNT(trust_rows); i++)
        if (!strcmp(trust_rows[i].kind, spec->kind))
            trusted = trust_options(spec, trust_rows[i].options);
    if (spec->inner)
        trusted = trusted && trust_spec(spec->inner, wrapped + 1);
    odb_spec_free(spec);
    return trusted;
}

bool odb_executor_trusted(const char *text)
{
    return trust_spec(text, 0);
}
