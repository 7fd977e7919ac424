/* SPDX-License-Identifier: MIT */
#include "executor/programs/program_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WORDS_OWN "arg." /* options of the program, which a sweep can vary */

void odb_program_words(struct odb_argv *words, const struct odb_spec *spec)
{
    size_t n = strlen(WORDS_OWN);
    odb_argv_split(words, spec->arg ? spec->arg : "");
    odb_argv_find_files(words);
    for (size_t i = 0; i < spec->n_options && words->list.n; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (strncmp(option->key, WORDS_OWN, n) != 0)
            continue;
        char *word =
            odb_xasprintf("--%s%s%s", option->key + n, option->value[0] ? "=" : "", option->value);
        odb_argv_add(words, word);
        free(word);
    }
}
