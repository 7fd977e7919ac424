# SPDX-License-Identifier: GPL-3.0-or-later
# Reads C files and prints every breach of the house's rules as RULE<tab>FILE:LINE: WHAT.
#   awk -f tools/lint.awk FILE…
# Comments and the insides of strings are blanked before the code is looked at, so what they say
# is free. HACKING.md explains the rules.

BEGIN {
    # Who may include whom; the arrows are transitive, and written out so.
    may["base"] = "base"
    may["tensor"] = "tensor " may["base"]
    may["model"] = "model " may["tensor"]
    may["compare"] = "compare " may["tensor"]
    may["kernels"] = "kernels onnxdbg " may["tensor"] # onnxdbg: the public headers
    may["executor"] = "executor " may["model"]
    may["engine"] = "engine executor compare " may["model"]
    may["session"] = "session " may["engine"]
    may["command"] = "command " may["session"]
    may["ui"] = "ui " may["command"]
    may["main"] = "command ui " may["base"]
    may["serve"] = may["executor"]
    may["executor"] = "onnxdbg " may["executor"] # and nobody above it

    # Foreign headers that have one home.
    home["onnx.pb-c.h"] = "model"
    home["executor.pb-c.h"] = "executor"
    home["cblas.h"] = "kernels"
    home["sqlite3.h"] = "session"
    home["xlsxwriter.h"] = "compare"
    home["curses.h"] = home["ncurses.h"] = home["ncursesw/curses.h"] = "ui"
    home["readline/readline.h"] = home["readline/history.h"] = "ui"

    # Printing and exiting below command/, where it must be: FILE FUNCTION.
    # The two ends of the program that nobody can hand an error to:
    allow["src/base/mem.c _exit"] = 1
    allow["src/base/error.c fprintf"] = allow["src/base/error.c abort"] = 1
    # Nor in the handler of a SIGBUS:
    allow["src/base/mapping.c _exit"] = 1
    # Between fork and exec there is nobody to return to:
    allow["src/executor/target.c _exit"] = allow["src/executor/control.c _exit"] = 1
    allow["src/executor/command.c _exit"] = allow["src/executor/fault.c _exit"] = 1
    # In the child, whose standard error is kept as its last words:
    allow["src/executor/ort.c fprintf"] = 1

    MIT = "MIT"
    GPL = "GPL-3.0-or-later"
    n = split("base tensor model kernels executor serve proto include examples", list, " ")
    for (i = 1; i <= n; i++)
        licence[list[i]] = MIT
    LONGEST = 80
}

function breach(rule, what, line)
{
    printf "%s\t%s:%d: %s\n", rule, FILENAME, line ? line : FNR, what
}

# The part of the house that a path stands in.
function part_of(path,    p)
{
    if (path ~ /^src\/(main|serve)\.c$/)
        return substr(path, 5, length(path) - 6)
    split(path, p, "/")
    return p[1] == "src" ? p[2] : p[1]
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

function check_include(line,    header, to)
{
    header = line
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", header)
    sub(/[">].*/, "", header)
    if (header in home && part != home[header] && part !~ /^(tests|tools)$/)
        breach("include", header " is for " home[header] "/ only")
    if (line !~ /"/ || header !~ /\// || !(part in may))
        return
    to = part_of(header)
    if (to == "kernels" && FILENAME ~ /^src\/executor\/cpu/)
        return
    if (!has_word(may[part], to))
        breach("include", part " may not include " header)
}

function check_calls(code,    name)
{
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)) {
        name = substr(code, RSTART, RLENGTH - 1)
        sub(/ +$/, "", name)
        code = substr(code, RSTART + RLENGTH)
        if (part != "tests" && name ~ /^(str(n)?cpy|strcat|v?sprintf|gets|ato[ilf]|strtok)$/)
            breach("banned", name "() is not used here")
        if (FILENAME !~ /^(src|kernels)\// || part ~ /^(command|main|serve)$/)
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
    part = part_of(FILENAME)
    in_comment = begun = 0
    want = part in licence ? licence[part] : GPL
    spdx = 0
}

FNR <= 3 && /SPDX-License-Identifier: / {
    spdx = 1
    if (index($0, "SPDX-License-Identifier: " want) == 0)
        breach("licence", "this part of the house is " want)
}

FNR == 3 && !spdx {
    breach("licence", "no SPDX-License-Identifier in the first lines", 1)
}

/(TODO|FIXME)/ { breach("text", "unfinished work is told in an issue, not in the code") }
/\t/ { breach("text", "a tab") }
/[ ]$/ { breach("text", "a space at the end") }

{
    # Includes are seen before their quotes are blanked.
    if (!in_comment && /^[ \t]*#[ \t]*include/)
        check_include($0)
    code = bare($0)
    check_calls(code)
    check_length(code)
    if (part == "kernels" && code ~ /vector_size/ && code !~ /vector_size\(VEC\)/)
        breach("width", "a vector is as wide as a register: VEC, in a body of kernels/wide.h")
}
