/* SPDX-License-Identifier: MIT
 *
 * A model file is a few hundred kilobytes of structure around gigabytes of weights, and protobuf-c
 * would copy them all: it has no lazy bytes. So the messages that protoc-c declares are filled
 * here: structure is copied, and byte fields point into the file.
 *
 * Which field holds which message, and which holds bytes, is read from the descriptors that
 * protoc-c makes of the .proto file: they are the table, and there is no second one to keep.
 *
 * A message is gone through twice: first its fields are checked and counted, so that it can be said
 * where a file is damaged and lists are made in one piece; then they are stored. A message that
 * comes up again is filled further, which is what merging means: numbers are replaced, lists grow.
 */
#include "model/read/wire.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"

enum {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_32 = 5
};

enum { WIRE_FIELDS = 32 }; /* of one type of message, at most */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fixed numbers are little-endian");

struct wire_scan {
    const unsigned char *base;  /* of the file, for byte numbers */
    ProtobufCAllocator *memory; /* borrowed: the arena's */
    size_t *messages;           /* so far */
    struct odb_error *err;
};

/* One field as it stands in the file. */
struct wire_field {
    const ProtobufCMessageDescriptor *type;
    const ProtobufCFieldDescriptor *desc; /* NULL: a field that we do not know */
    const unsigned char *start;           /* its tag */
    const unsigned char *body;            /* what stands behind that: a length, if it has one */
    const unsigned char *data, *end;      /* its payload, without the length */
    uint64_t number;                      /* of a varint */
    uint32_t tag;
};

static const unsigned char wire_of_type[] = {
    [PROTOBUF_C_TYPE_INT32] = WIRE_VARINT,  [PROTOBUF_C_TYPE_SINT32] = WIRE_VARINT,
    [PROTOBUF_C_TYPE_SFIXED32] = WIRE_32,   [PROTOBUF_C_TYPE_INT64] = WIRE_VARINT,
    [PROTOBUF_C_TYPE_SINT64] = WIRE_VARINT, [PROTOBUF_C_TYPE_SFIXED64] = WIRE_64,
    [PROTOBUF_C_TYPE_UINT32] = WIRE_VARINT, [PROTOBUF_C_TYPE_FIXED32] = WIRE_32,
    [PROTOBUF_C_TYPE_UINT64] = WIRE_VARINT, [PROTOBUF_C_TYPE_FIXED64] = WIRE_64,
    [PROTOBUF_C_TYPE_FLOAT] = WIRE_32,      [PROTOBUF_C_TYPE_DOUBLE] = WIRE_64,
    [PROTOBUF_C_TYPE_BOOL] = WIRE_VARINT,   [PROTOBUF_C_TYPE_ENUM] = WIRE_VARINT,
    [PROTOBUF_C_TYPE_STRING] = WIRE_BYTES,  [PROTOBUF_C_TYPE_BYTES] = WIRE_BYTES,
    [PROTOBUF_C_TYPE_MESSAGE] = WIRE_BYTES,
};

static const unsigned char wire_size_of_type[] = {
    [PROTOBUF_C_TYPE_INT32] = sizeof(int32_t),
    [PROTOBUF_C_TYPE_SINT32] = sizeof(int32_t),
    [PROTOBUF_C_TYPE_SFIXED32] = sizeof(int32_t),
    [PROTOBUF_C_TYPE_INT64] = sizeof(int64_t),
    [PROTOBUF_C_TYPE_SINT64] = sizeof(int64_t),
    [PROTOBUF_C_TYPE_SFIXED64] = sizeof(int64_t),
    [PROTOBUF_C_TYPE_UINT32] = sizeof(uint32_t),
    [PROTOBUF_C_TYPE_FIXED32] = sizeof(uint32_t),
    [PROTOBUF_C_TYPE_UINT64] = sizeof(uint64_t),
    [PROTOBUF_C_TYPE_FIXED64] = sizeof(uint64_t),
    [PROTOBUF_C_TYPE_FLOAT] = sizeof(float),
    [PROTOBUF_C_TYPE_DOUBLE] = sizeof(double),
    [PROTOBUF_C_TYPE_BOOL] = sizeof(protobuf_c_boolean),
    [PROTOBUF_C_TYPE_ENUM] = sizeof(int32_t),
    [PROTOBUF_C_TYPE_STRING] = sizeof(char *),
    [PROTOBUF_C_TYPE_BYTES] = sizeof(ProtobufCBinaryData),
    [PROTOBUF_C_TYPE_MESSAGE] = sizeof(ProtobufCMessage *),
};

/* --- what is wrong ---------------------------------------------------------------------------- */

/* "field 9 (raw_data) of TensorProto" */
static const char *wire_field_name(const struct wire_field *f, char *buf, size_t size)
{
    snprintf(buf, size, "field %u%s%s%s of %s", f->tag >> 3, f->desc ? " (" : "",
             f->desc ? f->desc->name : "", f->desc ? ")" : "", f->type->short_name);
    return buf;
}

static enum odb_status wire_fail(const struct wire_scan *s, const unsigned char *at)
{
    odb_error_at(s->err, "byte %zu", (size_t)(at - s->base));
    return ODB_E_MODEL;
}

static enum odb_status wire_too_short(const struct wire_scan *s, const struct wire_field *f,
                                      uint64_t need, size_t left)
{
    char name[160];
    odb_fail(s->err, ODB_E_MODEL, "%s needs %" PRIu64 " bytes, and %zu are left",
             wire_field_name(f, name, sizeof name), need, left);
    odb_error_remedy(s->err, "the file is cut short or damaged");
    return wire_fail(s, f->start);
}

static enum odb_status wire_too_many(const struct wire_scan *s, const struct wire_field *f)
{
    char name[160];
    odb_fail(s->err, ODB_E_MODEL, "%s comes up again more than %d times",
             wire_field_name(f, name, sizeof name), (int)ODB_LIMIT_PARTS);
    return wire_fail(s, f->start);
}

static enum odb_status wire_no_memory(const struct wire_scan *s, const char *what)
{
    return odb_fail(s->err, ODB_E_NOMEM, "out of memory while reading %s", what);
}

/* --- one field -------------------------------------------------------------------------------- */

static bool wire_long_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70 && *p < end; shift += 7) {
        unsigned char byte = *(*p)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* False: it ends too early or is longer than any number is. Most are of one byte. */
static inline bool wire_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    if (*p == end || **p & 0x80)
        return wire_long_varint(p, end, value);
    *value = *(*p)++;
    return true;
}

/* Finds where the field's payload lies. */
static enum odb_status wire_payload(const struct wire_scan *s, struct wire_field *f,
                                    const unsigned char *p, const unsigned char *end)
{
    char name[160];
    uint64_t need = 0;
    switch (f->tag & 7) {
    case WIRE_VARINT:
        f->data = p;
        if (!wire_varint(&p, end, &f->number)) {
            odb_fail(s->err, ODB_E_MODEL, "%s holds no valid number",
                     wire_field_name(f, name, sizeof name));
            return wire_fail(s, f->start);
        }
        f->end = p;
        return ODB_OK;
    case WIRE_64:
        need = 8;
        break;
    case WIRE_32:
        need = 4;
        break;
    case WIRE_BYTES:
        if (!wire_varint(&p, end, &need)) {
            odb_fail(s->err, ODB_E_MODEL, "%s has no valid length",
                     wire_field_name(f, name, sizeof name));
            return wire_fail(s, f->start);
        }
        break;
    default:
        odb_fail(s->err, ODB_E_MODEL, "%s has wire type %u (%s)",
                 wire_field_name(f, name, sizeof name), f->tag & 7,
                 (f->tag & 7) > WIRE_32 ? "there is no such type" : "a group: ONNX has none");
        return wire_fail(s, f->start);
    }
    if (need > (uint64_t)(end - p))
        return wire_too_short(s, f, need, (size_t)(end - p));
    f->data = p;
    f->end = p + need;
    return ODB_OK;
}

static bool wire_is_packed(const struct wire_field *f)
{
    return (f->tag & 7) == WIRE_BYTES && f->desc->label == PROTOBUF_C_LABEL_REPEATED &&
           wire_of_type[f->desc->type] != WIRE_BYTES;
}

/* How many numbers of a repeated field are in one run of bytes; false: it is damaged. */
static bool wire_packed(const struct wire_field *f, size_t *n)
{
    size_t size = (size_t)(f->end - f->data), each = wire_size_of_type[f->desc->type];
    uint64_t value;
    *n = 0;
    if (wire_of_type[f->desc->type] != WIRE_VARINT) {
        *n = size / each;
        return size % each == 0;
    }
    for (const unsigned char *p = f->data; p < f->end; ++*n)
        if (!wire_varint(&p, f->end, &value))
            return false;
    return true;
}

/* A known field must have the wire type that its type asks for, and not be too large. *n: how many
 * elements of a list it holds. */
static enum odb_status wire_check(const struct wire_scan *s, const struct wire_field *f, size_t *n)
{
    unsigned want = wire_of_type[f->desc->type], got = f->tag & 7;
    bool packed = wire_is_packed(f);
    size_t size = (size_t)(f->end - f->data);
    char name[160];
    *n = 1;
    if (packed ? !wire_packed(f, n) : got != want) {
        odb_fail(s->err, ODB_E_MODEL,
                 packed ? "%s holds a damaged list of numbers"
                        : "%s has wire type %u, and must have %u",
                 wire_field_name(f, name, sizeof name), got, want);
        return wire_fail(s, f->start);
    }
    if (f->desc->type == PROTOBUF_C_TYPE_STRING && size > ODB_LIMIT_TEXT) {
        odb_fail(s->err, ODB_E_MODEL, "%s is a text of %zu bytes, and at most %d are read",
                 wire_field_name(f, name, sizeof name), size, (int)ODB_LIMIT_TEXT);
        return wire_fail(s, f->start);
    }
    return ODB_OK;
}

/* NULL: the number is of no field that we know. Mostly they are numbered from 1 on. */
static inline const ProtobufCFieldDescriptor *wire_find(const ProtobufCMessageDescriptor *type,
                                                        uint32_t number)
{
    if (number <= type->n_fields && type->fields[number - 1].id == number)
        return &type->fields[number - 1];
    return protobuf_c_message_descriptor_get_field(type, number);
}

/* The field that begins at *p, which moves behind it. */
static enum odb_status wire_next(const struct wire_scan *s, const ProtobufCMessageDescriptor *type,
                                 const unsigned char **p, const unsigned char *end,
                                 struct wire_field *f)
{
    uint64_t tag;
    f->type = type;
    f->start = *p;
    if (!wire_varint(p, end, &tag) || tag > UINT32_MAX || tag >> 3 == 0) {
        odb_fail(s->err, ODB_E_MODEL, "no field of %s begins here", type->short_name);
        odb_error_remedy(s->err, "the file is damaged, or is no ONNX file");
        return wire_fail(s, f->start);
    }
    f->tag = (uint32_t)tag;
    f->desc = wire_find(type, f->tag >> 3);
    f->body = *p;
    if ((tag & 7) == WIRE_BYTES && *p < end && **p < ODB_MIN(0x80, end - *p)) { /* as most are */
        f->data = *p + 1;
        f->end = f->data + **p;
    } else {
        ODB_TRY(wire_payload(s, f, *p, end));
    }
    *p = f->end;
    return ODB_OK;
}

/* --- making room ------------------------------------------------------------------------------ */

static void *wire_alloc(const struct wire_scan *s, size_t n, size_t size)
{
    size_t bytes;
    return odb_size_mul(n, size, &bytes) ? s->memory->alloc(s->memory->allocator_data, bytes)
                                         : NULL;
}

/* A list of *n elements gets room for more. */
static enum odb_status wire_grow(const struct wire_scan *s, void **list, size_t n, size_t more,
                                 size_t size)
{
    void *longer = wire_alloc(s, n + more, size);
    if (!longer)
        return wire_no_memory(s, "a list");
    if (n)
        memcpy(longer, *list, n * size);
    *list = longer;
    return ODB_OK;
}

/* Checks all fields of a message and makes its lists as long as they need be. */
static enum odb_status wire_prepare(const struct wire_scan *s, ProtobufCMessage *message,
                                    const unsigned char *p, const unsigned char *end)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    size_t more[WIRE_FIELDS] = {0}, unknown = 0, n;
    int parts = 0;
    struct wire_field f;
    ODB_ASSERT(type->n_fields <= WIRE_FIELDS);
    while (p < end) {
        ODB_TRY(wire_next(s, type, &p, end, &f));
        if (!f.desc) {
            unknown++;
            continue;
        }
        ODB_TRY(wire_check(s, &f, &n));
        if (f.desc->label == PROTOBUF_C_LABEL_REPEATED)
            more[f.desc - type->fields] += n;
        else if (f.desc->type == PROTOBUF_C_TYPE_MESSAGE && ++parts > ODB_LIMIT_PARTS)
            return wire_too_many(s, &f);
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *desc = &type->fields[i];
        char *at = (char *)message;
        if (more[i])
            ODB_TRY(wire_grow(s, (void **)(at + desc->offset),
                              *(size_t *)(at + desc->quantifier_offset), more[i],
                              wire_size_of_type[desc->type]));
    }
    if (unknown)
        ODB_TRY(wire_grow(s, (void **)&message->unknown_fields, message->n_unknown_fields, unknown,
                          sizeof *message->unknown_fields));
    return ODB_OK;
}

/* --- filling it ------------------------------------------------------------------------------- */

static enum odb_status wire_message(const struct wire_scan *s, ProtobufCMessage *message,
                                    const unsigned char *p, const unsigned char *end, int depth);

/* *at: what is filled further; NULL: a fresh one. */
static enum odb_status wire_submessage(const struct wire_scan *s, const struct wire_field *f,
                                       ProtobufCMessage **at, int depth)
{
    const ProtobufCMessageDescriptor *type = f->desc->descriptor;
    if (depth >= ODB_LIMIT_DEPTH) {
        odb_fail(s->err, ODB_E_MODEL, "messages are nested more than %d deep",
                 (int)ODB_LIMIT_DEPTH);
        return wire_fail(s, f->start);
    }
    if (++*s->messages > ODB_LIMIT_MESSAGES) {
        odb_fail(s->err, ODB_E_MODEL, "it is made of more than %d messages",
                 (int)ODB_LIMIT_MESSAGES);
        return wire_fail(s, f->start);
    }
    if (!*at) {
        *at = wire_alloc(s, 1, type->sizeof_message);
        if (!*at)
            return wire_no_memory(s, type->short_name);
        type->message_init(*at);
    }
    return wire_message(s, *at, f->data, f->end, depth + 1);
}

static enum odb_status wire_text(const struct wire_scan *s, const struct wire_field *f, char **at)
{
    size_t size = (size_t)(f->end - f->data);
    *at = wire_alloc(s, size + 1, 1);
    if (!*at)
        return wire_no_memory(s, f->type->short_name);
    memcpy(*at, f->data, size);
    (*at)[size] = '\0';
    return ODB_OK;
}

/* A number as it stands in a message. value: of a varint; else its bytes are at p. */
static void wire_number(ProtobufCType type, uint64_t value, const unsigned char *p, void *at)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = value != 0;
        break;
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SINT64:
        value = value >> 1 ^ -(value & 1);
        memcpy(at, &value, wire_size_of_type[type]);
        break;
    default: /* the lower bytes are those of the narrower types */
        memcpy(at, wire_of_type[type] == WIRE_VARINT ? (const void *)&value : p,
               wire_size_of_type[type]);
    }
}

static void wire_packed_numbers(const struct wire_field *f, char *list, size_t *n)
{
    ProtobufCType type = f->desc->type;
    size_t size = wire_size_of_type[type];
    uint64_t value = 0;
    if (wire_of_type[type] != WIRE_VARINT) { /* as they lie there */
        memcpy(list + *n * size, f->data, (size_t)(f->end - f->data));
        *n += (size_t)(f->end - f->data) / size;
        return;
    }
    for (const unsigned char *p = f->data; p < f->end && wire_varint(&p, f->end, &value);)
        wire_number(type, value, p, list + (*n)++ * size);
}

/* Where a field's value goes, which then counts as there. */
static char *wire_place(ProtobufCMessage *message, const ProtobufCFieldDescriptor *desc)
{
    char *member = (char *)message + desc->offset;
    char *quantifier = (char *)message + desc->quantifier_offset;
    if (desc->label == PROTOBUF_C_LABEL_REPEATED)
        return *(char **)member + (*(size_t *)quantifier)++ * wire_size_of_type[desc->type];
    if (desc->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t *which = (uint32_t *)quantifier;
        if (*which != desc->id)
            memset(member, 0, wire_size_of_type[desc->type]);
        *which = desc->id;
    } else if (desc->quantifier_offset) {
        *(protobuf_c_boolean *)quantifier = true;
    }
    return member;
}

static enum odb_status wire_known(const struct wire_scan *s, ProtobufCMessage *message,
                                  const struct wire_field *f, int depth)
{
    const ProtobufCFieldDescriptor *desc = f->desc;
    if (wire_is_packed(f)) {
        wire_packed_numbers(f, *(char **)((char *)message + desc->offset),
                            (size_t *)((char *)message + desc->quantifier_offset));
        return ODB_OK;
    }
    char *at = wire_place(message, desc);
    switch (desc->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        if (desc->label == PROTOBUF_C_LABEL_REPEATED)
            *(ProtobufCMessage **)at = NULL;
        return wire_submessage(s, f, (ProtobufCMessage **)at, depth);
    case PROTOBUF_C_TYPE_STRING:
        return wire_text(s, f, (char **)at);
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)at =
            (ProtobufCBinaryData){(size_t)(f->end - f->data), (uint8_t *)f->data};
        return ODB_OK;
    default:
        wire_number(desc->type, f->number, f->data, at);
        return ODB_OK;
    }
}

/* Its tag is kept apart from its bytes, in which a length, if any, is included. */
static void wire_unknown(ProtobufCMessage *message, const struct wire_field *f)
{
    message->unknown_fields[message->n_unknown_fields++] = (ProtobufCMessageUnknownField){
        f->tag >> 3, f->tag & 7, (size_t)(f->end - f->body), (uint8_t *)f->body};
}

static enum odb_status wire_message(const struct wire_scan *s, ProtobufCMessage *message,
                                    const unsigned char *p, const unsigned char *end, int depth)
{
    struct wire_field f;
    ODB_TRY(wire_prepare(s, message, p, end));
    while (p < end) {
        ODB_TRY(wire_next(s, message->descriptor, &p, end, &f));
        if (f.desc)
            ODB_TRY(wire_known(s, message, &f, depth));
        else
            wire_unknown(message, &f);
    }
    return ODB_OK;
}

/* --- public ----------------------------------------------------------------------------------- */

enum odb_status odb_model__unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type,
                                  const unsigned char *data, size_t size, struct model_arena *arena,
                                  struct odb_error *err)
{
    size_t messages = 0;
    struct wire_scan s = {data, odb_model__arena_allocator(arena), &messages, err};
    ProtobufCMessage *message = wire_alloc(&s, 1, type->sizeof_message);
    if (!message)
        return wire_no_memory(&s, type->short_name);
    type->message_init(message);
    ODB_TRY(wire_message(&s, message, data, data + size, 0));
    *out = message;
    return ODB_OK;
}
