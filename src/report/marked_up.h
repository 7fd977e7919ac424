/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any text, shown safely, in forms that give some characters a meaning.
 */
#ifndef ODB_REPORT_MARKED_UP_H
#define ODB_REPORT_MARKED_UP_H

#include "base/buf.h"

/* Of XML, in an element or between double quotes. Lines stay lines. */
void odb_put_xml(struct odb_buf *out, const char *text);
/* Of Markdown, in one line, a cell of a table too: marks are characters, and nothing is a link.
 * text may be NULL. */
void odb_put_markdown(struct odb_buf *out, const char *text);

#endif
