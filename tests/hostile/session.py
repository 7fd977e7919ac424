# SPDX-License-Identifier: GPL-3.0-or-later
"""session.py FILE WHAT: writes into a session what onnxdbg would not, through writable_schema, as
who means harm does: there every word of the schema is his. Without arguments: lists what there is.
"""
import sqlite3
import sys

TRIGGER = ('trigger', 'harm', 'search',
           "CREATE TRIGGER harm AFTER INSERT ON search BEGIN UPDATE model SET path = 'harm'; END")
NO_MODULE = ('table', 'aaa', 'aaa', 'CREATE/**/VIRTUAL TABLE aaa USING nosuchmodule(a)')


def rows(*added):
    def put(db):
        last = db.execute('SELECT max(rowid) FROM sqlite_master').fetchone()[0]
        # before all others: what is said of the first row is said of all
        db.execute('UPDATE sqlite_master SET rowid = rowid + ?', (last + len(added),))
        for number, row in enumerate(added, 1):
            db.execute('INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql)'
                       ' VALUES (?, ?, ?, ?, 0, ?)', (number, *row))
    return put


def table(name, old, new):
    def put(db):
        changed = db.execute('UPDATE sqlite_master SET sql = replace(sql, ?, ?)'
                             " WHERE type = 'table' AND name = ? AND instr(sql, ?)",
                             (old, new, name, old)).rowcount
        assert changed == 1, name
    return put


def view(name, select):
    def put(db):
        db.execute(f'DROP TABLE {name}')
        rows(('view', name, name, f'CREATE VIEW {name} AS {select}'))(db)
    return put


def statement(sql):
    return lambda db: db.execute(sql)


HARM = {
    'a virtual table behind a comment':
        rows(('table', 'f', 'f', 'CREATE/**/VIRTUAL TABLE f USING fts5(a)')),
    'one behind a line': rows(('table', 'f', 'f', 'CREATE\nVIRTUAL TABLE f USING fts5(a)')),
    'one without its module': rows(NO_MODULE),
    'a trigger': rows(TRIGGER),
    'a trigger behind a row that fails': rows(NO_MODULE, TRIGGER),
    'a trigger that says it is a table': rows(('table', *TRIGGER[1:])),
    'a trigger behind a row without words': rows(('table', 'aaa', 'aaa', None), TRIGGER),
    'a trigger behind 300 MB': rows(('table', 'aaa', 'aaa', 'x' * 300_000_000), TRIGGER),
    'a view': view('journal', 'SELECT * FROM search'),
    'an index over an expression':
        statement('CREATE INDEX i ON search (hex(target) || hex(command))'),
    'a table of no one': statement('CREATE TABLE letters (text)'),
    'a column that is computed': table('model', 'nodes INTEGER NOT NULL',
                                       'nodes INTEGER AS (length(randomblob(99)))'),
    'a check': table('search', 'command TEXT NOT NULL',
                     'command TEXT NOT NULL CHECK (length(randomblob(9)) > 0)'),
    'a default': table('search', "datetime('now')", 'hex(randomblob(9))'),
    'a comment': table('search', 'CREATE TABLE', 'CREATE /**/ TABLE'),
    'small letters': table('search', 'CREATE TABLE', 'create table'),
    'a blank more': table('search', 'command TEXT', 'command  TEXT'),
    'a table that says it is older': lambda db: (
        rows(TRIGGER)(db), db.execute('PRAGMA user_version = 1')),
    'one of no version': lambda db: (
        rows(TRIGGER)(db), db.execute('PRAGMA user_version = 0')),
    'a view in a newer file': lambda db: (
        view('model', "SELECT 'a' AS sha256, 'b' AS path, 1 AS nodes")(db),
        db.execute('PRAGMA user_version = 3')),
}


def main():
    if len(sys.argv) < 2:
        print(*HARM, sep='\n')
        return
    db = sqlite3.connect(sys.argv[1])
    db.execute('PRAGMA journal_mode = DELETE')
    db.execute('PRAGMA writable_schema = ON')
    HARM[sys.argv[2]](db)
    db.commit()
    db.close()


main()
