# SPDX-License-Identifier: GPL-3.0-or-later
# Whether a terminal survives a file: no controls but ends of lines, no marks of direction.
import sys

text = open(sys.argv[1], "rb").read().replace(b"\r\n", b"\n").decode("utf-8")
bad = [c for c in text if (c < " " and c != "\n") or "\x7f" <= c < "\xa0" or
       "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"]
sys.exit(f"{len(bad)} characters that act, the first {bad[0]!r}" if bad else 0)
