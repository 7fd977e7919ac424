/* SPDX-License-Identifier: MIT
 *
 * Operators that need the graph, and are run by the interpreter, which has it: what calls of them
 * are checked against. None has an infer() or a run().
 */
#include "kernels/core/row.h"

static const struct odb_attr_spec control_if_attrs[] = {
    ODB_REQUIRED_ATTR("then_branch", GRAPH),
    ODB_REQUIRED_ATTR("else_branch", GRAPH),
    {.name = NULL},
};
static const struct odb_attr_spec control_body_attrs[] = {
    ODB_REQUIRED_ATTR("body", GRAPH),
    {.name = NULL},
};
static const struct odb_attr_spec control_scan_attrs_8[] = {
    ODB_REQUIRED_ATTR("body", GRAPH),
    ODB_REQUIRED_ATTR("num_scan_inputs", INT),
    ODB_OPTIONAL_ATTR("directions", INTS, NULL),
    {.name = NULL},
};
static const struct odb_attr_spec control_scan_attrs[] = {
    ODB_REQUIRED_ATTR("body", GRAPH),
    ODB_REQUIRED_ATTR("num_scan_inputs", INT),
    ODB_OPTIONAL_ATTR("scan_input_axes", INTS, NULL),
    ODB_OPTIONAL_ATTR("scan_input_directions", INTS, NULL),
    ODB_OPTIONAL_ATTR("scan_output_axes", INTS, NULL),
    ODB_OPTIONAL_ATTR("scan_output_directions", INTS, NULL),
    {.name = NULL},
};
static const struct odb_attr_spec control_flex_attrs[] = {
    ODB_OPTIONAL_ATTR("score_mod", GRAPH, NULL),
    ODB_OPTIONAL_ATTR("prob_mod", GRAPH, NULL),
    ODB_OPTIONAL_ATTR("scale", FLOAT, NULL),
    ODB_OPTIONAL_ATTR("softmax_precision", INT, NULL),
    {.name = NULL},
};
static const struct odb_attr_spec control_gradient_attrs[] = {
    ODB_REQUIRED_ATTR("xs", STRINGS),
    ODB_OPTIONAL_ATTR("zs", STRINGS, NULL),
    ODB_REQUIRED_ATTR("y", STRING),
    {.name = NULL},
};
static const struct odb_attr_spec control_search_attrs[] = {
    ODB_REQUIRED_ATTR("decoder", GRAPH),
    ODB_OPTIONAL_ATTR("encoder", GRAPH, NULL),
    ODB_OPTIONAL_ATTR("init_decoder", GRAPH, NULL),
    ODB_OPTIONAL_ATTR("model_type", INT, "0"),
    ODB_REQUIRED_ATTR("eos_token_id", INT),
    ODB_REQUIRED_ATTR("pad_token_id", INT),
    ODB_OPTIONAL_ATTR("decoder_start_token_id", INT, "-1"),
    ODB_OPTIONAL_ATTR("no_repeat_ngram_size", INT, "0"),
    ODB_OPTIONAL_ATTR("vocab_size", INT, "-1"),
    ODB_OPTIONAL_ATTR("early_stopping", INT, "0"),
    {.name = NULL},
};

#define CONTROL_I32 ODB_BIT(ODB_I32)
#define CONTROL_I64 ODB_BIT(ODB_I64)
#define CONTROL_REAL (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F16))
#define CONTROL_STATE (ODB_T_ANY | ODB_T_SEQUENCE | ODB_T_OPTIONAL)
#define CONTROL_OUTS ODB_ARITY(1, ODB_MANY)

/* Required inputs behind optional ones are checked by the interpreter, which runs these
 * operators. */
const struct odb_op odb_ops_control[] = {
    ODB_ONNX("If", 1, ODB_ARITY(1, 1), CONTROL_OUTS, 0, control_if_attrs, NULL, NULL, ODB_T_BOOL,
             ODB_NAMES("cond", "outputs..."), ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    ODB_ONNX("Loop", 1, ODB_ARITY(0, ODB_MANY), CONTROL_OUTS, 0, control_body_attrs, NULL, NULL,
             CONTROL_I64, ODB_T_BOOL, CONTROL_STATE, ODB_EACH,
             ODB_NAMES("M,cond,v_initial...", "v_final_and_scan_outputs..."),
             ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    ODB_ONNX("Scan", 8, ODB_ARITY(0, ODB_MANY), CONTROL_OUTS, 0, control_scan_attrs_8, NULL, NULL,
             CONTROL_I64, ODB_T_ANY, ODB_EACH,
             ODB_NAMES("sequence_lens,initial_state_and_scan_inputs...",
                       "final_state_and_scan_outputs..."),
             ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    ODB_ONNX("Scan", 9, ODB_ARITY(1, ODB_MANY), CONTROL_OUTS, 0, control_scan_attrs, NULL, NULL,
             ODB_T_ANY, ODB_EACH,
             ODB_NAMES("initial_state_and_scan_inputs...", "final_state_and_scan_outputs...")),
    ODB_ONNX("SequenceMap", 17, ODB_ARITY(1, ODB_MANY), CONTROL_OUTS, 0, control_body_attrs, NULL,
             NULL, ODB_T_SEQUENCE, ODB_T_ANY | ODB_T_SEQUENCE, ODB_EACH,
             ODB_NAMES("input_sequence,additional_inputs...", "out_sequence...")),
    ODB_ROW("ai.onnx.preview", "FlexAttention", 1, ODB_ARITY(3, 3), ODB_ARITY(1, 1), 0,
            control_flex_attrs, NULL, NULL, ODB_T_FLOAT, ODB_NAMES("Q,K,V", "Y")),
    ODB_ROW("com.microsoft", "GreedySearch", 1, ODB_ARITY(2, 7), ODB_ARITY(1, 1), 0,
            control_search_attrs, NULL, NULL, CONTROL_I32, CONTROL_I32, CONTROL_I32, CONTROL_REAL,
            CONTROL_I32,
            ODB_NAMES("input_ids,max_length,min_length,repetition_penalty,vocab_mask,"
                      "prefix_vocab_mask,attention_mask",
                      "sequences")),
    ODB_ROW("com.microsoft", "BeamSearch", 1, ODB_ARITY(5, 13), ODB_ARITY(1, 3), 0,
            control_search_attrs, NULL, NULL, CONTROL_I32 | CONTROL_REAL, CONTROL_I32, CONTROL_I32,
            CONTROL_I32, CONTROL_I32, CONTROL_REAL, ODB_AS(5), CONTROL_I32, .types[12] = ODB_AS(5),
            ODB_NAMES("input_ids,max_length,min_length,num_beams,num_return_sequences,"
                      "length_penalty,repetition_penalty,vocab_mask,prefix_vocab_mask,"
                      "attention_mask,decoder_input_ids,logits_processor,temperature",
                      "sequences,sequences_scores,scores")),
    ODB_ROW("ai.onnx.preview.training", "Gradient", 1, ODB_ARITY(1, ODB_MANY), CONTROL_OUTS, 0,
            control_gradient_attrs, NULL, NULL, ODB_T_ANY, ODB_EACH,
            ODB_NAMES("Inputs...", "Outputs..."), ODB_READS("y")),
    {.name = NULL},
};
