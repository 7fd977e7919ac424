/* SPDX-License-Identifier: MIT
 *
 * What the parts of the matching share. A name is made loose (loose_name.c); a rule takes something
 * off it (match_rule.c), and names of which the same is left are a group, in which shapes and
 * values decide (match_group.c); numbers alone say what values tell of them (match_number.c).
 */
#ifndef ODB_EXECUTOR_RECORDED_MANGLED_INT_H
#define ODB_EXECUTOR_RECORDED_MANGLED_INT_H

#include "base/mem.h"
#include "executor/recorded/mangled.h"

#define MANGLED_INDICES 3 /* numbers of a name that may be an index */

/* --- names ------------------------------------------------------------------------------------ */

struct mangled_index {
    unsigned long v;
    const char *rest; /* borrowed: in the loose name, behind it */
};

/* What is no letter or digit is one '_', none at the ends. The caller's. */
char *mangled__loose(const char *name);
/* Capitals as small letters, in place. */
void mangled__fold(char *loose);
/* The first words that are numbers, of the first few; how many. */
size_t mangled__indices(const char *loose, struct mangled_index out[MANGLED_INDICES]);
/* Whether it is a number and no more, or nothing. */
bool mangled__is_number(const char *loose);
/* The first number in the name, or the last one, also within a word; false: there is none. */
bool mangled__number(const char *loose, bool last, unsigned long *out);
/* text without a beginning and an end that are whole words; NULL: it has them not, or nothing is
 * left. The caller's. */
char *mangled__strip(const char *text, const char *lead, const char *tail);
/* Where the first words begin, from the start on: at most most + 1 places in at. */
size_t mangled__begins(const char *text, size_t most, size_t *at);
/* Where the name ends once so many of its last words are off. */
size_t mangled__ends(const char *text, size_t most, size_t *at);

/* --- what is matched -------------------------------------------------------------------------- */

struct mangled_rule {
    int index;             /* which of a file's indices is taken off, and all before it; -1: none */
    char *lead, *tail;     /* owned: off the file's; "" nothing */
    char *unlead, *untail; /* owned: off the value's */
    size_t votes;          /* values that it finds a file for */
};

struct mangled_file {
    size_t item;
    char *loose; /* owned */
    struct mangled_index indices[MANGLED_INDICES];
    size_t n_indices;
    struct odb_tensor *tensor; /* ref; NULL: it cannot be read */
    char *key;                 /* owned: by the rule that is tried; NULL: it does not fit */
    int value;                 /* as in mangled_value; -1: none */
    bool left;                 /* it fits a rule, and no value is known to be it */
    ODB_VEC(int) choices;      /* values that it could be, where it is left */
    int likely;                /* the value that it is by its elements alone; -1: none */
};

/* What a number may count. */
enum mangled_count {
    MANGLED_NODES,        /* in the order of the file */
    MANGLED_OUTPUTS,      /* of nodes */
    MANGLED_NO_CONSTANTS, /* the same, without those of Constants */
    MANGLED_SORTED_NODES, /* the same three in topological order */
    MANGLED_SORTED_OUTPUTS,
    MANGLED_SORTED_NO_CONSTANTS,
    MANGLED_COUNTS
};

struct mangled_value {
    int index; /* in the graph */
    int node;  /* that makes it, in the order of the file; -1: none does */
    int slot;
    bool constant; /* a Constant makes it */
    long number[MANGLED_COUNTS];
    char *loose, *key;           /* owned */
    const struct odb_type *type; /* borrowed for the call */
    struct odb_tensor *witness;  /* ref; NULL: not known */
    int file;
};

struct odb_mangled {
    ODB_VEC(struct mangled_file) files;
    ODB_VEC(struct mangled_value) values;
    ODB_VEC(struct mangled_rule) used; /* owned, each: that were taken, beside none at all */
    bool folded;                       /* capitals are small letters */
    bool by_folding;                   /* and some were matched so */
    bool has_numbers;                  /* numbers that values tell of */
    bool has_likely;
    size_t *item_of; /* owned; [n_values] of the graph */
    size_t n_values;
    char **names;  /* owned, each: of files */
    char **called; /* owned, each: of graph values */
};

/* Files and values of one key. */
struct mangled_group {
    struct odb_mangled *m; /* borrowed */
    ODB_VEC(int) files;    /* as in m */
    ODB_VEC(int) values;
    float *errors; /* owned; [files.n][values.n]; NULL: not measured */
};

/* --- a group ---------------------------------------------------------------------------------- */

void mangled__group_dispose(struct mangled_group *g);
/* Whether both are without a partner, and shapes and types let them be one. */
bool mangled__open(const struct odb_mangled *m, int file, int value);
void mangled__pair(struct odb_mangled *m, int file, int value);
/* Matches what shapes, values, and, with an index, the order say; the rest is left. */
void mangled__group_judge(struct mangled_group *g, int index);
/* What each file of the group clearly is by its elements, among those that are open; -1: nothing.
 * clear is [files.n]; how many are. */
size_t mangled__clear(struct mangled_group *g, int *clear);
/* How far a file of the group is from a value; infinite where there is no telling. */
double mangled__error(const struct mangled_group *g, size_t file, size_t value);
/* Whether elements say that the file is another open value of the group. */
bool mangled__is_others(const struct mangled_group *g, size_t file, int value);

/* --- rules and numbers ------------------------------------------------------------------------ */

void mangled__rule_dispose(struct mangled_rule *rule);
/* Matches by loose names alone, then by the rules that most files fit. */
void mangled__by_rules(struct odb_mangled *m);
/* Files that no rule fits, by numbers in their names, where values tell what these count. */
void mangled__by_numbers(struct odb_mangled *m);

#endif
