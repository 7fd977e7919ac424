/* SPDX-License-Identifier: MIT
 *
 * JSON as Python's json.dump(indent=4) writes it, byte for byte, NaN and Infinity included; and
 * what it wrote, read again.
 */
#ifndef ODB_TENSOR_FORMAT_PYJSON_H
#define ODB_TENSOR_FORMAT_PYJSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct odb_pyjson {
    struct odb_buf *out; /* borrowed */
    int depth;
    bool inside; /* the object or list that is open has something in it */
    bool named;  /* a key stands there and waits for its value */
};

/* bracket: '{' or '['; and what closes it. */
void odb_pyjson_open(struct odb_pyjson *json, char bracket);
void odb_pyjson_close(struct odb_pyjson *json, char bracket);
void odb_pyjson_key(struct odb_pyjson *json, const char *key);
/* text is UTF-8; bytes that are not become U+FFFD. */
void odb_pyjson_text(struct odb_pyjson *json, const char *text);
void odb_pyjson_int(struct odb_pyjson *json, int64_t v);
void odb_pyjson_real(struct odb_pyjson *json, double v);
void odb_pyjson_bool(struct odb_pyjson *json, bool v);
void odb_pyjson_null(struct odb_pyjson *json);

/* What is in a file; NaN and Infinity, which are no JSON, are null. ODB_E_IO, ODB_E_FORMAT. */
enum odb_status odb_pyjson_load(json_t **out, const char *path, struct odb_error *err) ODB_MUST_USE;

#endif
