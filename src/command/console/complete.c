/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a word could become. The rows of the table say what stands where, and for every type of
 * word there is one function that offers all that could stand there; these functions do not look
 * at what was typed. Matching is done in one place: what begins with the text, and where nothing
 * does, what holds it somewhere, for names in models are long paths of which one remembers a part.
 *
 * Models have tens of thousands of names. Where many match they are folded at the next slash (or
 * dot), as folders are, so that a list stays one that can be read.
 */
#include "command/console/complete.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/utf8.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/console/complete_int.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/quoting.h"
#include "command/table/short.h"
#include "command/table/table.h"
#include "compare/criterion.h"
#include "executor/executor.h"
#include "session/session_state.h"

#define COMPLETE_FOLD 48 /* more than this are folded */

/* --- matching --------------------------------------------------------------------------------- */

static bool complete_match(const struct complete *c, const char *text, size_t *end)
{
    size_t len = strlen(c->text);
    *end = len;
    if (!c->inside)
        return !strncmp(text, c->text, len);
    int first = len ? c->text[0] & ~0x20 : 0;
    for (const char *p = text; len && *p; p++) {
        if ((*p & ~0x20) == first && !strncasecmp(p, c->text, len)) {
            *end = (size_t)(p - text) + len;
            return true;
        }
    }
    return false;
}

void complete_offer(struct complete *c, const char *text, bool partial)
{
    size_t end;
    if (complete_match(c, text, &end))
        odb_push(&c->found, (struct complete_found){text, NULL, end, partial});
}

void complete_offer_take(struct complete *c, char *text, bool partial)
{
    size_t end;
    if (complete_match(c, text, &end))
        odb_push(&c->found, (struct complete_found){text, text, end, partial});
    else
        free(text);
}

void complete_settle(struct complete *c, size_t n)
{
    odb_buf_add(&c->head, c->text, n);
    c->text += n;
}

static void complete_forget(struct complete *c)
{
    for (size_t i = 0; i < c->found.n; i++)
        free(c->found.items[i].copy);
    c->found.n = 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A leading ~ becomes the folder that it stands for: no other function does that. */
static void complete_home(struct complete *c)
{
    const char *home = getenv("HOME");
    if (c->text[0] != '~' || (c->text[1] && c->text[1] != '/') || !home)
        return;
    size_t at = (size_t)(c->text - c->word);
    char *word = odb_xasprintf("%.*s%s%s", (int)at, c->word, home, c->text[1] ? c->text + 1 : "/");
    free(c->word);
    c->word = word;
    c->text = word + at;
}

static bool complete_is_folder(const char *dir, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    char *path = odb_xasprintf("%s/%s", dir, entry->d_name);
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    free(path);
    return folder;
}

static int complete_by_name(const void *a, const void *b)
{
    return strcmp(((const struct complete_found *)a)->text,
                  ((const struct complete_found *)b)->text);
}

static void complete_path(struct complete *c)
{
    complete_home(c);
    const char *slash = strrchr(c->text, '/');
    char *dir = slash ? odb_xstrndup(c->text, (size_t)(slash + 1 - c->text)) : odb_xstrdup("./");
    if (slash)
        complete_settle(c, (size_t)(slash + 1 - c->text));
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        bool self = !strcmp(name, ".") || !strcmp(name, "..");
        if (self || (name[0] == '.' && c->text[0] != '.'))
            continue;
        if (c->escaped && strpbrk(name, ",=@\\ "))
            continue;
        bool is_folder = complete_is_folder(dir, entry);
        complete_offer_take(c, odb_xasprintf("%s%s", name, is_folder ? "/" : ""), is_folder);
    }
    if (folder)
        closedir(folder);
    free(dir);
    if (c->found.n)
        qsort(c->found.items, c->found.n, sizeof c->found.items[0], complete_by_name);
}

/* --- what the tables say ---------------------------------------------------------------------- */

/* "a|b|c"; a word in capitals says what kind of thing stands there. */
/* "FILE", "LIB.so", "DIR", "PROGRAM" */
static bool complete_is_path(const char *choice)
{
    static const char *const words[] = {"FILE", "LIB", "DIR", "PROGRAM"};
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        if (!strncmp(choice, words[i], strlen(words[i])))
            return true;
    return false;
}

static void complete_choices(struct complete *c, const char *choices)
{
    while (choices && *choices) {
        size_t len = strcspn(choices, "|");
        char *choice = odb_xstrndup(choices, len);
        if (!strcmp(choice, "#INDEX")) {
            c->escaped = true;
            complete_node(c);
            complete_value(c);
        } else if (complete_is_path(choice)) {
            c->escaped = true;
            complete_path(c);
        } else if (choice[0] >= 'a' && choice[0] <= 'z') {
            complete_offer_take(c, odb_xstrdup(choice), false);
        }
        free(choice);
        choices += len + (choices[len] == '|');
    }
}

static void complete_enum(struct complete *c)
{
    complete_choices(c, c->choices);
}

static void complete_command(struct complete *c)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].flags & ODB_COMMAND_PROMPT))
            continue;
        complete_offer(c, rows[i].name, false);
        if (rows[i].alias && c->text[0] && !c->inside)
            complete_offer(c, rows[i].alias, false);
    }
    if (c->command) /* an argument of `help` */
        complete_offer(c, "tolerance", false);
}

/* "allclose[:RTOL[,ATOL]]": the numbers are the user's. */
static void complete_tolerance(struct complete *c)
{
    const char *help, *usage;
    for (size_t i = 0; (usage = odb_criterion_usage(i, &help)); i++) {
        size_t len = strcspn(usage, ":[");
        complete_offer_take(c, odb_xstrndup(usage, len + (usage[len] == ':')), usage[len] != '\0');
    }
}

static void complete_option(struct complete *c)
{
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (odb_option_row(id)->setting)
            complete_offer(c, odb_option_row(id)->name, false);
}

/* Options of the command, as they are typed. */
static void complete_dashes(struct complete *c)
{
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (id == ODB_OPTION_HELP || odb_command_takes(c->command, id))
            complete_offer_take(c, odb_xasprintf("--%s", odb_option_row(id)->name), false);
}

/* --- executors -------------------------------------------------------------------------------- */

/* The first of the characters that is not escaped, NULL: none. */
static const char *complete_find(const char *p, const char *stop)
{
    for (; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (strchr(stop, *p))
            return p;
    }
    return NULL;
}

static bool complete_is_key(const struct odb_executor_option *row)
{
    return !strpbrk(row->key, ":@*");
}

/* Kinds; and what may follow the one that is there already. */
static void complete_kinds(struct complete *c)
{
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++) {
        const char *kind = list[i]->kind;
        const struct odb_executor_option *arg = odb_spec_part(list[i]->options, ":"),
                                         *row = list[i]->options;
        bool needs = arg && arg->needed, more = !needs && !strcmp(kind, c->text);
        complete_offer_take(c, odb_xasprintf("%s%s", kind, needs ? ":" : ""), true);
        if (more && arg)
            complete_offer_take(c, odb_xasprintf("%s:", kind), true);
        for (; more && row && row->key; row++)
            if (complete_is_key(row))
                complete_offer_take(
                    c, odb_xasprintf("%s,%s%s", kind, row->key, row->values ? "=" : ""), true);
    }
}

/* Keys that the spec does not have yet. */
static void complete_keys(struct complete *c, const struct odb_executor_option *row)
{
    for (; row && row->key; row++) {
        const char *equals = row->values ? "=" : "";
        char *there = odb_xasprintf(",%s%s", row->key, row->values ? "=" : ",");
        if (complete_is_key(row) && !strstr(odb_buf_text(&c->head), there))
            complete_offer_take(c, odb_xasprintf("%s%s", row->key, equals), row->values);
        free(there);
    }
}

/* Behind the kind: its argument, or the last of its options. */
static void complete_spec_rest(struct complete *c, const struct odb_executor_ops *ops)
{
    const struct odb_executor_option *row = odb_spec_part(ops->options, ":");
    complete_settle(c, strcspn(c->text, ":,") + 1);
    for (const char *p; (p = complete_find(c->text, ","));)
        complete_settle(c, (size_t)(p + 1 - c->text));
    const char *equals = complete_find(c->text, "=");
    if (odb_buf_text(&c->head)[c->head.len - 1] == ':') {
        complete_choices(c, row ? row->values : NULL);
        return;
    }
    if (!equals) {
        complete_keys(c, ops->options);
        complete_keys(c, odb_spec_common);
        return;
    }
    char *key = odb_xstrndup(c->text, (size_t)(equals - c->text));
    complete_settle(c, (size_t)(equals + 1 - c->text));
    row = odb_spec_row(ops->options, key);
    complete_choices(c, row ? row->values : NULL);
    free(key);
}

static void complete_spec(struct complete *c)
{
    for (;;) {
        char *kind = odb_xstrndup(c->text, strcspn(c->text, ":,@"));
        const struct odb_executor_ops *ops = odb_executor_find(kind);
        const char *rest = c->text + strlen(kind), *inner = complete_find(c->text, "@");
        bool wraps = ops && odb_spec_part(ops->options, "@") && inner;
        free(kind);
        if (wraps)
            complete_settle(c, (size_t)(inner + 1 - c->text));
        else if (!*rest)
            complete_kinds(c);
        else if (ops)
            complete_spec_rest(c, ops);
        if (!wraps)
            return;
    }
}

/* --- types ------------------------------------------------------------------------------------ */

static void complete_setting(struct complete *c);

/* What offers the words of a type; NULL: only the user knows them. */
static void (*const complete_types[])(struct complete *c) = {
    [ODB_ARG_MODEL] = complete_path,
    [ODB_ARG_SOURCE] = complete_path,
    [ODB_ARG_NODE] = complete_place,
    [ODB_ARG_NODES] = complete_nodes,
    [ODB_ARG_VALUE] = complete_value,
    [ODB_ARG_SLICE] = complete_slice,
    [ODB_ARG_PATH] = complete_path,
    [ODB_ARG_SPEC] = complete_spec,
    [ODB_ARG_ENUM] = complete_enum,
    [ODB_ARG_TOLERANCE] = complete_tolerance,
    [ODB_ARG_COMMAND] = complete_command,
    [ODB_ARG_OPTION] = complete_option,
    [ODB_ARG_CHOICE] = complete_enum,
    [ODB_ARG_CONDITION] = complete_condition,
    [ODB_ARG_STOP] = complete_stop,
    [ODB_ARG_SETTING] = complete_setting,
    [ODB_ARG_PINNED] = complete_pinned,
    [ODB_ARG_MARKED] = complete_marked,
    [ODB_ARG_LETTER] = complete_letter,
    [ODB_ARG_OUTPUT] = complete_output,
    [ODB_ARG_SIZE] = NULL,
    [ODB_ARG_TEXT] = NULL,
};

/* As the option's own words. */
static void complete_setting(struct complete *c)
{
    for (int id = 0; c->before && id < ODB_OPTION_COUNT; id++) {
        const struct odb_option *row = odb_option_row(id);
        if (row->setting && !strcmp(row->name, c->before)) {
            c->choices = row->range;
            if (complete_types[row->type])
                complete_types[row->type](c);
        }
    }
}

/* Everything that matches, first at its beginning, then anywhere. */
static void complete_run(struct complete *c)
{
    void (*offer)(struct complete * c) = c->is_option ? complete_dashes : complete_types[c->type];
    complete_forget(c);
    for (int pass = 0; offer && pass < 2 && !c->found.n; pass++) {
        c->inside = pass;
        c->escaped = false;
        odb_buf_clear(&c->head);
        c->text = c->word;
        complete_settle(c, c->fixed);
        offer(c);
    }
}

/* --- where in the line ------------------------------------------------------------------------ */

/* The row of "--name", "--name=value", "-n" or "-nvalue"; value: where it begins, 0: not here. */
static const struct odb_option *complete_option_row(const struct odb_command *command,
                                                    const char *word, size_t *value)
{
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t len = strcspn(name, "=");
    int id =
        is_long ? odb_option_long(command, name, len) : odb_option_letters(command, name, &len);
    if (id < 0)
        return NULL;
    *value = name[len] ? (size_t)(name - word) + len + (name[len] == '=') : 0;
    return odb_option_row(id);
}

static void complete_as_option(struct complete *c, const struct odb_option *row, size_t value)
{
    c->type = row->type;
    c->choices = row->range;
    c->fixed = value;
}

/* The last word as argument n of the command; the model is the console's. */
static void complete_as_arg(struct complete *c, size_t n)
{
    const struct odb_arg *arg = c->command->args;
    int model = odb_call__model_at(c->command);
    if (model >= 0 && n >= (size_t)model)
        n++;
    for (; n && arg && arg->name && !arg->repeated; n--)
        arg++;
    if (arg && arg->name) {
        c->arg = arg;
        c->type = arg->type;
        c->choices = arg->range;
    } else if (!c->word[0]) {
        c->is_option = true; /* no argument is left that it could be */
    }
}

/* Whether the word next to an option without a value in itself is its value. */
static bool complete_takes(const struct odb_option *row, const char *word, const char *next,
                           const char *behind)
{
    return odb_option_takes_next((enum odb_option_id)(row - odb_option_row(0)), word, next, behind);
}

/* What the last word is, by those before it. */
static void complete_place_word(struct complete *c, char *const *words, size_t n)
{
    const struct odb_option *row = NULL;
    size_t value = 0, n_args = 0;
    bool only_args = false;
    for (size_t i = 1; i < n; i++) {
        const char *word = words[i];
        if (row && !value &&
            complete_takes(row, words[i - 1], word, i + 1 < n ? words[i + 1] : c->word)) {
            row = NULL; /* this was its value */
        } else if (only_args || word[0] != '-' || !word[1]) {
            row = NULL;
            n_args++;
            c->before = word;
        } else {
            only_args = !strcmp(word, "--");
            row = only_args ? NULL : complete_option_row(c->command, word, &value);
        }
    }
    if (row && !value && complete_takes(row, words[n - 1], c->word, NULL)) {
        complete_as_option(c, row, 0);
    } else if (only_args || c->word[0] != '-') {
        complete_as_arg(c, n_args);
    } else {
        row = complete_option_row(c->command, c->word, &value);
        if (row && value)
            complete_as_option(
                c,
                row == odb_option_row(ODB_OPTION_JSON) ? odb_option_row(ODB_OPTION_JSON_FILE) : row,
                value);
        else
            c->is_option = true;
    }
}

/* --- from what was found to words ------------------------------------------------------------- */

/* Folds what was found at the next separator behind what matched. False where that would not make
 * it much less. */
static bool complete_fold_at(struct complete *c, char separator)
{
    struct odb_map *seen = odb_map_new();
    struct odb_buf prefix = ODB_BUF_INIT;
    ODB_VEC(struct complete_found) folds = {0};
    for (size_t i = 0; i < c->found.n && folds.n <= c->found.n / 2; i++) {
        struct complete_found *found = &c->found.items[i];
        const char *end = strchr(found->text + found->end, separator);
        size_t len = end ? (size_t)(end + 1 - found->text) : 0;
        if (end && len == prefix.len && !memcmp(prefix.data, found->text, len))
            continue; /* neighbours are often alike */
        odb_buf_clear(&prefix);
        odb_buf_add(&prefix, found->text, len);
        if (end && !odb_map_add(seen, odb_buf_text(&prefix), i))
            continue;
        char *copy = odb_xstrdup(end ? odb_buf_text(&prefix) : found->text);
        odb_push(&folds, (struct complete_found){copy, copy, found->end,
                                                 found->partial || (end && end[1])});
    }
    bool better = folds.n <= c->found.n / 2;
    if (better)
        complete_forget(c);
    for (size_t i = 0; i < folds.n; i++) {
        if (better)
            odb_push(&c->found, folds.items[i]);
        else
            free(folds.items[i].copy);
    }
    free(folds.items);
    odb_buf_dispose(&prefix);
    odb_map_free(seen);
    return better;
}

/* Folds until there is something to choose from. */
static void complete_fold(struct complete *c)
{
    while (c->found.n > COMPLETE_FOLD) {
        if (!complete_fold_at(c, '/') && !complete_fold_at(c, '.'))
            return;
        if (c->found.n > 1 || !c->found.items[0].partial)
            return;
        char *word = odb_xasprintf("%s%s", odb_buf_text(&c->head), c->found.items[0].text);
        if (!strcmp(word, c->word)) { /* names may be repeated in bad models */
            free(word);
            return;
        }
        free(c->word);
        c->word = word;
        complete_run(c);
    }
}

/* What all that was found begins with, whole characters; "" when that is less than what stands
 * there already. The caller's. */
static char *complete_common(const struct complete *c)
{
    const struct complete_found *found = c->found.items;
    size_t len = strlen(found[0].text);
    for (size_t i = 1; i < c->found.n; i++) {
        size_t same = 0;
        while (same < len && found[i].text[same] == found[0].text[same])
            same++;
        len = same;
    }
    char *common = odb_xstrndup(found[0].text, odb_utf8_back(found[0].text, len));
    if (c->found.n > 1 && !strcasestr(common, c->text))
        common[0] = '\0';
    return common;
}

/* The same word may be the name of a node and of a value. */
static void complete_unique(struct complete *c)
{
    struct odb_map *seen = odb_map_new();
    size_t n = 0;
    for (size_t i = 0; i < c->found.n; i++) {
        if (odb_map_add(seen, c->found.items[i].text, i))
            c->found.items[n++] = c->found.items[i];
        else
            free(c->found.items[i].copy);
    }
    c->found.n = n;
    odb_map_free(seen);
}

/* The one style that does for all words, so that they begin alike also with their quotes. */
static char complete_style(const struct complete *c, size_t n, char begun)
{
    char style = begun;
    if (c->type == ODB_ARG_CONDITION && !c->is_option)
        return 0; /* it is taken as it is typed: "local error" is a name */
    char head = c->head.len ? odb_words__style(odb_buf_text(&c->head)) : 0;
    for (size_t i = 0; i < n && style != '"'; i++) {
        char one = odb_words__style(c->found.items[i].text);
        style = one == '"' || head == '"' ? '"' : style ? style : one ? one : head;
    }
    return style;
}

static char *complete_quote(const struct complete *c, const char *text, char style, bool open)
{
    struct odb_buf out = ODB_BUF_INIT;
    char *whole = odb_xasprintf("%s%s", odb_buf_text(&c->head), text);
    odb_words__put(&out, whole, style, open);
    free(whole);
    return odb_buf_take(&out);
}

static void complete_finish(struct complete *c, struct odb_completion *out, char begun)
{
    complete_fold(c);
    if (c->found.n <= COMPLETE_MOST)
        complete_unique(c);
    if (!c->found.n)
        return;
    size_t n = ODB_MIN(c->found.n, (size_t)COMPLETE_MOST);
    char style = complete_style(c, n, begun), *common = complete_common(c);
    for (size_t i = 0; i < n; i++) {
        odb_push(&out->words, complete_quote(c, c->found.items[i].text, style, false));
        out->partial |= c->found.items[i].partial;
    }
    if (common[0])
        out->common = complete_quote(c, common, style, c->found.n > 1);
    free(common);
}

void odb_complete(struct odb_completion *out, const struct odb_console *console, const char *line,
                  size_t at)
{
    char *before = odb_xstrndup(line, at), quote = 0, begun = 0;
    const char *p = before;
    ODB_VEC(char *) words = {0};
    struct odb_buf word = ODB_BUF_INIT;
    struct complete c = {.head = ODB_BUF_INIT, .type = ODB_ARG_COMMAND};
    *out = (struct odb_completion){.from = strlen(before)};
    if (console && console->session && console->session->model)
        c.console = console;
    if (c.console)
        c.graph = console->session->model->graph;
    for (;;) {
        p += strspn(p, " \t\n\v\f\r");
        const char *start = p;
        odb_buf_clear(&word);
        if (!odb_words__next(&p, &word, &quote))
            break;
        if (!*p) { /* it may go on */
            out->from = (size_t)(start - before);
            begun = *start == '\'' || *start == '"' ? *start : 0;
            break;
        }
        odb_push(&words, odb_xstrdup(odb_buf_text(&word)));
    }
    c.word = odb_xstrdup(out->from < strlen(before) ? odb_buf_text(&word) : "");
    if (words.n == 0 || odb_command_find(&c.command, words.items[0], true, NULL) == ODB_OK) {
        if (c.command)
            complete_place_word(&c, words.items, words.n);
        complete_run(&c);
        complete_finish(&c, out, begun);
    }
    complete_forget(&c);
    free(c.found.items);
    free(c.word);
    odb_buf_dispose(&c.head);
    for (size_t i = 0; i < words.n; i++)
        free(words.items[i]);
    free(words.items);
    odb_buf_dispose(&word);
    free(before);
}

void odb_completion_dispose(struct odb_completion *completion)
{
    for (size_t i = 0; i < completion->words.n; i++)
        free(completion->words.items[i]);
    free(completion->words.items);
    free(completion->common);
    *completion = (struct odb_completion){0};
}
