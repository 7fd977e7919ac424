/* SPDX-License-Identifier: MIT
 *
 * A model file is a few hundred kilobytes of structure around gigabytes of weights, and protobuf-c
 * would copy them all: it has no lazy bytes. So the structure is copied first, here: one pass over
 * the file writes the same message with each byte field shrunk to a locator, (offset, length) in
 * the file. protobuf-c unpacks this skeleton; then a walk over the unpacked messages turns the
 * locators into pointers into the file.
 *
 * Which field holds which message, and which holds bytes, both passes read from the descriptors
 * that protoc-c makes of the .proto file: they are the table, and there is no second one to keep.
 *
 * The first pass is also the gatekeeper: it checks everything that could make protobuf-c fail, for
 * it can say where, and protobuf-c only that. Repeated occurrences of a singular message stand in
 * the skeleton as they stood in the file; protobuf-c merges them.
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

enum { LENGTH_BYTES = 5 }; /* of a length that is known only after what it counts is written */

/* What stands in a skeleton for bytes. */
struct wire_locator {
    uint64_t offset, length;
};

struct wire_scan {
    const unsigned char *base; /* of the file, for byte numbers */
    struct odb_buf *out;
    size_t *messages; /* so far */
    struct odb_error *err;
};

/* One field as it stands in the file. */
struct wire_field {
    const ProtobufCMessageDescriptor *type;
    const ProtobufCFieldDescriptor *desc; /* NULL: a field that we do not know */
    const unsigned char *start;           /* its tag */
    const unsigned char *data, *end;      /* its payload, without the length */
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

/* --- from the file to the skeleton ------------------------------------------------------------ */

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

/* False: it ends too early or is longer than any number is. */
static bool wire_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
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

static void wire_put_varint(struct odb_buf *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    odb_buf_add(out, bytes, n);
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

/* Finds where the field's payload lies. */
static enum odb_status wire_payload(const struct wire_scan *s, struct wire_field *f,
                                    const unsigned char *p, const unsigned char *end)
{
    char name[160];
    uint64_t need = 0;
    switch (f->tag & 7) {
    case WIRE_VARINT:
        f->data = p;
        if (!wire_varint(&p, end, &need)) {
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

/* Numbers of a repeated field in one run of bytes. */
static bool wire_packed_ok(const struct wire_field *f)
{
    size_t size = (size_t)(f->end - f->data);
    switch (wire_of_type[f->desc->type]) {
    case WIRE_32:
        return size % 4 == 0;
    case WIRE_64:
        return size % 8 == 0;
    default:
        for (const unsigned char *p = f->data; p < f->end;) {
            uint64_t value;
            if (!wire_varint(&p, f->end, &value))
                return false;
        }
        return true;
    }
}

/* A known field must have the wire type that its type asks for. */
static enum odb_status wire_check(const struct wire_scan *s, const struct wire_field *f)
{
    unsigned want = wire_of_type[f->desc->type], got = f->tag & 7;
    bool packed =
        got == WIRE_BYTES && want != WIRE_BYTES && f->desc->label == PROTOBUF_C_LABEL_REPEATED;
    char name[160];
    if (packed ? !wire_packed_ok(f) : got != want) {
        odb_fail(s->err, ODB_E_MODEL,
                 packed ? "%s holds a damaged list of numbers"
                        : "%s has wire type %u, and must have %u",
                 wire_field_name(f, name, sizeof name), got, want);
        return wire_fail(s, f->start);
    }
    return ODB_OK;
}

static enum odb_status wire_message(const struct wire_scan *s,
                                    const ProtobufCMessageDescriptor *type, const unsigned char *p,
                                    const unsigned char *end, int depth);

/* Its length is written last, in a fixed number of bytes: longer than need be, but valid. */
static enum odb_status wire_submessage(const struct wire_scan *s, const struct wire_field *f,
                                       int depth)
{
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
    size_t at = s->out->len;
    odb_buf_add(s->out, "\x80\x80\x80\x80\x00", LENGTH_BYTES);
    ODB_TRY(wire_message(s, f->desc->descriptor, f->data, f->end, depth + 1));
    size_t length = s->out->len - at - LENGTH_BYTES;
    if (length > ODB_LIMIT_FIELD) {
        odb_fail(s->err, ODB_E_MODEL, "message holds over 2 GiB besides its weights");
        return wire_fail(s, f->start);
    }
    for (int i = 0; i < LENGTH_BYTES && s->out->data; i++, length >>= 7)
        s->out->data[at + (size_t)i] |= (char)(length & 0x7f);
    return ODB_OK;
}

static enum odb_status wire_copy(const struct wire_scan *s, const struct wire_field *f)
{
    size_t size = (size_t)(f->end - f->data);
    char name[160];
    if (f->desc && f->desc->type == PROTOBUF_C_TYPE_STRING && size > ODB_LIMIT_TEXT) {
        odb_fail(s->err, ODB_E_MODEL, "%s is a text of %zu bytes, and at most %d are read",
                 wire_field_name(f, name, sizeof name), size, (int)ODB_LIMIT_TEXT);
        return wire_fail(s, f->start);
    }
    if (size > ODB_LIMIT_FIELD) {
        odb_fail(s->err, ODB_E_MODEL, "%s is over 2 GiB long",
                 wire_field_name(f, name, sizeof name));
        odb_error_remedy(s->err, "only raw_data and external data may be that large");
        return wire_fail(s, f->start);
    }
    if ((f->tag & 7) == WIRE_BYTES)
        wire_put_varint(s->out, size);
    odb_buf_add(s->out, f->data, size);
    return ODB_OK;
}

static enum odb_status wire_too_many(const struct wire_scan *s, const struct wire_field *f)
{
    char name[160];
    odb_fail(s->err, ODB_E_MODEL, "%s comes up again more than %d times",
             wire_field_name(f, name, sizeof name), (int)ODB_LIMIT_PARTS);
    return wire_fail(s, f->start);
}

static bool wire_is_located(const ProtobufCFieldDescriptor *desc)
{
    return desc->type == PROTOBUF_C_TYPE_BYTES && desc->label != PROTOBUF_C_LABEL_REPEATED;
}

static enum odb_status wire_message(const struct wire_scan *s,
                                    const ProtobufCMessageDescriptor *type, const unsigned char *p,
                                    const unsigned char *end, int depth)
{
    int parts = 0;
    while (p < end) {
        struct wire_field f = {.type = type, .start = p};
        uint64_t tag;
        if (!wire_varint(&p, end, &tag) || tag > UINT32_MAX || tag >> 3 == 0) {
            odb_fail(s->err, ODB_E_MODEL, "no field of %s begins here", type->short_name);
            odb_error_remedy(s->err, "the file is damaged, or is no ONNX file");
            return wire_fail(s, f.start);
        }
        f.tag = (uint32_t)tag;
        f.desc = protobuf_c_message_descriptor_get_field(type, f.tag >> 3);
        ODB_TRY(wire_payload(s, &f, p, end));
        p = f.end;
        if (f.desc)
            ODB_TRY(wire_check(s, &f));
        wire_put_varint(s->out, f.tag);
        if (f.desc && f.desc->type == PROTOBUF_C_TYPE_MESSAGE) {
            parts += f.desc->label != PROTOBUF_C_LABEL_REPEATED;
            ODB_TRY(parts > ODB_LIMIT_PARTS ? wire_too_many(s, &f) : wire_submessage(s, &f, depth));
        } else if (f.desc && wire_is_located(f.desc)) {
            struct wire_locator at = {(uint64_t)(f.data - s->base), (uint64_t)(f.end - f.data)};
            wire_put_varint(s->out, sizeof at);
            odb_buf_add(s->out, &at, sizeof at);
        } else {
            ODB_TRY(wire_copy(s, &f));
        }
    }
    return ODB_OK;
}

/* --- from locators to pointers ---------------------------------------------------------------- */

static void wire_patch(ProtobufCMessage *message, const unsigned char *base)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        char *member = (char *)message + field->offset;
        const char *quantifier = (char *)message + field->quantifier_offset;
        if (wire_is_located(field) && *(const protobuf_c_boolean *)quantifier) {
            ProtobufCBinaryData *bytes = (ProtobufCBinaryData *)member;
            struct wire_locator at;
            memcpy(&at, bytes->data, sizeof at);
            bytes->len = (size_t)at.length;
            bytes->data = (uint8_t *)base + at.offset;
        } else if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
            continue;
        } else if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            ProtobufCMessage **list = *(ProtobufCMessage ***)member;
            for (size_t k = 0, n = *(const size_t *)quantifier; k < n; k++)
                wire_patch(list[k], base);
        } else if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ||
                   *(const uint32_t *)quantifier == field->id) {
            if (*(ProtobufCMessage **)member)
                wire_patch(*(ProtobufCMessage **)member, base);
        }
    }
}

/* --- public ----------------------------------------------------------------------------------- */

enum odb_status odb_model__skeleton(const ProtobufCMessageDescriptor *type,
                                    const unsigned char *data, size_t size, struct odb_buf *out,
                                    struct odb_error *err)
{
    size_t messages = 0;
    struct wire_scan s = {data, out, &messages, err};
    ODB_TRY(wire_message(&s, type, data, data + size, 0));
    if (out->overflowed)
        return odb_fail(err, ODB_E_NOMEM, "%s: its structure is too large", type->short_name);
    return ODB_OK;
}

enum odb_status odb_model__unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type,
                                  const unsigned char *data, size_t size, struct model_arena *arena,
                                  struct odb_error *err)
{
    struct odb_buf skeleton = ODB_BUF_INIT;
    enum odb_status status = odb_model__skeleton(type, data, size, &skeleton, err);
    if (status == ODB_OK) {
        *out = protobuf_c_message_unpack(type, odb_model__arena_allocator(arena), skeleton.len,
                                         (const uint8_t *)odb_buf_text(&skeleton));
        if (*out)
            wire_patch(*out, data);
        else /* the skeleton was checked: nothing else is left */
            status = odb_fail(err, ODB_E_NOMEM, "out of memory while reading %s", type->short_name);
    }
    odb_buf_dispose(&skeleton);
    return status;
}
