/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft that the reference does not run: only what ONNX Runtime's documents
 * call their inputs and outputs, and why no kernel runs them.
 */
#include "kernels/contrib/contrib.h"

#define FOREIGN_ROW(op, ...)                                                                       \
    {                                                                                              \
        .domain = "com.microsoft", .name = op, .since = 1, __VA_ARGS__                             \
    }

const struct odb_op odb_ops_contrib_foreign[] = {
    FOREIGN_ROW("DequantizeBFP", ODB_NAMES("x,shape,strides", "y"),
                ODB_WITHOUT("how its blocks of bits lie is published nowhere")),
    FOREIGN_ROW("EPContext", ODB_NAMES("inputs...", "outputs..."),
                ODB_WITHOUT("it holds a graph that was compiled for one device")),
    FOREIGN_ROW("GemmFloat8", ODB_NAMES("A,B,C,scaleA,scaleB,scaleY", "Y"),
                ODB_WITHOUT("whether the scale of its result multiplies stands in no document")),
    FOREIGN_ROW("QOrderedAttention",
                ODB_NAMES("input,scale_input,scale_Q_gemm,scale_K_gemm,scale_V_gemm,Q_weight,"
                          "K_weight,V_weight,scale_Q_weight,scale_K_weight,scale_V_weight,Q_bias,"
                          "K_bias,V_bias,scale_QKT_gemm,scale_QKT_softmax,scale_values_gemm,"
                          "mask_index,past,attention_bias",
                          "output"),
                ODB_WITHOUT("how it rounds to int8 between its products stands in no document")),
    FOREIGN_ROW("QOrderedLongformerAttention",
                ODB_NAMES("input,scale_input,weight,scale_weight,bias,scale_bias,scale_qkv_gemm,"
                          "mask,global_weight,scale_global_weight,global_bias,scale_global_gemm,"
                          "global,scale_output",
                          "output"),
                ODB_WITHOUT("how it rounds to int8 between its products stands in no document")),
    FOREIGN_ROW("QuantizeBFP", ODB_NAMES("x", "y,shape,strides"),
                ODB_WITHOUT("how its blocks of bits lie is published nowhere")),
    FOREIGN_ROW("Sampling",
                ODB_NAMES("input_ids,max_length,min_length,repetition_penalty,vocab_mask,"
                          "prefix_vocab_mask,attention_mask,presence_mask,seed",
                          "sequences,filtered_logits"),
                ODB_WITHOUT("it draws tokens by random numbers of the runtime's own")),
    FOREIGN_ROW("Snpe", ODB_NAMES("inputs...", "outputs..."),
                ODB_WITHOUT("it holds a network of Qualcomm's own format")),
    FOREIGN_ROW(
        "WhisperBeamSearch",
        ODB_NAMES("input_ids,max_length,min_length,num_beams,num_return_sequences,length_penalty,"
                  "repetition_penalty,vocab_mask,prefix_vocab_mask,attention_mask,"
                  "decoder_input_ids,logits_processor,cross_qk_layer_head,"
                  "extra_decoding_ids",
                  "sequences,sequences_scores,scores,cross_qk,non_speech_probs"),
        ODB_WITHOUT("its rules for Whisper's timestamps stand in no document")),
    {.name = NULL},
};
