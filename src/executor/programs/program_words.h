/* SPDX-License-Identifier: MIT
 *
 * The command line of a program that a spec names.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_PROGRAM_WORDS_H
#define ODB_EXECUTOR_PROGRAMS_PROGRAM_WORDS_H

#include "executor/spec.h"
#include "executor/transport/program.h"

/* The row of an executor's options. */
#define ODB_PROGRAM_WORDS_OPTION                                                                   \
    {                                                                                              \
        "arg.*", "VALUE", NULL, "a word for the program: arg.level=3 is --level=3", false          \
    }

/* The argument's words, of which files become absolute, and behind them the options that are for
 * the program. The caller disposes of words, which are empty before. */
void odb_program_words(struct odb_argv *words, const struct odb_spec *spec);

#endif
