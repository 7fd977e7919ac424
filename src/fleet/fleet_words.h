/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fleet told: as text, Markdown for an issue or a pull request, JSON, JUnit by cause, and HTML.
 */
#ifndef ODB_FLEET_FLEET_WORDS_H
#define ODB_FLEET_FLEET_WORDS_H

#include "base/buf.h"
#include "fleet/since.h"

/* What is told. */
struct odb_fleet_told {
    const struct odb_fleet *fleet;
    const struct odb_causes *causes;
    const struct odb_since *since; /* NULL: there is nothing to hold it against */
    const char *folder;            /* with its sessions; NULL: nothing is linked to */
    const char *page;              /* the file that is written, for links from it; NULL: none */
};

/* "137 pass · 41 diverge: …" in one line, without a newline. */
void odb_fleet_put_line(const struct odb_fleet_told *told, struct odb_buf *out);
void odb_fleet_put_text(const struct odb_fleet_told *told, struct odb_buf *out);
void odb_fleet_put_markdown(const struct odb_fleet_told *told, struct odb_buf *out);
void odb_fleet_put_json(const struct odb_fleet_told *told, struct odb_buf *out);
/* One page for a browser, of itself; scripts in it only sort and filter. Links lead to repros, and
 * to the page of a model's search where one stands beside its session. */
void odb_fleet_put_html(const struct odb_fleet_told *told, struct odb_buf *out);
void odb_fleet_put_junit(const struct odb_fleet_told *told, struct odb_buf *out);

#endif
