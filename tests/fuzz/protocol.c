/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What comes over the line: as the child reads what it is asked, and as the debugger reads what a
 * child answers. (What children do besides is played by t_isolation.c.)
 */
#include "fuzz.h"

#include <unistd.h>

#include "executor/transport/protocol.h"

/* The bytes as a line that ends behind them. */
static enum odb_status protocol_receive(const uint8_t *data, size_t size, struct odb_frame *frame,
                                        struct odb_error *err)
{
    char path[FUZZ_PATH];
    int fd = fuzz_file(data, size, path);
    lseek(fd, 0, SEEK_SET);
    struct odb_channel channel = {.in = fd, .out = -1};
    enum odb_status status = odb_channel_receive(&channel, frame, err);
    close(fd);
    return status;
}

static void protocol_tensors(struct odb_frame *frame, Odb__Wire__Tensor *const *items, size_t n)
{
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t at = 0; at < n;) {
        struct odb_tensor *t = NULL;
        if (odb_wire_get(&t, frame, items, n, &at, &err) != ODB_OK)
            return;
        fuzz_look_take(t);
    }
}

static void protocol_blob(struct odb_frame *frame, const Odb__Wire__Blob *blob)
{
    struct odb_error err = ODB_ERROR_INIT;
    const void *data;
    size_t size;
    if (odb_frame_blob(frame, blob, &data, &size, &err) == ODB_OK && size)
        free(odb_xmemdup(data, size));
}

/* As serve.c does, short of doing what it is asked. */
static void protocol_request(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_frame frame;
    if (protocol_receive(data, size, &frame, &err) != ODB_OK)
        return;
    Odb__Wire__Request *request =
        (Odb__Wire__Request *)odb_frame_unpack(&frame, &odb__wire__request__descriptor);
    if (request && request->say_case == ODB__WIRE__REQUEST__SAY_EXECUTE)
        protocol_tensors(&frame, request->execute->inputs, request->execute->n_inputs);
    if (request && request->say_case == ODB__WIRE__REQUEST__SAY_LOAD)
        protocol_blob(&frame, request->load->model);
    if (request && request->say_case == ODB__WIRE__REQUEST__SAY_PUT)
        protocol_blob(&frame, request->put->data);
    if (request)
        odb__wire__request__free_unpacked(request, NULL);
    odb_frame_dispose(&frame);
}

/* As target.c does. */
static void protocol_reply(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_frame frame;
    if (protocol_receive(data, size, &frame, &err) != ODB_OK)
        return;
    Odb__Wire__Reply *reply =
        (Odb__Wire__Reply *)odb_frame_unpack(&frame, &odb__wire__reply__descriptor);
    if (reply && reply->say_case == ODB__WIRE__REPLY__SAY_VALUES)
        protocol_tensors(&frame, reply->values->outputs, reply->values->n_outputs);
    if (reply && reply->say_case == ODB__WIRE__REPLY__SAY_ACCOUNT)
        protocol_blob(&frame, reply->account->text);
    if (reply)
        odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    protocol_request(data, size);
    protocol_reply(data, size);
    return 0;
}
