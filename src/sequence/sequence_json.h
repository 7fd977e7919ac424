/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence as JSON.
 */
#ifndef ODB_SEQUENCE_SEQUENCE_JSON_H
#define ODB_SEQUENCE_SEQUENCE_JSON_H

#include "sequence/sequence_found.h"

struct json_t;

/* {"steps", "verdict", "onset", "carries", …}; a new reference. */
struct json_t *odb_sequence_json(const struct odb_sequence *sequence);

#endif
