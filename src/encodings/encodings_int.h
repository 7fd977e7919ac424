/* SPDX-License-Identifier: MIT
 *
 * Shared by the readers of the formats.
 */
#ifndef ODB_ENCODINGS_ENCODINGS_INT_H
#define ODB_ENCODINGS_ENCODINGS_INT_H

#include <jansson.h>

#include "encodings/encodings.h"

/* A list of numbers; of a nested list the innermost come first. */
struct encodings_numbers {
    double *items; /* owned */
    size_t n;
    int rank; /* lists inside each other; 0: a number by itself */
    size_t dims[ODB_MAX_RANK];
};

/* Of a number, or of lists of numbers. NULL is no numbers. ODB_E_FORMAT for anything else. */
enum odb_status encodings_numbers(struct encodings_numbers *out, const json_t *json,
                                  struct odb_error *err) ODB_MUST_USE;

/* A whole number from 0 on; NULL leaves *out as it is. what: "axis", for the error: ODB_E_FORMAT.
 */
enum odb_status encodings_whole(int *out, const json_t *json, const char *what,
                                struct odb_error *err) ODB_MUST_USE;

/* What a file says of one value: number = (code - zero) * scale, for codes from least to most. */
struct encodings_said {
    const char *name;
    enum odb_dtype type; /* as in struct odb_encoding */
    int bits;
    bool is_signed; /* the codes are */
    bool symmetric;
    struct encodings_numbers scale;
    struct encodings_numbers zero; /* as many, or one, or none: 0 */
    int axis, block_axis;
    int64_t block;
    bool bounded; /* the codes are these and not all that the bits allow */
    double least, most;
};

#define ENCODINGS_SAID(value)                                                                      \
    {                                                                                              \
        .name = (value), .bits = 8, .axis = ODB_ENCODING_NO_AXIS,                                  \
        .block_axis = ODB_ENCODING_NO_AXIS                                                         \
    }

void encodings_said_dispose(struct encodings_said *said);
/* Adds it, or says what about it cannot be. */
enum odb_status encodings_say(struct odb_encodings *out, const struct encodings_said *said,
                              struct odb_error *err) ODB_MUST_USE;
/* The end of reading a value, which came to status: adds it, unless it stays in float32, or names
 * it in the error. Disposes of it. */
enum odb_status encodings_take(struct odb_encodings *out, struct encodings_said *said,
                               enum odb_status status, struct odb_error *err) ODB_MUST_USE;

/* One format each. text ends with NUL. */
enum odb_status encodings_read_own(struct odb_encodings *out, const json_t *root,
                                   struct odb_error *err) ODB_MUST_USE;
/* AIMET's and QNN's: those that name activation_encodings or param_encodings, and from 2.0.0 on. */
enum odb_status encodings_read_aimet(struct odb_encodings *out, const json_t *root,
                                     struct odb_error *err) ODB_MUST_USE;
enum odb_status encodings_read_rknn(struct odb_encodings *out, const char *text,
                                    struct odb_error *err) ODB_MUST_USE;

#endif
