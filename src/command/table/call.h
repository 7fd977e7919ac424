/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What commands share among themselves.
 */
#ifndef ODB_COMMAND_CONSOLE_CALL_H
#define ODB_COMMAND_CONSOLE_CALL_H

#include "base/buf.h"
#include "base/progress.h"
#include "command/table/command.h"
#include "bisect/plan/bisect.h"
#include "reference/shapes.h"

struct odb_body_case;

/* The rows' functions. */
/* clang-format off */
#define ODB_COMMAND_LIST(X)                                                                        \
    X(bisect) X(check) X(compare) X(completion) X(debug) X(dump) X(executors) X(export) X(extract) \
    X(help) X(info) X(lint) X(manual) X(minimise) X(node) X(nodes) X(operators) X(precision)       \
    X(print) X(report) X(run) X(screen) X(sessions) X(target) X(tensor) X(tour) X(verify)
/* clang-format on */
#define ODB_COMMAND_DECLARE(name)                                                                  \
    enum odb_status odb_command__##name(struct odb_command_call *call, struct odb_error *err);
ODB_COMMAND_LIST(ODB_COMMAND_DECLARE)
#define ODB_VERB(name, ...) ODB_COMMAND_DECLARE(name)
#include "command/table/verbs.def"
#undef ODB_VERB
#undef ODB_COMMAND_DECLARE

/* Writes the text to the call's out and empties the buffer. */
void odb_call__print(struct odb_command_call *call, struct odb_buf *text);
/* Whether --json asks for JSON in a file, or in place of the text. */
bool odb_call__json(const struct odb_command_call *call, bool *instead);
/* Puts the JSON that --json asked for where it said, and empties the buffer. */
enum odb_status odb_call__publish(struct odb_command_call *call, struct odb_buf *json,
                                  struct odb_error *err) ODB_MUST_USE;
/* Appends a line, cut to so many columns of a terminal; 0: not cut. text is shown safely already.
 */
void odb_call__put_line(struct odb_buf *out, const char *text, int width);
/* "onnxdbg: warning: TEXT" on the call's log, shown safely. */
void odb_call__warn(struct odb_command_call *call, const char *text);
/* Words of text, shown safely, broken before 80 columns, every line but the first indented. column:
 * where the first line stands already. */
void odb_help_wrap(struct odb_buf *out, const char *text, size_t indent, size_t column);
/* "  left    text text", the text in a column of its own. */
void odb_help_row(struct odb_buf *out, const char *left, size_t indent, const char *text);
/* Inputs as --input, --inputs-from, --dim and --seed say, made once in the session; their warnings
 * are printed. Borrowed. */
enum odb_status odb_call__feeds(struct odb_command_call *call, const struct odb_feeds **out,
                                struct odb_error *err) ODB_MUST_USE;
/* Fresh ones, from a folder or file or NULL, with so much more than --seed; the caller's. */
enum odb_status odb_call__make_feeds(struct odb_command_call *call, const char *from,
                                     uint32_t shift, struct odb_feeds **out,
                                     struct odb_error *err) ODB_MUST_USE;
/* Executors of the call and its console that may have recorded inputs; list has room for
 * ODB_CALL_RECORDINGS. Returns how many; borrowed: call. */
#define ODB_CALL_RECORDINGS 3
size_t odb_call__recordings(struct odb_command_call *call, const char **list);
/* input_settings.c. What the inputs were made with is kept in the session's file, where there is
 * one: with the search that has begun, or for as long as there is none. */
enum odb_status odb_call__input_settings_keep(const struct odb_command_call *call, bool search,
                                              struct odb_error *err) ODB_MUST_USE;
/* Settings become those that the file has, which is the first thing that a console is told; as far
 * as they may (trust_store.h), and what may not is said. */
enum odb_status odb_console_input_settings_restore(struct odb_console *console,
                                                   struct odb_command_call *call,
                                                   struct odb_error *err) ODB_MUST_USE;
/* The same for a command of the shell: options that it has and that are not given. ODB_E_USAGE:
 * the user has to give one himself. */
enum odb_status odb_call__input_settings_restore(struct odb_command_call *call,
                                                 struct odb_error *err) ODB_MUST_USE;
/* Whether an option that is given says otherwise than a setting. */
bool odb_call__replaces(const struct odb_command_call *call, const struct odb_setting *setting);
/* They are the session's from now on, and what there is to say of them is said. */
void odb_call__feed_take(struct odb_command_call *call, struct odb_feeds *feeds);
/* Says what there is to say of them: whence, and warnings. */
void odb_call__feed_tell(struct odb_command_call *call, const struct odb_feeds *feeds);
/* Shapes as the model declares them, or, with --run, as the reference makes them; see and payload
 * as in odb_shapes_measure(). To be disposed of, also after failure. */
enum odb_status odb_call__shapes(struct odb_command_call *call,
                                 void (*see)(void *payload, int value, const struct odb_tensor *t),
                                 void *payload, struct odb_shapes *out,
                                 struct odb_error *err) ODB_MUST_USE;
/* --tol, else the default. */
enum odb_status odb_call__tolerance(const struct odb_command_call *call, struct odb_criterion *out,
                                    struct odb_error *err) ODB_MUST_USE;
/* What --reference, --target, --tol, --expect, --strategy and --seed say; no hooks. */
enum odb_status odb_call__search_options(struct odb_command_call *call,
                                         struct odb_bisect_options *out,
                                         struct odb_error *err) ODB_MUST_USE;
/* The executor that an option names, aliases taken for what they stand for; at a console that has
 * it set, also where the command has no such option. NULL: none. Borrowed: call. */
const char *odb_call__spec(struct odb_command_call *call, enum odb_option_id id);
/* An option that is a number and not negative; *out stays where it is not given. */
enum odb_status odb_call__real(const struct odb_command_call *call, enum odb_option_id id,
                               double *out, struct odb_error *err) ODB_MUST_USE;
/* --target, else the best that is here. Borrowed: call. */
const char *odb_call__target(struct odb_command_call *call);
const char *odb_call__default_target(void);
/* The spec of what runs a model once: --target, else --reference, else "cpu". Borrowed: call. */
const char *odb_call__runner(struct odb_command_call *call);
/* Opens the model that the call is about, with the session of --session; or, where a command that
 * takes a session is given one in the model's place, that and its model. */
enum odb_status odb_call__open_model(struct odb_command_call *call, const char *path,
                                     struct odb_error *err) ODB_MUST_USE;
/* Opens the first argument (an ODB_ARG_SOURCE) as a model unless it is a tensor file. */
enum odb_status odb_call__open_source(struct odb_command_call *call,
                                      struct odb_error *err) ODB_MUST_USE;
/* What the first argument (an ODB_ARG_SOURCE) and the name of a value in it stand for: a tensor
 * file's content, name NULL; a weight; an input; or a value computed by odb_call__runner() (at a
 * console the reference's, which is kept). After odb_call__open_source(). */
enum odb_status odb_call__value(struct odb_command_call *call, const char *name,
                                struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* A tensor file: .npy, or .pb (a TensorProto). */
enum odb_status odb_call__read_tensor(struct odb_tensor **out, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;
/* Whether the ending of the name is one of those that odb_call__write_tensor() takes. */
bool odb_call__is_tensor_file(const char *path);
/* The same way out, by the file's ending: .npy, .npz, .pb, .bin (the bytes alone), .csv. The file
 * is there as a whole or not at all. progress may be NULL. ODB_CANCELLED. */
enum odb_status odb_call__write_tensor(const struct odb_tensor *t, const char *name,
                                       const char *path, const struct odb_progress *progress,
                                       struct odb_error *err) ODB_MUST_USE;
/* The same within a command, which tells how far it is and can be stopped. */
enum odb_status odb_call__save(struct odb_command_call *call, const struct odb_tensor *t,
                               const char *name, const char *path,
                               struct odb_error *err) ODB_MUST_USE;
/* Which of the row's arguments is the model, -1: none. At a console it is left out. */
int odb_call__model_at(const struct odb_command *command);
/* ODB_E_USAGE when the value is none that the option takes. */
enum odb_status odb_call__check(const struct odb_option *row, const char *value,
                                struct odb_error *err) ODB_MUST_USE;
/* The same for what a session is going to use later: a spec must name an executor that there is,
 * or be an alias of one; console may be NULL. */
enum odb_status odb_call__check_setting(const struct odb_console *console,
                                        const struct odb_option *row, const char *value,
                                        struct odb_error *err) ODB_MUST_USE;
/* "float (1, 3)", "sequence of 2", into buf; returns buf. */
const char *odb_call__type_text(const struct odb_tensor *t, char *buf, size_t size);
/* Rows "metadata    KEY = VALUE", the lines of a value below one another; maybe none. */
void odb_call__put_metadata(const struct odb_metadata *metadata, struct odb_buf *out);

/* NODE or NODE:NODE. */
enum odb_status odb_call__segment(const struct odb_graph *graph, const char *text, int *first,
                                  int *last, struct odb_error *err) ODB_MUST_USE;
/* A NODE that is a path into a body ("Loop_4[3]/Conv_1"): the turn as a model of its own, with what
 * the reference feeds it there, and the node in it. *inside false: it is none, and *out is nothing.
 */
enum odb_status odb_call__inside(const struct odb_command_call *call, const struct odb_feeds *feeds,
                                 const struct odb_bisect_options *search, struct odb_body_case *out,
                                 int *node, bool *inside, struct odb_error *err) ODB_MUST_USE;
/* Why what a session holds is not followed, and what gives it: odb_trust_follows(). Owned by the
 * caller. */
char *odb_call__untrusted(enum odb_option_id id, const char *spec);
/* That as ODB_E_USAGE. */
enum odb_status odb_call__refuse_untrusted(enum odb_option_id id, const char *spec,
                                           struct odb_error *err) ODB_MUST_USE;
/* What the command line leaves open is as it was in the session's search. ODB_E_USAGE: that is a
 * spec which the user has to give himself. */
enum odb_status odb_call__adopt(const struct odb_command_call *call,
                                struct odb_bisect_options *search,
                                struct odb_error *err) ODB_MUST_USE;
/* The first culprit's segment, of those whom no later tolerance acquitted; false when there is
 * none. */
bool odb_call__suspects(const struct odb_session *session, const struct odb_report *report,
                        int *from, int *to);

/* Whether two paths are one file, which is there. */
bool odb_call__same_file(const char *a, const char *b);
/* ODB_E_USAGE when path is the very file that the model, or a weight of it, was read from. */
enum odb_status odb_call__spare_model(const struct odb_command_call *call, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;

/* Ways to walk: commands of these names. */
enum odb_go {
    ODB_GO_RUN,
    ODB_GO_CONTINUE,
    ODB_GO_STEP,
    ODB_GO_NEXT,
    ODB_GO_UNTIL,
    ODB_GO_FINISH,
    ODB_GO_RESTART
};
/* Walks the target on, and says where it stands. arg: how many nodes, or which; NULL: one. */
enum odb_status odb_call__walk(struct odb_command_call *call, enum odb_go how, const char *arg,
                               struct odb_error *err) ODB_MUST_USE;
/* Appends a culprit in full, as a search tells it. */
void odb_call__put_culprit(const struct odb_graph *graph, const struct odb_culprit *culprit,
                           struct odb_buf *out);
/* Text behind a format ("/x rest"), which is *notation then; else text itself and 0. */
const char *odb_call__notation(const char *text, char *notation);
/* Which nodes a break or a filter of `text` is about: the node that it names, else all nodes of
 * that operator. [n_nodes] marks, the caller's to free(); *n of them are set. */
enum odb_status odb_call__mark_nodes(const struct odb_graph *graph, const char *text, bool **marks,
                                     size_t *n, struct odb_error *err) ODB_MUST_USE;

#endif
