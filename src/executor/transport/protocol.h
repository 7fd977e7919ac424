/* SPDX-License-Identifier: MIT
 *
 * Frames of executor.proto over a socket or a pair of pipes, and tensors in them. Both ends use
 * it: target.c asks, serve.c answers.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_PROTOCOL_H
#define ODB_EXECUTOR_TRANSPORT_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "executor.pb-c.h"
#include "tensor/spill.h"
#include "tensor/tensor.h"

#define ODB_WIRE_VERSION 2

/* One end of a conversation. */
struct odb_channel {
    int in, out; /* borrowed; the same descriptor for a socket */
    bool local;  /* a socket within this machine: attachments go through descriptors */
    /* Waits until fd is ready for events (poll's), or says why not to go on. NULL: the descriptors
     * block. */
    enum odb_status (*wait)(void *payload, int fd, short events, struct odb_error *err);
    void *payload;
    struct odb_spill *aside; /* borrowed: takes large attachments; NULL: they are held in memory */
};

/* Bytes that go with a message, borrowed until it is sent. Small ones are copied into the message
 * as long as they are few; the rest becomes the attachment. */
struct odb_parcel {
    struct odb_parcel_part *parts; /* owned */
    size_t n_parts, cap;
    size_t size;    /* of the attachment so far */
    size_t inlined; /* bytes in the message so far */
};

/* A frame that came: message and attachment. Tensors decoded from it hold refs on its storages. */
struct odb_frame {
    unsigned char *message; /* owned */
    size_t message_size;
    const unsigned char *attachment; /* borrowed: storage */
    size_t attachment_size;
    struct odb_storage *storage; /* ref; NULL without attachment */
    size_t strings;              /* bytes of it that were made texts of tensors */
};

void odb_parcel_dispose(struct odb_parcel *parcel);
/* Fills blob, which borrows data until the message is sent. */
void odb_parcel_add(struct odb_parcel *parcel, Odb__Wire__Blob *blob, const void *data,
                    size_t size);

/* Sends message (NULL-free, packed here) with the parcel. A peer that is gone: ODB_E_IO. */
enum odb_status odb_channel_send(const struct odb_channel *channel, const ProtobufCMessage *message,
                                 const struct odb_parcel *parcel,
                                 struct odb_error *err) ODB_MUST_USE;
/* ODB_E_IO: the peer is gone; ODB_E_FORMAT: what came is no frame. */
enum odb_status odb_channel_receive(const struct odb_channel *channel, struct odb_frame *frame,
                                    struct odb_error *err) ODB_MUST_USE;
void odb_frame_dispose(struct odb_frame *frame); /* idempotent */

/* The message of a frame, to be freed with protobuf_c_message_free_unpacked(…, NULL). NULL where it
 * is malformed, or a small one that would become a large one. */
ProtobufCMessage *odb_frame_unpack(const struct odb_frame *frame,
                                   const ProtobufCMessageDescriptor *type);

/* The bytes of a blob: borrowed from the message or the frame. */
enum odb_status odb_frame_blob(const struct odb_frame *frame, const Odb__Wire__Blob *blob,
                               const void **data, size_t *size, struct odb_error *err) ODB_MUST_USE;

/* A list of tensors under way: the heads and everything below them. */
struct odb_wire_list {
    Odb__Wire__Tensor **items; /* owned, for the message's repeated field */
    size_t n, cap;
    struct odb_buf **texts; /* owned: encoded strings */
    size_t n_texts;
};

void odb_wire_list_dispose(struct odb_wire_list *list);
/* Appends t (and its parts; NULL: that there is none) under name, or, with same, only the name.
 * Name and data are borrowed until the message is sent. */
enum odb_status odb_wire_put(struct odb_wire_list *list, struct odb_parcel *parcel,
                             const char *name, const struct odb_tensor *t, bool same,
                             struct odb_error *err) ODB_MUST_USE;
/* Reads the tensor that begins at items[*at] and moves *at behind it. NULL: there is none. */
enum odb_status odb_wire_get(struct odb_tensor **out, struct odb_frame *frame,
                             Odb__Wire__Tensor *const *items, size_t n, size_t *at,
                             struct odb_error *err) ODB_MUST_USE;

#endif
