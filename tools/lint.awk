# SPDX-License-Identifier: GPL-3.0-or-later
# Reads C files and prints every breach of the house's rules as RULE<tab>FILE:LINE: WHAT.
#   awk -f tools/lint.awk FILE…
# Comments and the insides of strings are blanked before the code is looked at, so what they say
# is free. HACKING.md explains the rules.

BEGIN {
    # Rooms, their licences, and which rooms each may include.
    while ((getline row < "tools/rooms.tsv") > 0) {
        if (row ~ /^(#|$)/)
            continue
        n = split(row, field, "\t")
        licence[field[1]] = field[2]
        for (i = 3; i <= n; i++)
            sees[field[1]] = sees[field[1]] " " field[i]
    }
    for (room in licence)
        if (reach(room, room, ""))
            breach("include", room " is reached from itself", 1)

    # Foreign headers that have a home.
    home["onnx.pb-c.h"] = "src/model"
    home["executor.pb-c.h"] = "src/executor/transport"
    home["sqlite3.h"] = "src/session|src/fleet"
    home["xlsxwriter.h"] = "src/compare"
    home["curses.h"] = home["ncurses.h"] = home["ncursesw/curses.h"] = "ui"
    home["readline/readline.h"] = home["readline/history.h"] = "ui"

    # Printing and exiting below command/, where it must be: FILE FUNCTION.
    # The two ends of the program, which have no caller that takes an error:
    allow["src/base/mem.c _exit"] = 1
    allow["src/base/error.c fprintf"] = allow["src/base/error.c abort"] = 1
    # Nor in the handler of a SIGBUS:
    allow["src/system/mapping.c _exit"] = 1
    # In the child, whose standard error is kept as its last words:
    allow["src/executor/ort/ort.c fprintf"] = 1

    LONGEST = 80
    CROWD = 25 # files of a room, lists (.def) apart
}

function breach(rule, what, line)
{
    printf "%s\t%s:%d: %s\n", rule, FILENAME, line ? line : FNR, what
}

# The room that a file stands in, where it has one: its folder's, or one of its own.
function room_of(path,    folder)
{
    folder = path
    sub(/\/[^\/]*$/, "", folder)
    return path in licence ? path : folder
}

# Whether room `to` is among those that `from` sees, at any distance; seen: rooms asked on the way.
function reach(from, to, seen,    list, i, n)
{
    n = split(sees[from], list, " ")
    for (i = 1; i <= n; i++)
        if (list[i] == to || (!has_word(seen, list[i]) && reach(list[i], to, seen " " list[i])))
            return 1
    return 0
}

function may_see(from, to)
{
    if (!((from, to) in known))
        known[from, to] = from == to || reach(from, to, "")
    return known[from, to]
}

function has_word(list, word)
{
    return index(" " list " ", " " word " ") > 0
}

# The line without comments and without what is quoted. in_comment lasts from line to line.
function bare(line,    out, at)
{
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at)
                return out
            line = substr(line, at + 2)
            in_comment = 0
        } else if (match(line, /"|'|\/\*|\/\//)) {
            out = out substr(line, 1, RSTART - 1)
            at = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (at == "//")
                return out
            if (at == "/*")
                in_comment = 1
            else {
                out = out at at
                if (!match(line, at == "\"" ? /^([^"\\]|\\.)*"/ : /^([^'\\]|\\.)*'/))
                    return out
                line = substr(line, RLENGTH + 1)
            }
        } else {
            return out line
        }
    }
    return out
}

# A file and its header are one.
function stem(path)
{
    sub(/(_int)?\.(c|h|def)$/, "", path)
    return path
}

function check_include(line,    header, to, i)
{
    header = line
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", header)
    sub(/[">].*/, "", header)
    if (header in home && FILENAME !~ "^(" home[header] ")/" && FILENAME !~ /^(tests|tools)\//)
        breach("include", header " is for " home[header] "/ only")
    if (header == "session/session_state.h" && index(FILENAME, "ui/") == 1)
        breach("include", "the screen asks a session by the functions of session/session.h")
    if (line !~ /"/ || header !~ /\// || !(room in licence))
        return
    to = room_of(header)
    if (!(to in licence))
        to = room_of((header ~ /^onnxdbg\// ? "include/" : "src/") header)
    if (!may_see(room, to))
        breach("include", room " may not include " header)
    to = stem(header)
    for (i = 1; i <= 3; i++)
        edge[stem(FILENAME), i == 1 ? to : (i == 2 ? "src/" : "include/") to] = 1
}

function check_calls(code,    name)
{
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)) {
        name = substr(code, RSTART, RLENGTH - 1)
        sub(/ +$/, "", name)
        code = substr(code, RSTART + RLENGTH)
        if (FILENAME !~ /^tests\// && name ~ /^(str(n)?cpy|strcat|v?sprintf|gets|ato[ilf]|strtok)$/)
            breach("banned", name "() is not used here")
        if (FILENAME !~ /^(src|kernels)\// || FILENAME ~ /^src\/(command\/|main\.c|serve\.c)/)
            continue
        if ((FILENAME " " name) in allow)
            continue
        if (name ~ /^(printf|vprintf|puts|putchar|perror|exit|_exit|abort)$/ ||
            (name ~ /^v?fprintf$/ && code ~ /^(stderr|stdout)/) ||
            (name ~ /^f?put(s|c)$/ && code ~ /(stderr|stdout)/))
            breach("prints", name "() below command/")
    }
}

# A definition begins with a brace in the first column, and ends with one.
function check_length(code)
{
    if (code ~ /^\{/) {
        begun = FNR
        named = before
    } else if (code ~ /^\}/ && begun) {
        if (FNR - begun + 1 > LONGEST && code !~ /;/)
            breach("length", named " has " (FNR - begun + 1) " lines, more than " LONGEST, begun)
        begun = 0
    }
    if (code ~ /^[A-Za-z_].*\(/) {
        before = code
        sub(/[ ]*\(.*/, "", before)
        sub(/.*[ *]/, "", before)
    }
}

FNR == 1 {
    room = room_of(FILENAME)
    if (room in licence && FILENAME ~ /^(src|kernels|ui)\/.*\.[ch]$/) {
        files[room]++
        is_stem[stem(FILENAME)] = FILENAME
        base = FILENAME
        sub(/.*\//, "", base)
        if (base ~ /\.c$/ && base in first)
            breach("name", first[base] " has this name too: give one of them another", 1)
        first[base] = FILENAME
    }
    if (FILENAME ~ /^(src|kernels|ui)\// && !(room in licence))
        breach("include", "tools/rooms.tsv has no room " room, 1)
    in_comment = begun = 0
    want = (room in licence && licence[room] == "MIT") || FILENAME ~ /^(proto|examples)\// ? "MIT" : "GPL-3.0-or-later"
    spdx = 0
}

FNR <= 3 && /SPDX-License-Identifier: / {
    spdx = 1
    if (index($0, "SPDX-License-Identifier: " want) == 0)
        breach("licence", "this room is " want)
}

FNR == 3 && !spdx {
    breach("licence", "no SPDX-License-Identifier in the first lines", 1)
}

/(TODO|FIXME)/ { breach("text", "unfinished work is told in an issue, not in the code") }
/\t/ { breach("text", "a tab") }
/[ ]$/ { breach("text", "a space at the end") }
# Words that name no one: the caller, the child, the reader, no thread.
FILENAME ~ /^(src|kernels|ui|include)\// && tolower($0) ~ /(^|[^a-z])(nobody|whoever|somebody|anybody)([^a-z]|$)/ {
    breach("words", "say who: the caller, the child, another thread, no rule")
}

{
    # Includes are seen before their quotes are blanked.
    if (!in_comment && /^[ \t]*#[ \t]*include/)
        check_include($0)
    code = bare($0)
    check_calls(code)
    check_length(code)
    # C's const ends at a pointer, so that this would compile: an entry of the report, not by its owner.
    if (FILENAME ~ /^src\/(bisect|probe|judge)\// && FILENAME !~ /\/findings\.c$/ &&
        code ~ /report->[a-z_]+(\.|->)items\[[^]]*\](\.|->)[][a-z_.>0-9-]* *(=|[-+|&]=|\+\+)([^=]|$)/)
        breach("owner", "the report is written through the functions of bisect/findings.h")
    if (FILENAME ~ /^kernels\// && code ~ /vector_size/ && code !~ /vector_size\((VEC|16)\)/)
        breach("width", "a vector is as wide as a register: VEC, in a body of kernels/core/wide.h")
}

# Tarjan: what includes each other is one circle. seen, low and pending are his.
function visit(v,    i, w, n, list, circle, length_of)
{
    seen[v] = low[v] = ++visits
    pending[++depth] = v
    waits[v] = 1
    n = split(goes[v], list, " ")
    for (i = 1; i <= n; i++) {
        w = list[i]
        if (!(w in seen)) {
            visit(w)
            low[v] = low[w] < low[v] ? low[w] : low[v]
        } else if (waits[w]) {
            low[v] = seen[w] < low[v] ? seen[w] : low[v]
        }
    }
    if (low[v] != seen[v])
        return
    do {
        w = pending[depth--]
        waits[w] = 0
        circle = circle " " w
        length_of++
    } while (w != v)
    if (length_of > 2)
        printf "circle\t%s: a circle of includes:%s; take out the edge that goes up\n", is_stem[v], circle
}

END {
    for (pair in edge) {
        split(pair, ends, SUBSEP)
        if (ends[1] in is_stem && ends[2] in is_stem && ends[1] != ends[2])
            goes[ends[1]] = goes[ends[1]] " " ends[2]
    }
    for (v in is_stem)
        if (!(v in seen))
            visit(v)
    for (room in files)
        if (files[room] > CROWD)
            printf "crowd\t%s: %d files, more than %d: divide it by what calls what\n", room, files[room], CROWD
}
