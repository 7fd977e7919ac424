# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of what `make tar` and `make wheel` make, behind tests/tap.sh. To make them it takes
# cmake and Debian's mirror, which are there where tools/setup.sh has run and there is a net.
# shellcheck shell=sh
native=$(uname -m)-linux-gnu
older=$PWD/vendor/cross/$native

# Both have the same programs, and their tests may run at once.
alone() {
    flock "$B/packages.lock" "$@"
}
package() { # TARGET: make sets variables that mean another make
    alone env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory B="$B" "$1"
}

# Ends the test where none can be made.
packages_or_skip() {
    if sanitized; then
        skip "a sanitizer's program is for no package"
        done_testing
    fi
    for need in cmake apt-get "$native-gcc"; do
        command -v "$need" >/dev/null || {
            skip "no $need here"
            done_testing
        }
    done
    # shellcheck disable=SC2016
    alone sh -c '[ -e "$1/complete" ] || tools/cross.sh "$2"' - "$older" "$native" >"$scratch/said" 2>&1 || {
        skip "the libraries of an older Debian cannot be had: $(tail -n 1 "$scratch/said")"
        done_testing
    }
}
