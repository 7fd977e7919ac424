/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft that the reference does not run: only what ONNX Runtime's documents
 * call their inputs and outputs, and what else is known of them.
 */
#include "kernels/contrib/contrib.h"

#define FOREIGN_ROW(op, ...)                                                                       \
    {                                                                                              \
        .domain = "com.microsoft", .name = op, .since = 1, __VA_ARGS__                             \
    }

const struct odb_op odb_ops_contrib_foreign[] = {
    FOREIGN_ROW(
        "AttnLSTM",
        ODB_NAMES("X,W,R,B,sequence_lens,initial_h,initial_c,P,QW,MW,V,M,memory_seq_lens,AW",
                  "Y,Y_h,Y_c")),
    FOREIGN_ROW("DequantizeBFP", ODB_NAMES("x,shape,strides", "y")),
    FOREIGN_ROW("DequantizeWithOrder", ODB_NAMES("input,scale_input", "output")),
    FOREIGN_ROW("EPContext", ODB_NAMES("inputs...", "outputs...")),
    FOREIGN_ROW("GemmFloat8", ODB_NAMES("A,B,C,scaleA,scaleB,scaleY", "Y")),
    FOREIGN_ROW("LongformerAttention",
                ODB_NAMES("input,weight,bias,mask,global_weight,global_bias,global", "output")),
    FOREIGN_ROW("MaxpoolWithMask", ODB_NAMES("X,M", "Y")),
    FOREIGN_ROW("QOrderedAttention",
                ODB_NAMES("input,scale_input,scale_Q_gemm,scale_K_gemm,scale_V_gemm,Q_weight,"
                          "K_weight,V_weight,scale_Q_weight,scale_K_weight,scale_V_weight,Q_bias,"
                          "K_bias,V_bias,scale_QKT_gemm,scale_QKT_softmax,scale_values_gemm,"
                          "mask_index,past,attention_bias",
                          "output")),
    FOREIGN_ROW("QOrderedGelu", ODB_NAMES("X,scale_X,scale_Y", "Y")),
    FOREIGN_ROW("QOrderedLayerNormalization", ODB_NAMES("X,scale_X,scale,B,scale_Y", "Y")),
    FOREIGN_ROW("QOrderedLongformerAttention",
                ODB_NAMES("input,scale_input,weight,scale_weight,bias,scale_bias,scale_qkv_gemm,"
                          "mask,global_weight,scale_global_weight,global_bias,scale_global_gemm,"
                          "global,scale_output",
                          "output")),
    FOREIGN_ROW("QOrderedMatMul", ODB_NAMES("A,scale_A,B,scale_B,scale_Y,bias,C,scale_C", "Y")),
    FOREIGN_ROW("QuantizeBFP", ODB_NAMES("x", "y,shape,strides")),
    FOREIGN_ROW("QuantizeWithOrder", ODB_NAMES("input,scale_input", "output")),
    FOREIGN_ROW("Sampling",
                ODB_NAMES("input_ids,max_length,min_length,repetition_penalty,vocab_mask,"
                          "prefix_vocab_mask,attention_mask,presence_mask,seed",
                          "sequences,filtered_logits")),
    FOREIGN_ROW("Snpe", ODB_NAMES("inputs...", "outputs...")),
    FOREIGN_ROW(
        "WhisperBeamSearch",
        ODB_NAMES("input_ids,max_length,min_length,num_beams,num_return_sequences,length_penalty,"
                  "repetition_penalty,vocab_mask,prefix_vocab_mask,attention_mask,"
                  "decoder_input_ids,logits_processor,cross_qk_layer_head,"
                  "extra_decoding_ids",
                  "sequences,sequences_scores,scores,cross_qk,non_speech_probs")),
    {.name = NULL},
};
