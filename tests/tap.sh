# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests/check-*, which run from the repository's root: where things are, and TAP.
# shellcheck shell=sh
B=${B:-build}
program=$B/onnxdbg
[ -x "$program" ] || program=./onnxdbg
shared=${ONNXDBG_SHARED:-../shared}
tier=${ONNXDBG_TIER:-check} # "all": everything at its full length
ONNXDBG_SERVE=${ONNXDBG_SERVE:-$(cd "$(dirname "$program")" && pwd)/onnxdbg-serve}
export ONNXDBG_SERVE
scratch=$(mktemp -d)
export XDG_STATE_HOME="$scratch/state" # nobody's own
export ONNXDBG_CACHE="$scratch/cache"  # the same
export ONNXDBG_FROZEN_CLOCK=1 # explanations take the time that they need, on a busy machine too
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
tap_n=0
tap_failed=0

ok() { # WHAT
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1"
}

not_ok() { # WHAT [FILE that says more]
    tap_n=$((tap_n + 1))
    tap_failed=1
    echo "not ok $tap_n - $1"
    [ $# -lt 2 ] || head -n 40 "$2" | sed 's/^/# /'
}

skip() { # WHY
    tap_n=$((tap_n + 1))
    echo "ok $tap_n # SKIP $1"
}

# Whether what is tested was built with a sanitizer.
sanitized() {
    grep -qE '__(asan|tsan)_init' "$program"
}

# Of two settings, the one for the tests of every day, or the one for all of them.
pick() { # CHECK ALL
    if [ "$tier" = all ]; then echo "$2"; else echo "$1"; fi
}

# For searches whose third opinion does not matter below the tier "all": NumPy's, which takes five
# times as long as a search, is not asked.
without_numpy() {
    [ "$tier" = all ] || export ONNXDBG_PYTHON=none
}

# KIB of addresses, for who takes no more: a sanitizer's own tables need more than any program.
addresses() {
    if sanitized; then echo unlimited; else echo "$1"; fi
}

# One test: a command, quiet unless it fails.
passes() { # WHAT COMMAND…
    tap_what=$1
    shift
    if "$@" >"$scratch/tap.out" 2>&1; then
        ok "$tap_what"
    else
        not_ok "$tap_what" "$scratch/tap.out"
    fi
}

# The same for a command that must end with another status than 0.
ends() { # STATUS WHAT COMMAND…
    tap_want=$1
    tap_what=$2
    shift 2
    "$@" >"$scratch/tap.out" 2>&1
    tap_status=$?
    if [ "$tap_status" -eq "$tap_want" ]; then
        ok "$tap_what"
    else
        echo "exit status $tap_status, not $tap_want" >>"$scratch/tap.out"
        not_ok "$tap_what" "$scratch/tap.out"
    fi
}

equals() { # WHAT EXPECTED ACTUAL
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        printf 'expected: %s\nactual:   %s\n' "$2" "$3" >"$scratch/tap.out"
        not_ok "$1" "$scratch/tap.out"
    fi
}

has_ort() {
    "$program" executors | grep -q '^ort  *available'
}

done_testing() {
    echo "1..$tap_n"
    exit $tap_failed
}
