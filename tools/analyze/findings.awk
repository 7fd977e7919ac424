# SPDX-License-Identifier: GPL-3.0-or-later
# Prints what analyzers found, without what is excepted, and exceptions that except nothing.
#   awk -f tools/analyze/findings.awk tools/analyze/exceptions.tsv OUTPUT…
# An exception is FILE (or FOLDER/), RULE, a part of the message, and the reason why it is none.
# Exits 1 when anything was printed.

BEGIN { FS = "\t" }

FNR == NR {
    if ($0 ~ /^#/ || $0 == "")
        next
    if (NF != 4 || $4 == "") {
        printf "%s:%d: an exception is FILE, RULE, MESSAGE and REASON\n", FILENAME, FNR
        bad = 1
    }
    n++
    file[n] = $1
    rule[n] = $2
    message[n] = $3
    line[n] = FNR
    exceptions = FILENAME
    next
}

function excepted(text,    i, found) {
    for (i = 1; i <= n; i++)
        if (index(text, file[i] (file[i] ~ /\/$/ ? "" : ":")) == 1 && index(text, rule[i]) &&
            index(text, message[i]))
            found = used[i] = 1
    return found
}

# FILE:LINE:COLUMN: warning: MESSAGE [RULE], of a file that is ours; the rest explains it.
/^[^ ]+:[0-9]+:([0-9]+:)? (warning|error|style|performance|portability): / {
    sub(/^\.\//, "")
    sub(root "/", "")
    if (seen[$0]++ || excepted($0))
        next
    print
    bad = 1
}

END {
    for (i = 1; i <= n; i++)
        if (!used[i]) {
            printf "%s:%d: excepts nothing any more\n", exceptions, line[i]
            bad = 1
        }
    exit bad
}
