/* SPDX-License-Identifier: MIT
 *
 * Specs in files. A session says what it was made with, and a session may come from a stranger: to
 * follow such a spec must not start a program, load a library, reach a host, nor read or write a
 * file that the spec names (what is read ends up in what is exported). So an executor's row lists
 * what may be followed, and whatever is not in it, as any new executor or option, has to be given
 * by the user himself.
 */
#include "executor/executor.h"

#include <string.h>

/* Wrappers in wrappers run what they wrap several times each. */
#define TRUST_WRAPPED 4 /* executors around one */

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
    const char *plain = odb_spec_option(spec, ODB_SPEC_PLAIN);
    if (plain && !odb_executor_trusted(plain))
        return false;
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

struct trust {
    bool trusted; /* so far */
    int depth;
};

static bool trust_visit(const struct odb_spec *spec, void *payload)
{
    struct trust *trust = payload;
    const char *options = spec->row ? spec->row->trusted : NULL;
    trust->trusted = trust->depth++ <= TRUST_WRAPPED && options && trust_options(spec, options);
    return trust->trusted;
}

bool odb_executor_trusted(const char *text)
{
    struct trust trust = {.trusted = false};
    return odb_spec_walk(text, trust_visit, &trust, NULL) == ODB_OK && trust.trusted;
}
