/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target was asked before and what it answered, so that a search that was stopped, or whose
 * program was killed, goes on where it was: it asks the same questions in the same order, and those
 * that have an answer are not put to the target again. The owner of the answers (a session, in
 * memory or in its file) is behind a small table of functions, and knows nothing of questions but
 * their keys: a hash of what is cut out, what is read, what goes in, and which target is asked.
 */
#ifndef ODB_PROBE_ANSWERS_H
#define ODB_PROBE_ANSWERS_H

#include "base/buf.h"
#include "base/error.h"
#include "executor/executor.h"
#include "tensor/tensor.h"

#define ODB_ANSWERS_KEY 80 /* room for a key */
/* Begins the key of a question that is as if it had not been begun where the program ended over it,
 * and the machine did not. */
#define ODB_ANSWERS_RETRIED "+"
/* Values of one answer that are more than this are not kept: asking again costs less. */
#define ODB_ANSWERS_BYTES ((size_t)32 << 20)

/* What came of a question. */
struct odb_answered {
    enum odb_status status;
    struct odb_error err;
    struct odb_tensor **outputs; /* owned refs; [n]; entries are NULL where the target lacks them;
                                    only with ODB_OK */
    size_t n;
    char *words; /* owned: the last that the target printed before it died of the question; NULL:
                    it lives, or said nothing */
};
void odb_answered_dispose(struct odb_answered *known);

/* Ends of what was running when all went down: an answer that is ODB_E_CRASH and says this. */
#define ODB_ANSWERS_MACHINE "was running when the machine went down"

/* All functions are called by the thread that searches. */
struct odb_answers {
    /* False: unknown. out is the caller's to dispose of. A question that was begun when the program
     * ended, and never answered, is ODB_SKIPPED, saying so. */
    bool (*find)(void *payload, const char *key, struct odb_answered *out);
    /* It is going to be asked; once this returns that is known whatever happens. node: that it is
     * about, or ODB_NO_NODE. */
    void (*begin)(void *payload, const char *key, const char *what, int node);
    /* It was answered; known is borrowed for the call. False: the values were not kept. */
    bool (*keep)(void *payload, const char *key, const struct odb_answered *known);
    /* It was given up, without an answer that counts, and is as if it had not been begun. */
    void (*forget)(void *payload, const char *key);
    void *payload;
    size_t n; /* answers that were there before the search */
};

/* Whether an answer says something of the target: that a link was lost, or memory ran out, does
 * not, and may be another time. */
bool odb_answers_count(enum odb_status status);
/* What the values of an answer take. */
size_t odb_answers_bytes(struct odb_tensor *const *outputs, size_t n);

/* Appends what tells a value from all others: type, shape and a hash of the elements. */
void odb_answers_put_tensor(struct odb_buf *out, const struct odb_tensor *t);
/* SHA-256 of a text, in hexadecimal digits. */
void odb_answers_digest(const struct odb_buf *text, char hex[65]);

/* What a target said of a loaded model, as an answer: a tensor of strings. */
enum odb_status odb_answers_from_account(struct odb_tensor **out, const struct odb_account *account,
                                         struct odb_error *err) ODB_MUST_USE;
/* Adds what it says to account; false: it is none. */
bool odb_answers_to_account(const struct odb_tensor *t, struct odb_account *account);

#endif
