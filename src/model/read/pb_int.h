/* SPDX-License-Identifier: MIT
 *
 * Messages that hold one value, as pb.c (reading) and pb_write.c share them.
 */
#ifndef ODB_MODEL_READ_PB_INT_H
#define ODB_MODEL_READ_PB_INT_H

#include "onnx.pb-c.h"
#include "tensor/tensor.h"

/* Numbers of SequenceProto.DataType and OptionalProto.DataType. */
enum pb_elem { PB_UNDEFINED, PB_TENSOR, PB_SPARSE, PB_SEQUENCE, PB_MAP, PB_OPTIONAL };

static const struct pb_kind {
    enum pb_elem elem;
    const ProtobufCMessageDescriptor *message;
} pb_kinds[] = {
    [ODB_TENSOR] = {PB_TENSOR, &onnx__tensor_proto__descriptor},
    [ODB_SEQUENCE] = {PB_SEQUENCE, &onnx__sequence_proto__descriptor},
    [ODB_OPTIONAL] = {PB_OPTIONAL, &onnx__optional_proto__descriptor},
    [ODB_SPARSE] = {PB_SPARSE, &onnx__sparse_tensor_proto__descriptor},
    [ODB_MAP] = {PB_MAP, &onnx__map_proto__descriptor},
};

#endif
