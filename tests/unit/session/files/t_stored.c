/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What session files say of themselves, whole, damaged and of another time.
 */
#include "session/files/stored.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "session/session.h"
#include "tests/help/models.h"

struct shelf {
    char *folder, *path; /* of one session, about g */
};

static void shelf_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A session of a model whose file is not there (any more). */
static void shelf_open(struct shelf *s)
{
    struct odb_session *session;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "y");
    odb_build_output(b, "y");
    s->folder = models_folder();
    s->path = odb_xasprintf("%s/one.odb", s->folder);
    MODELS_OK(odb_session_open_take(&session, models_take(b), s->path, &why));
    odb_session_close(session);
}

static void shelf_close(struct shelf *s)
{
    models_remove(s->folder);
    free(s->path);
}

/* How many files are in the folder. */
static size_t shelf_files(const struct shelf *s)
{
    size_t n = 0;
    DIR *folder = opendir(s->folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static void shelf_lists(const struct shelf *s, size_t expected)
{
    char **list;
    size_t n;
    MODELS_OK(odb_stored_list(&list, &n, s->folder, &why));
    assert_int_equal(n, expected);
    odb_stored_list_free(list, n);
}

static void test_stored__a_list_leaves_nothing_behind(void **state)
{
    struct shelf s;
    char *report;
    struct odb_error none = ODB_ERROR_INIT;
    shelf_open(&s);
    char *odd = odb_xasprintf("%s/a?b#c%%41.odb", s.folder);
    assert_int_equal(link(s.path, odd), 0);
    assert_int_equal(shelf_files(&s), 2);
    shelf_lists(&s, 2);
    assert_int_equal(odb_stored_report(&report, s.path, &none), ODB_E_FORMAT);
    assert_int_equal(shelf_files(&s), 2);
    free(odd);
    shelf_close(&s);
}

/* What another debugger has written counts, as soon as it has, and it can go on. */
static void test_stored__a_session_that_another_has_open(void **state)
{
    struct shelf s;
    struct odb_stored stored;
    sqlite3 *other;
    shelf_open(&s);
    assert_int_equal(sqlite3_open(s.path, &other), SQLITE_OK);
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(sqlite3_exec(other,
                                      "INSERT INTO search (command, version, target) "
                                      "VALUES ('bisect', '1', 'cpu')",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        MODELS_OK(odb_stored_read(&stored, s.path, &why));
        assert_int_equal(stored.searches, i);
        odb_stored_dispose(&stored);
        shelf_lists(&s, 1);
        assert_int_equal(shelf_files(&s), 3); /* the other's log and its index */
    }
    sqlite3_close(other);
    assert_int_equal(shelf_files(&s), 1);
    MODELS_OK(odb_stored_read(&stored, s.path, &why));
    assert_int_equal(stored.searches, 3);
    odb_stored_dispose(&stored);
    assert_int_equal(shelf_files(&s), 1);
    shelf_close(&s);
}

static void test_stored__nothing_searched_yet(void **state)
{
    struct shelf s;
    struct odb_stored stored;
    shelf_open(&s);
    MODELS_OK(odb_stored_read(&stored, s.path, &why));
    assert_int_equal(stored.nodes, 1);
    assert_int_equal(stored.searches, 0);
    assert_int_equal(stored.first, -1);
    assert_int_equal(stored.schema, ODB_STORE_SCHEMA);
    assert_null(stored.target);
    odb_stored_dispose(&stored);
    odb_stored_dispose(&stored);
    shelf_close(&s);
}

static void test_stored__the_newest_search_counts(void **state)
{
    struct shelf s;
    struct odb_stored stored;
    shelf_open(&s);
    shelf_sql(s.path, "INSERT INTO search (command, version, target, reference, tolerance, began,"
                      " ended, diverges) VALUES"
                      " ('bisect', '1', 'ort', 'cpu', 'noise:10', '2026-01-01 10:00:00',"
                      "  '2026-01-01 10:00:09', 0),"
                      " ('bisect', '1', 'cpu:f16', 'cpu', 'noise:3', '2026-01-02 10:00:00',"
                      "  NULL, 0)");
    MODELS_OK(odb_stored_read(&stored, s.path, &why));
    assert_int_equal(stored.searches, 2);
    assert_string_equal(stored.target, "cpu:f16");
    assert_string_equal(stored.tolerance, "noise:3");
    assert_string_equal(stored.began, "2026-01-02 10:00:00");
    assert_null(stored.ended);
    odb_stored_dispose(&stored);
    shelf_close(&s);
}

/* Of a newer program's file only what cannot have changed is read. */
static void test_stored__newer_version(void **state)
{
    struct shelf s;
    struct odb_stored stored;
    shelf_open(&s);
    shelf_sql(s.path, "DROP TABLE search; PRAGMA user_version = 99");
    MODELS_OK(odb_stored_read(&stored, s.path, &why));
    assert_int_equal(stored.schema, 99);
    assert_int_equal(stored.nodes, 1);
    assert_int_equal(stored.searches, 0);
    odb_stored_dispose(&stored);
    shelf_close(&s);
}

static void stored_refuses(const char *path, const char *what)
{
    struct odb_stored stored;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_not_equal(odb_stored_read(&stored, path, &err), ODB_OK);
    if (!strstr(err.what, what))
        fail_msg("%s: %s", path, err.what);
    odb_stored_dispose(&stored);
    err = (struct odb_error)ODB_ERROR_INIT;
    assert_int_equal(odb_stored_delete(path, &err), ODB_E_INPUT);
}

/* Text, nothing, half a file, a database of something else, a folder, no file: none of them is
 * listed, and none is deleted. */
static void test_stored__what_is_no_session(void **state)
{
    struct shelf s;
    struct odb_error err = ODB_ERROR_INIT;
    char page[4096], **list;
    size_t n;
    shelf_open(&s);
    static const char *const names[] = {"text", "empty", "head", "other", "folder", "missing"};
    char *paths[ODB_COUNT(names)];
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        paths[i] = odb_xasprintf("%s/%s", s.folder, names[i]);
    FILE *file = fopen(s.path, "rb");
    assert_int_equal(fread(page, 1, sizeof page, file), sizeof page);
    fclose(file);
    MODELS_OK(odb_file_write(paths[0], "hello", 5, &why));
    MODELS_OK(odb_file_write(paths[1], "", 0, &why));
    MODELS_OK(odb_file_write(paths[2], page, 1000, &why));
    shelf_sql(paths[3], "CREATE TABLE bird (name TEXT)");
    assert_int_equal(mkdir(paths[4], 0777), 0);
    stored_refuses(paths[0], "is no session");
    stored_refuses(paths[1], "is no session");
    stored_refuses(paths[2], "malformed");
    stored_refuses(paths[3], "is no session, but another program's database");
    stored_refuses(paths[4], "is no session");
    stored_refuses(paths[5], "No such file");
    MODELS_OK(odb_stored_list(&list, &n, s.folder, &why));
    assert_int_equal(n, 1);
    assert_string_equal(list[0], s.path);
    odb_stored_list_free(list, n);
    assert_int_equal(odb_stored_list(&list, &n, paths[0], &err), ODB_E_FORMAT);
    assert_int_equal(odb_stored_list(&list, &n, paths[5], &err), ODB_E_INPUT);
    for (size_t i = 0; i < ODB_COUNT(names) - 1; i++)
        assert_int_equal(access(paths[i], F_OK), 0);
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        free(paths[i]);
    shelf_close(&s);
}

/* Each of these would run when a session is read or written to; the first has no end. */
static void test_stored__what_would_run(void **state)
{
    static const char *const programs[] = {
        "DROP TABLE model; CREATE VIEW model AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x"
        " FROM t) SELECT x AS path, x AS sha256, x AS nodes FROM t WHERE x > 1",
        "CREATE TRIGGER t AFTER INSERT ON search BEGIN DELETE FROM journal; END",
        "ALTER TABLE search ADD COLUMN g TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000)))",
        "ALTER TABLE search ADD COLUMN g TEXT AS (hex(zeroblob(100000000)))",
        "CREATE INDEX i ON search (hex(zeroblob(length(command))))",
        "CREATE VIRTUAL TABLE v USING fts5(x)",
    };
    for (size_t i = 0; i < ODB_COUNT(programs); i++) {
        struct odb_stored stored;
        struct odb_error err = ODB_ERROR_INIT;
        struct shelf s;
        char *report;
        shelf_open(&s);
        shelf_sql(s.path, programs[i]);
        assert_int_equal(odb_stored_read(&stored, s.path, &err), ODB_E_FORMAT);
        assert_non_null(strstr(err.what, "that onnxdbg does not make"));
        odb_stored_dispose(&stored);
        assert_int_not_equal(odb_stored_report(&report, s.path, NULL), ODB_OK);
        shelf_close(&s);
    }
}

static void test_stored__empty_folder_and_deleting(void **state)
{
    struct shelf s;
    char **list;
    size_t n;
    shelf_open(&s);
    char *wal = odb_xasprintf("%s-wal", s.path);
    MODELS_OK(odb_file_write(wal, "", 0, &why));
    MODELS_OK(odb_stored_delete(s.path, &why));
    assert_int_not_equal(access(s.path, F_OK), 0);
    assert_int_not_equal(access(wal, F_OK), 0);
    MODELS_OK(odb_stored_list(&list, &n, s.folder, &why));
    assert_int_equal(n, 0);
    odb_stored_list_free(list, n);
    free(wal);
    shelf_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored__nothing_searched_yet),
        cmocka_unit_test(test_stored__a_list_leaves_nothing_behind),
        cmocka_unit_test(test_stored__a_session_that_another_has_open),
        cmocka_unit_test(test_stored__the_newest_search_counts),
        cmocka_unit_test(test_stored__newer_version),
        cmocka_unit_test(test_stored__what_is_no_session),
        cmocka_unit_test(test_stored__what_would_run),
        cmocka_unit_test(test_stored__empty_folder_and_deleting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
