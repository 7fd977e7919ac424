/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session from a stranger: listed, reported, opened, written to and deleted.
 */
#include "fuzz.h"

#include <unistd.h>

#include "session/session_state.h"
#include "session/files/stored.h"

static void session_open(const char *path)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_session *session;
    if (odb_session_open_take(&session, fuzz_model(), path, &err) != ODB_OK)
        return;
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_annotation annotation = {
        .kind = ODB_ANNOTATION_MARK, .node = 1, .value = ODB_NO_VALUE};
    if (session->report) {
        odb_report_put_words(session->report, "", &text);
        odb_report_headline(session->report, &text);
        odb_report_json(session->report, &text);
    }
    (void)!odb_session_bookmark(session, 'a', 2, &err);
    (void)!odb_session_annotate(session, &annotation, NULL, &err);
    odb_buf_dispose(&text);
    odb_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_stored stored;
    char *report = NULL, *path = odb_xasprintf("%s/session", fuzz_folder());
    fuzz_write(path, data, size);
    (void)!odb_stored_read(&stored, path, &err);
    odb_stored_dispose(&stored);
    if (odb_stored_report(&report, path, &err) == ODB_OK)
        free(report);
    session_open(path);
    (void)!odb_stored_delete(path, &err);
    for (size_t i = 0; i < ODB_COUNT(beside); i++) {
        char *other = odb_xasprintf("%s%s", path, beside[i]);
        unlink(other);
        free(other);
    }
    free(path);
    return 0;
}
