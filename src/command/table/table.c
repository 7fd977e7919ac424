/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of commands.
 */
#include "command/table/table.h"

#include "base/mem.h"
#include "bisect/strategy.h"
#include "calibration/calibrate.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "dump/dump.h"
#include "kernels/core/kern.h"

/* Arguments: one that must be there, one that may, and any number of them. */
#define NEEDS(text, kind, ...)                                                                     \
    {                                                                                              \
        .name = text, .type = ODB_ARG_##kind, ##__VA_ARGS__                                        \
    }
#define TAKES(text, kind, ...) NEEDS(text, kind, .optional = true, ##__VA_ARGS__)
#define MODEL NEEDS("MODEL", MODEL)

static const struct odb_arg args_model[] = {MODEL, {0}};
static const struct odb_arg args_about[] = {
    MODEL, TAKES("TOPIC", CHOICE, .range = ODB_INFO_TOPICS), {0}};
static const struct odb_arg args_model_text[] = {MODEL, TAKES("TEXT", TEXT), {0}};
static const struct odb_arg args_node[] = {MODEL, NEEDS("NODE", NODE, .bodies = true), {0}};
static const struct odb_arg args_explained[] = {
    TAKES("MODEL|FILE", SOURCE), TAKES("NODE|FILE", NODE, .repeated = true, .bodies = true), {0}};
static const struct odb_arg args_scored[] = {MODEL, TAKES("NODE", NODE, .repeated = true), {0}};
static const struct odb_arg args_source[] = {
    NEEDS("MODEL|FILE", SOURCE), TAKES("VALUE", VALUE), {0}};
static const struct odb_arg args_lint[] = {NEEDS("MODEL", SOURCE), {0}};
static const struct odb_arg args_slice[] = {NEEDS("MODEL|FILE", SOURCE),
                                            TAKES("EXPRESSION", SLICE, .bodies = true),
                                            TAKES("EXPRESSION", SLICE, .bodies = true),
                                            {0}};
static const struct odb_arg args_export[] = {
    MODEL, TAKES("NODE[:NODE]", NODES, .bodies = true), {0}};
static const struct odb_arg args_drawn[] = {
    MODEL, TAKES("NODE[:NODE]", NODES, .repeated = true, .bodies = true), {0}};
static const struct odb_arg args_two[] = {NEEDS("EVALUATED", PATH), NEEDS("BASE", PATH), {0}};
static const struct odb_arg args_dump[] = {
    NEEDS("full|once|range|list", ENUM, .range = "full|once|range|list"),
    TAKES("MODEL", SOURCE),
    TAKES("NAME", OUTPUT, .repeated = true),
    {0}};
static const struct odb_arg args_dirs[] = {NEEDS("DIR", PATH, .repeated = true), {0}};
static const struct odb_arg args_none[] = {{0}};
static const struct odb_arg args_folder[] = {TAKES("DIR", PATH), {0}};
static const struct odb_arg args_kind[] = {TAKES("KIND", SPEC), {0}};
static const struct odb_arg args_machine[] = {NEEDS("PLACE", TEXT), {0}};
static const struct odb_arg args_tried[] = {TAKES("TARGET", SPEC, .repeated = true), {0}};
static const struct odb_arg args_count[] = {TAKES("N", INT, .range = "0..1000000000"), {0}};
static const struct odb_arg args_row[] = {NEEDS("N", INT, .range = "1..1000000000"), {0}};
static const struct odb_arg args_ahead[] = {TAKES("N", INT, .range = "1..1000000000"), {0}};
static const struct odb_arg args_step[] = {TAKES("N", INT, .range = "-1000000000..1000000000"),
                                           {0}};
static const struct odb_arg args_axis[] = {TAKES("AXIS", INT, .range = "-16..15"), {0}};
static const struct odb_arg args_words[] = {TAKES("TEXT", TEXT, .repeated = true), {0}};
static const struct odb_arg args_text[] = {TAKES("TEXT", TEXT), {0}};
static const struct odb_arg args_stop[] = {TAKES("NODE|OPERATOR|VALUE", NODE, .bodies = true),
                                           TAKES("if CONDITION", CONDITION, .repeated = true),
                                           {0}};
static const struct odb_arg args_condition[] = {TAKES("CONDITION", CONDITION, .repeated = true),
                                                {0}};
static const struct odb_arg args_conditioned[] = {
    NEEDS("N", STOP), TAKES("CONDITION", CONDITION, .repeated = true), {0}};
static const struct odb_arg args_ignored[] = {
    NEEDS("N", STOP), NEEDS("COUNT", INT, .range = "0..1000000000"), {0}};
static const struct odb_arg args_numbers[] = {TAKES("N", STOP, .repeated = true), {0}};
static const struct odb_arg args_deleted[] = {
    TAKES("N|NODE|OPERATOR", STOP, .repeated = true, .bodies = true), {0}};
static const struct odb_arg args_pinned[] = {
    TAKES("VALUE", VALUE), TAKES("reference|FILE", CHOICE, .range = "reference|FILE"), {0}};
static const struct odb_arg args_marked[] = {TAKES("NODE", NODE, .bodies = true), {0}};
static const struct odb_arg args_goto[] = {NEEDS("NODE", NODE, .bodies = true), {0}};
static const struct odb_arg args_bookmark[] = {TAKES("LETTER", TEXT), TAKES("NODE", NODE), {0}};
static const struct odb_arg args_note[] = {
    TAKES("NODE", NODE, .bodies = true), TAKES("TEXT", TEXT, .repeated = true), {0}};
static const struct odb_arg args_shown[] = {TAKES("SETTING", OPTION), {0}};
static const struct odb_arg args_compared[] = {NEEDS("VALUE|NODE", SLICE, .bodies = true), {0}};
static const struct odb_arg args_blamed[] = {TAKES("NODE", NODE, .bodies = true), {0}};
static const struct odb_arg args_saved[] = {
    NEEDS("FILE", PATH), TAKES("HOW", ENUM, .range = "over"), {0}};
static const struct odb_arg args_script[] = {NEEDS("FILE", PATH), {0}};
static const struct odb_arg args_alias[] = {
    TAKES("NAME", TEXT), TAKES("= COMMAND", TEXT, .repeated = true), {0}};
static const struct odb_arg args_line[] = {NEEDS("LINE", TEXT), {0}};
static const struct odb_arg args_expression[] = {TAKES("EXPRESSION", SLICE, .bodies = true), {0}};
static const struct odb_arg args_place[] = {NEEDS("NODE", NODE), {0}};
static const struct odb_arg args_value[] = {TAKES("VALUE", VALUE), {0}};
static const struct odb_arg args_unpinned[] = {TAKES("VALUE", PINNED), {0}};
static const struct odb_arg args_unmarked[] = {NEEDS("NODE", MARKED), {0}};
static const struct odb_arg args_letter[] = {TAKES("LETTER", LETTER), {0}};
static const struct odb_arg args_view[] = {
    TAKES("VIEW", ENUM, .range = ODB_VIEW_LIST(ODB_VIEW_CHOICE) "|diff" + 1), {0}};
static const struct odb_arg args_sort[] = {TAKES("COLUMN", CHOICE, .range = ODB_SORTS "|reverse"),
                                           TAKES("ORDER", ENUM, .range = "asc|desc"),
                                           {0}};
static const struct odb_arg args_theme[] = {TAKES("THEME", ENUM, .range = "auto|dark|light|mono"),
                                            {0}};
static const struct odb_arg args_switch[] = {TAKES("HOW", ENUM, .range = "on|off"), {0}};
static const struct odb_arg args_columns[] = {
    TAKES("COLUMN", ENUM, .range = ODB_COLUMNS, .repeated = true), {0}};
static const struct odb_arg args_file[] = {
    TAKES("FILE", PATH), TAKES("HOW", ENUM, .range = "over"), {0}};
static const struct odb_arg args_over[] = {TAKES("HOW", ENUM, .range = "over"), {0}};
static const struct odb_arg args_copied[] = {
    TAKES("WHAT", ENUM, .range = "node|value|number|error|row|view|command"), {0}};
static const struct odb_arg args_fold[] = {TAKES("HOW", TEXT), {0}};
static const struct odb_arg args_mode[] = {TAKES("MODE", ENUM, .range = ODB_TENSOR_MODES), {0}};
static const struct odb_arg args_measure[] = {TAKES("MEASURE", ENUM, .range = ODB_TENSOR_MEASURES),
                                              {0}};
static const struct odb_arg args_part[] = {TAKES("PART", ENUM, .range = ODB_TENSOR_PARTS), {0}};
static const struct odb_arg args_order[] = {TAKES("COLUMN", ENUM, .range = ODB_CHANNEL_ORDERS),
                                            {0}};
static const struct odb_arg args_tolerance[] = {TAKES("TOLERANCE", TOLERANCE), {0}};
static const struct odb_arg args_setting[] = {
    TAKES("SETTING", OPTION), TAKES("VALUE", SETTING), {0}};
static const struct odb_arg args_shell[] = {NEEDS("SHELL", ENUM, .range = "bash|zsh|fish"), {0}};
static const struct odb_arg args_report[] = {NEEDS("FILE", PATH), {0}};
static const struct odb_arg args_fleet[] = {NEEDS("MODELS", PATH), {0}};
static const struct odb_arg args_page[] = {TAKES("PAGE", COMMAND), {0}};
static const struct odb_arg args_topic[] = {TAKES("COMMAND", COMMAND), {0}};

#define OPTS_FEEDS                                                                                 \
    ODB_OPTION_INPUT, ODB_OPTION_INPUTS_FROM, ODB_OPTION_DIM, ODB_OPTION_SEED, ODB_OPTION_KERNELS, \
        ODB_OPTION_MEM, ODB_OPTION_FOLLOW_LINKS
#define OPTS_PLAN                                                                                  \
    ODB_OPTION_STEPS, ODB_OPTION_PREFILL, ODB_OPTION_CHUNKS, ODB_OPTION_CARRY, ODB_OPTION_START,   \
        ODB_OPTION_HOLD, ODB_OPTION_FEED, ODB_OPTION_NEXT, ODB_OPTION_STOP, ODB_OPTION_FREE,       \
        ODB_OPTION_SEQUENCE
#define OPTS_FED OPTS_FEEDS, ODB_OPTION_INPUTS
#define OPTS_STEPS OPTS_FED, OPTS_PLAN, ODB_OPTION_AT_STEP
#define OPTS_RUN                                                                                   \
    OPTS_STEPS, ODB_OPTION_REFERENCE, ODB_OPTION_TARGET, ODB_OPTION_MAP, ODB_OPTION_LAYOUT,        \
        ODB_OPTION_TYPES
#define OPTS_SEARCH                                                                                \
    OPTS_STEPS, ODB_OPTION_REFERENCE, ODB_OPTION_GOLDEN, ODB_OPTION_TARGET, ODB_OPTION_MAP,        \
        ODB_OPTION_LAYOUT, ODB_OPTION_TOL, ODB_OPTION_EXPECT, ODB_OPTION_TYPES,                    \
        ODB_OPTION_ENCODINGS
#define OPTS_MEASURES                                                                              \
    ODB_OPTION_TOL, ODB_OPTION_CHECK, ODB_OPTION_TOLERANCES, ODB_OPTION_COLUMNS, ODB_OPTION_TOP_K, \
        ODB_OPTION_AXIS, ODB_OPTION_JSON
#define OPTS_STRATEGY                                                                              \
    ODB_OPTION_STRATEGY, ODB_OPTION_STEP, ODB_OPTION_REPEAT, ODB_OPTION_EXPLAIN_BUDGET,            \
        ODB_OPTION_VARIANTS

#define OPTS_DUMP                                                                                  \
    OPTS_FEEDS, ODB_OPTION_FRAME_TYPE, ODB_OPTION_ONNX_DIR, ODB_OPTION_MODEL_TYPE,                 \
        ODB_OPTION_PASSED_PATH, ODB_OPTION_CUT_INPUTS, ODB_OPTION_CUT_OUTPUTS,                     \
        ODB_OPTION_DUMP_STEP, ODB_OPTION_OUTPUT_NAME, ODB_OPTION_BEGIN, ODB_OPTION_END,            \
        ODB_OPTION_BEGIN_NAME, ODB_OPTION_END_NAME, ODB_OPTION_COMPARE_DIR,                        \
        ODB_OPTION_DUMP_GOLDEN, ODB_OPTION_INPUT_TAG, ODB_OPTION_TH1, ODB_OPTION_TH2,              \
        ODB_OPTION_ROOT_DIR, ODB_OPTION_INPUTS_DIR, ODB_OPTION_OUTPUTS_DIR,                        \
        ODB_OPTION_DUMP_STRATEGY

/* What a row takes; those of a verb are named in its row. */
#define OPTIONS(...) ((const enum odb_option_id[]){__VA_ARGS__, ODB_OPTION_COUNT})
#define options_none NULL
#define options_search OPTIONS(OPTS_SEARCH)
#define options_json OPTIONS(ODB_OPTION_JSON)
#define options_search_json OPTIONS(OPTS_SEARCH, ODB_OPTION_JSON)

#define BOTH (ODB_COMMAND_SHELL | ODB_COMMAND_PROMPT)
#define ON_SCREEN (ODB_COMMAND_PROMPT | ODB_COMMAND_ANYTIME)

static const struct odb_command command_table[] = {
    {
        .name = "debug",
        .group = "find the fault",
        .args = args_model,
        .options =
            OPTIONS(OPTS_SEARCH, OPTS_STRATEGY, ODB_OPTION_AGAINST, ODB_OPTION_SESSION,
                    ODB_OPTION_AUTOSAVE, ODB_OPTION_EXECUTE, ODB_OPTION_LINEAR, ODB_OPTION_BATCH),
        .help = "open the model in a screen of nodes, values and errors; `onnxdbg MODEL` for short",
        .text = "Shows the nodes in topological order. There a search can be watched, values "
                "looked into, the target walked from breakpoint to breakpoint, and a fault "
                "exported. Keys are shown at the bottom; `?` lists them all, and `:` takes the "
                "commands of this list without MODEL. With --against, `bisect --against` is given "
                "first.",
        .example = "onnxdbg debug model.onnx --target ort -x bisect",
        .flags = ODB_COMMAND_SHELL | ODB_COMMAND_RECORDS | ODB_COMMAND_BEGINS,
        .exec = odb_command__debug,
    },
    {
        .name = "bisect",
        .group = "find the fault",
        .args = args_model,
        .options = OPTIONS(OPTS_SEARCH, OPTS_STRATEGY, ODB_OPTION_PROVE, ODB_OPTION_STRICT,
                           ODB_OPTION_COSTS, ODB_OPTION_NO_CHECKS, ODB_OPTION_NO_ENTER,
                           ODB_OPTION_NO_EXPLAIN, ODB_OPTION_KNOWN, ODB_OPTION_JSON_FILE,
                           ODB_OPTION_SESSION, ODB_OPTION_RETRY, ODB_OPTION_AGAINST,
                           ODB_OPTION_OVER, ODB_OPTION_OVER_ONLY, ODB_OPTION_BUDGET,
                           ODB_OPTION_COMPILES, ODB_OPTION_SAMPLES),
        .help = "find the node where a target diverges from the reference",
        .text = "Runs the model on the reference and on the target, looks for the nodes at fault, "
                "and says of each whether it made the error, inherited it or made it grow. Without "
                "--target, ONNX Runtime is the target where it is found, else the reference in "
                "half precision. Inside an If, Loop, Scan, SequenceMap or call of a function that "
                "is at fault it looks further, and names what it finds by a path: Loop_4[3]/Conv_1 "
                "is Conv_1 in turn 3. With --against, another model that was made of this one "
                "(optimised, quantised, converted) runs on the target, by default the reference, "
                "and the part of it is found that computes something else than the original: "
                "values are paired by --map, by name, by value and by structure, and weights are "
                "compared. With --over, the model first runs under several specs: ordered levels "
                "are bisected, of options that are on or off the smallest set that fails is "
                "found, and the search goes on with the spec that fails; see onnxdbg-against(7). "
                "With --samples, or where --inputs-from is a folder of two or more "
                "test_data_set_N, the model runs on each sample of inputs, the worst is searched, "
                "and each node found is then run alone on the others. A sample that cannot be run "
                "is named with its reason; if no other diverges, the exit status is 3 or 4. "
                "Where the target says that it gives only outputs and takes no part of the model, "
                "no node can be verified: the search ends with a region, and behind it stand the "
                "nodes as `suspects` ranks them, by --samples inputs, or 20 within 30 s. "
                "Exit status 1 means that something diverges: an output is off, or a node is that "
                "fails by itself as well. Without either, a difference that no output shows and "
                "that could not be verified is a note, and --strict makes it count. "
                "Where nothing can be said, the exit status is 3 or 4. A search with "
                "--session goes on where it was when it is started again after it was stopped, or "
                "killed, or the machine went down: what has an answer is not asked again, and what "
                "was running then is left out unless --retry is given. Where a library, a program "
                "or a Python file that the target names, or one beside it that is named there, has "
                "changed since, it starts anew and says so.",
        .example = "onnxdbg bisect model.onnx --target ort",
        .flags = ODB_COMMAND_LONG | BOTH | ODB_COMMAND_RECORDS | ODB_COMMAND_RESUMES,
        .exec = odb_command__bisect,
    },
    {
        .name = "explain",
        .group = "find the fault",
        .args = args_explained,
        .options =
            OPTIONS(OPTS_STEPS, ODB_OPTION_TARGET, ODB_OPTION_EXPLAIN_BUDGET, ODB_OPTION_VARIANTS,
                    ODB_OPTION_ALL_VARIANTS, ODB_OPTION_BESIDE, ODB_OPTION_OP, ODB_OPTION_DOMAIN,
                    ODB_OPTION_OPSET, ODB_OPTION_ATTR, ODB_OPTION_OUT, ODB_OPTION_JSON),
        .help = "what a node of the target computed instead of its operator",
        .text =
            "Runs the whole model on --target and reads what NODE was fed and what it made. Then "
            "the operator is replayed on those inputs under a catalogue of variants: another "
            "value of an attribute, an operand that is missing or read in another layout, other "
            "arithmetic, an output that is scaled, moved or cut off, or another node's. A variant "
            "that gives what the target gave, within noise, is put to the test on other inputs "
            "of the model (the same numbers in another order), in place. It is exact when it "
            "holds there and no other variant does; several that hold are one class; "
            "partly takes away 99 % of the error. Of a recording nothing is asked again: what "
            "would be exact fits this recording. With --op neither model nor target is needed: "
            "the arguments are the files of the operator's inputs, in order, - for one that is "
            "omitted, and last that of its output, or --out names the outputs. "
            "A search explains its culprits by itself.",
        .example = "onnxdbg explain model.onnx '#7' --target ort",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__explain,
    },
    {
        .name = "suspects",
        .group = "find the fault",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_REFERENCE, ODB_OPTION_GOLDEN, ODB_OPTION_TARGET,
                           ODB_OPTION_TYPES, ODB_OPTION_TOL, ODB_OPTION_EXPECT, ODB_OPTION_SAMPLES,
                           ODB_OPTION_BUDGET, ODB_OPTION_JSON_FILE),
        .help = "rank nodes by what the outputs alone show",
        .text = "For a target that gives only the model's outputs and takes no other model: it is "
                "loaded once and runs on many inputs, 20 unless --samples says otherwise. Then the "
                "reference is run again with the output of one node off (scaled, moved, rounded, "
                "cut off, shifted, left out), for every node, and the differences of the model's "
                "outputs that this makes are held against the target's. Nodes are ranked by what "
                "they explain on all samples; those that explain alike are a group. The "
                "probability is how often planted faults were found among nodes that stood out as "
                "much. Where more than a fifth of the differences is left over, none is said, and "
                "with fewer than 20 inputs it is lower. It is a ranking and no verdict, for "
                "nothing of the node was read; an error "
                "of many nodes, such as that of a lower precision, is explained by no single one. "
                "Exit status 1 means that outputs diverge, 0 that they agree on every sample, "
                "which says nothing of values that were not read. Ctrl-C, or the end of --budget, "
                "ends it with the ranking by the inputs that were seen, within some ten seconds; a "
                "second Ctrl-C ends it at once. Stopped, the exit status is 130.",
        .example = "onnxdbg suspects model.onnx --target ort --samples 50",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__suspects,
    },
    {
        .name = "score",
        .group = "find the fault",
        .args = args_scored,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_REFERENCE, ODB_OPTION_GOLDEN, ODB_OPTION_TARGET,
                           ODB_OPTION_TYPES, ODB_OPTION_TOL, ODB_OPTION_EXPECT, ODB_OPTION_SAMPLES,
                           ODB_OPTION_METRIC, ODB_OPTION_LABELS, ODB_OPTION_DROP, ODB_OPTION_BUDGET,
                           ODB_OPTION_JSON_FILE),
        .help = "what the target costs the task, and which nodes cost it",
        .text = "Runs the model on the reference and on the target for every sample of a data "
                "set, and scores both by --metric: top1, top5, wer, perplexity, snr, map, or a "
                "class in Python. Then the nodes that a search accuses, or the NODEs that are "
                "named, are mended one by one and together: what the reference operator makes of "
                "what the target fed the node stands in for what the target's node made, and the "
                "rest runs on the target. What that gives back is what the node costs. All "
                "numbers come with what chance makes of so many samples. A node that is off and "
                "changes no sample's score is harmless there. Samples are generated inputs, 20 "
                "unless --samples says otherwise, or the sets, or the pictures, in the folder of "
                "--inputs-from. Exit status 1 means that the target loses more than --drop "
                "allows. See onnxdbg-score(7).",
        .example = "onnxdbg score model.onnx --target ort --metric top1",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__score,
    },
    {
        .name = "sensitivity",
        .group = "find the fault",
        .args = args_model,
        .options =
            OPTIONS(OPTS_FED, ODB_OPTION_TYPE, ODB_OPTION_TARGET, ODB_OPTION_BUDGET,
                    ODB_OPTION_METRIC, ODB_OPTION_LABELS, ODB_OPTION_SAMPLES, ODB_OPTION_JSON_FILE),
        .help = "rank nodes by what a narrower type would cost at the outputs",
        .text =
            "Before any target is asked: each node that computes in floats is computed in the "
            "type of --type alone (its inputs, weights and results rounded), and the reference "
            "runs what follows from it again. How far the outputs come out is the node's "
            "contribution: the length of the error over the length of the output, infinite "
            "where NaN or Inf appear (overflow) or an integer is another. That takes a run "
            "of all that follows for each node. Where there is not the time, by --budget or "
            "else a minute or ten runs of the reference, contributions are estimated first, and "
            "the largest measured; what is estimated or not measured is called that. "
            "With --target, the target runs once with every value read, and it is said how "
            "well its errors were foretold, and which nodes are far worse there than the type "
            "explains. With --metric, also what all nodes in the type, and each of the eight that "
            "bring most, cost a data set (--samples, --labels). A ranking, and no verdict: exit "
            "status 0 says that it was made. See "
            "onnxdbg-sensitivity(7).",
        .example = "onnxdbg sensitivity model.onnx --type f16",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__sensitivity,
    },
    {
        .name = "fleet",
        .group = "find the fault",
        .args = args_fleet,
        .options = OPTIONS(OPTS_SEARCH, OPTS_STRATEGY, ODB_OPTION_NO_CHECKS, ODB_OPTION_NO_ENTER,
                           ODB_OPTION_NO_EXPLAIN, ODB_OPTION_STRICT, ODB_OPTION_BUDGET,
                           ODB_OPTION_COMPILES, ODB_OPTION_JOBS, ODB_OPTION_FLEET, ODB_OPTION_SINCE,
                           ODB_OPTION_GATE, ODB_OPTION_NO_REPROS, ODB_OPTION_REPORT_FILE,
                           ODB_OPTION_JSON_FILE, ODB_OPTION_SCREEN),
        .help = "search many models, and say what their failures have in common",
        .text = "Asks the target for all models below a folder (files that end in .onnx), or for "
                "those that a file lists, one in a line. First every model runs as it is, the "
                "smallest first; those that fail are then searched, the quickest first, or only "
                "confirmed, where what others showed explains all that is wrong. Failures "
                "of one operator that one variant explains, operators that are refused, and "
                "equal messages are causes, those first that keep most models from passing; of "
                "each the smallest model that has it is minimised. Every model is asked by a "
                "process of its own, with a time limit if the target's spec has one. Results are "
                "in one file, beside it in a folder of its name the sessions and what was "
                "minimised; the same command goes on where it was stopped or killed. Given such "
                "a file alone, it shows what is in it; `onnxdbg FILE` does on a screen, as "
                "--screen does while the models are asked. With --since, what has changed since "
                "another run. Options are those of `bisect`, for every model. See "
                "onnxdbg-fleet(7).",
        .example = "onnxdbg fleet models --target ort -o today.md",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__fleet,
    },
    {
        .name = "export",
        .group = "find the fault",
        .args = args_export,
        .options = OPTIONS(OPTS_SEARCH, ODB_OPTION_OUTPUT, ODB_OPTION_SESSION,
                           ODB_OPTION_IR_VERSION, ODB_OPTION_WITH_TARGET, ODB_OPTION_JSON_FILE),
        .help = "write a small model that shows the fault, with inputs and outputs",
        .text =
            "Cuts a node, or all nodes from one to another, out of the model, and writes it "
            "with what goes in, what should come out and what the target makes of it, then "
            "runs it again from there to see that the fault is in it. Without a NODE it takes "
            "the first culprit of a session, or of a search that it makes itself. A path, as "
            "Loop_4[3]/Conv_1, is a node in a body, with what the reference feeds it there. "
            "Its README.md has the command that shows the fault, to be given in that folder, and "
            "what the target computed instead, where that is known (onnxdbg-explain(7)); "
            "where the target's spec names files, which are copied with --with-target alone, "
            "it has $TARGET in its place.",
        .example = "onnxdbg export model.onnx /block/conv2/Conv --target ort -o repro",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__export,
    },
    {
        .name = "minimise",
        .alias = "minimize",
        .group = "find the fault",
        .args = args_export,
        .options =
            OPTIONS(OPTS_SEARCH, ODB_OPTION_OUTPUT, ODB_OPTION_SESSION, ODB_OPTION_IR_VERSION,
                    ODB_OPTION_SCRAMBLE, ODB_OPTION_WITH_TARGET, ODB_OPTION_METRIC,
                    ODB_OPTION_LABELS, ODB_OPTION_SAMPLES, ODB_OPTION_DROP, ODB_OPTION_BUDGET,
                    ODB_OPTION_PROBES, ODB_OPTION_COMPILES, ODB_OPTION_JSON_FILE),
        .help = "shrink a failing model to what it takes to fail, and write that",
        .text =
            "Moves the outputs back and the inputs forward, takes single nodes out, and then "
            "makes inputs, weights and attributes simple, as long as the failure keeps its "
            "signature: the verdict, the kinds of NaN and Inf, the size of the error, the "
            "signal. Another failure counts as none, and so does what a search lets off: a "
            "step that ends in that is put back. Begins with a NODE, which may be a path "
            "into a body such as Loop_4[3]/Conv_1, the nodes from one to another, a session's "
            "first culprit, or the whole model; crashes and hangs are failures, too. What is "
            "fed is the reference's, or, where nodes that were named do not fail with that, "
            "what the target itself feeds them. Writes what `export` writes, and in the folder "
            "good the largest model met on the way that passes. --scramble makes a private "
            "model one that can be shared. Ctrl-C or a budget ends it with the smallest found "
            "until then. With --metric a task fails, and no value: nodes and samples are found "
            "that cost it more than --drop, see onnxdbg-score(7). Exit status 1 means that what "
            "was written does not reproduce the failure; 0 that it does, or that nothing fails.",
        .example = "onnxdbg minimise model.onnx --target ort -o minimal",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH | ODB_COMMAND_RECORDS,
        .exec = odb_command__minimise,
    },
    {
        .name = "verify",
        .group = "find the fault",
        .args = args_model,
        .options = OPTIONS(OPTS_RUN, OPTS_MEASURES, ODB_OPTION_FORMAT, ODB_OPTION_VERBOSE),
        .help = "compare every value of a model on a target with the reference, as debug.py does",
        .text = "Runs the model once on --target and once on --reference with every node's outputs "
                "as outputs of the model, and compares them in the order of the nodes, to five "
                "decimals as numpy.testing means it unless --tol, --check or --tolerances say "
                "otherwise. Inputs that are not given are those of onnx-mlir's debug.py: one "
                "stream of RandomState(42) over all of them, uniform in [-1, 1). All values that "
                "differ are listed, not the first alone. Exit status 1 means that some do. What "
                "depends on a node that the reference has no kernel for, or that either of them "
                "refuses, is named and left out; where nothing else differs, the exit status is 4.",
        .example = "onnxdbg verify model.onnx --target onnx-mlir",
        .flags = ODB_COMMAND_PLAIN | ODB_COMMAND_LONG | ODB_COMMAND_SHELL,
        .exec = odb_command__verify,
    },
    {
        .name = "dump",
        .group = "find the fault",
        .args = args_dump,
        .options = OPTIONS(OPTS_DUMP, OPTS_PLAN, ODB_OPTION_AT_STEP, ODB_OPTION_JSON_FILE),
        .help = "write the outputs of all nodes as files, as dump_tools does, and compare them",
        .text = "Writes what an executor computes as inputs/NAME.npy, "
                "outputs/topoidx_NNNNN__NAME.npy and dump_info.json: full writes the output of "
                "every node, range those from one to another, list those named, and once a "
                "single one, with the text of the submodel that ends in it. Indices count "
                "outputs of nodes in topological order, without Constant nodes. With --inputs or "
                "--outputs only the part between them is there. Inputs that are not given are "
                "those of numpy.random.default_rng(42). With --compare-dir the outputs are "
                "compared, and compare_result.log and compare_results.xlsx written. With --steps "
                "a model with a state runs step by step, on what the executor itself gave, into "
                "step_00000 and so on; see onnxdbg-sequence(7). "
                "A dump that was stopped goes on where it was when it is given again. "
                "onnxdbg-dump-tools(7) has all of it; the old names dump_full, dump_once, "
                "dump_range and dump_list work, too. In the debugger the model, its inputs and the "
                "target are the session's, unless an option says otherwise, for this dump alone.",
        .example = "onnxdbg dump full model.onnx -f ort --step 5",
        .flags =
            BOTH | ODB_COMMAND_LONG | ODB_COMMAND_WRITES | ODB_COMMAND_RESUMES | ODB_COMMAND_ASIDE,
        .exec = odb_command__dump,
    },
    {
        .name = "compare",
        .alias = "diff",
        .group = "find the fault",
        .args = args_two,
        .options =
            OPTIONS(OPTS_MEASURES, ODB_OPTION_TYPES, ODB_OPTION_COMPARE_FORMAT,
                    ODB_OPTION_GOLDEN_DIR, ODB_OPTION_INPUT_TAG, ODB_OPTION_TH1, ODB_OPTION_TH2),
        .help = "compare two tensor files, or two folders of them",
        .text = "Compares .npy and .pb files, in folders those of equal name, and prints how far "
                "the first is from the second. An .npz file is a folder of its arrays; where one "
                "of the two is one, names are compared as onnxdbg-dump(7) says. "
                "Without --tol or --check the tolerance is that of NumPy's "
                "allclose; noise is not known of files. onnxdbg-compare(7) lists all measures. "
                "What one side alone has is counted apart. Exit status 1 means that a pair differs "
                "or has no counterpart. Of a folder's file that cannot be read the row says why, "
                "the rest is compared, and the exit status is 3.",
        .example = "onnxdbg compare ort_dump/outputs golden/outputs --tol diff2:1e-3",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__compare,
    },
    {
        .name = "check",
        .group = "find the fault",
        .args = args_dirs,
        .options = OPTIONS(ODB_OPTION_TOL, ODB_OPTION_TARGET, ODB_OPTION_TYPES, ODB_OPTION_JOBS,
                           ODB_OPTION_KERNELS, ODB_OPTION_MEM, ODB_OPTION_IR_VERSION,
                           ODB_OPTION_FOLLOW_LINKS, ODB_OPTION_JSON),
        .help = "run folders in the layout of ONNX's backend tests against their outputs",
        .text = "Looks below each DIR for folders that hold a model.onnx, runs every "
                "test_data_set_N of them on the reference, or on --target, and compares with the "
                "outputs stored there. Without --tol the tolerance is allclose:1e-3,1e-7 or the "
                "operator's own, and NaN equals NaN. Of random draws only type and shape count. "
                "Of several cases a table says how each operator fared, the largest share of "
                "failures first; a case counts for every operator in its model. The worst error "
                "is max|e-b| / rms(b) of the worst output, and behind it stands the case. In the "
                "last line every data set stands once: failed, also where it could not be run to "
                "its end; unsupported, where an operator has no kernel or the target refuses it, "
                "whether there are outputs or not; without golden, where it could be run and has "
                "no outputs to compare with. What a case takes beyond --mem, or without it half of "
                "what is free, parted among the --jobs, fails that case. A target that refuses so "
                "new an IR version is given another with --ir-version.",
        .example = "onnxdbg check onnx/backend/test/data/node",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_SHELL,
        .exec = odb_command__check,
    },
    {
        .name = "run",
        .group = "run",
        .args = args_model,
        .options = OPTIONS(OPTS_RUN, ODB_OPTION_SAVE_DIR, ODB_OPTION_CHECKPOINTS, ODB_OPTION_JSON,
                           ODB_OPTION_SESSION),
        .help = "run the model once and show its outputs; at the prompt, up to a breakpoint",
        .text =
            "Runs the model on --target, or on the reference where none is given, and prints "
            "type, shape and statistics of every output, or saves them all. --json has that with "
            "the target's description and what was chosen for inputs; see onnxdbg-report(7). "
            "At the prompt of the screen it runs the target from the beginning to the first "
            "breakpoint, or to the end, and judges every value on the way.",
        .example = "onnxdbg run model.onnx --target ort --save outputs",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__run,
    },
#define ODB_VERB(id, short, heading, arguments, takes, how, line, paragraph, sample)               \
    {                                                                                              \
        .name = #id,                                                                               \
        .alias = short,                                                                            \
        .group = heading,                                                                          \
        .args = args_##arguments,                                                                  \
        .options = options_##takes,                                                                \
        .help = line,                                                                              \
        .text = paragraph,                                                                         \
        .example = sample,                                                                         \
        .flags = ODB_COMMAND_PROMPT | (how),                                                       \
        .exec = odb_command__##id,                                                                 \
    },
#include "command/table/verbs.def"
#undef ODB_VERB
    {
        .name = "target",
        .group = "run",
        .args = args_model_text,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_TARGET, ODB_OPTION_OWN_TEXT, ODB_OPTION_JSON),
        .help = "what the target makes of the model, and where nodes run",
        .text = "Loads the whole model on --target, runs it once, and prints what the executor "
                "says of it: its version, how many nodes run where, and notes, such as that all of "
                "them run on the CPU. With TEXT it also lists the nodes whose name, operator or "
                "place holds TEXT ('' for all).",
        .example = "onnxdbg target model.onnx --target ort",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__target,
    },
    {
        .name = "groups",
        .group = "run",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_TARGET, ODB_OPTION_JSON),
        .help = "which kernels the target made of which nodes",
        .text = "Loads the whole model on --target, runs it once, and prints what the target says "
                "it made of it: each kernel with the nodes that became it, the nodes that are in "
                "none, and the values that it holds otherwise than the model says, in blocks of "
                "channels or as integers with a scale. A program says so in groups.json, a Python "
                "class in groups(); of ONNX Runtime it is worked out from its optimised model. "
                "Names that are not in the model are warned of.",
        .example = "onnxdbg groups model.onnx --target ort",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__groups,
    },
    {
        .name = "tensor",
        .group = "run",
        .args = args_source,
        .options = OPTIONS(OPTS_RUN, ODB_OPTION_JSON, ODB_OPTION_SESSION),
        .help = "statistics and histogram of a weight, a computed value or a tensor file",
        .text = "A weight is read from the model; any other value is computed on --target, or on "
                "the reference where none is given, by running what it depends on and no more. A "
                "node's name stands for its first output.",
        .example = "onnxdbg tensor model.onnx block.conv2.weight",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__tensor,
    },
    {
        .name = "print",
        .alias = "p",
        .group = "run",
        .args = args_slice,
        .options = OPTIONS(OPTS_RUN, ODB_OPTION_SAVE, ODB_OPTION_NODES, ODB_OPTION_WEIGHTS,
                           ODB_OPTION_SESSION, ODB_OPTION_JSON),
        .help = "print numbers of a value, or the model in ONNX's syntax",
        .text = "Prints values as NumPy does, long ones shortened. A slice is written as in "
                "Python: indices and ranges separated by commas, in brackets; max(x), mean(x[0]) "
                "and their kin are one number, diff(x), ref(x) and target(x) one side, and "
                "Loop_4[3]/x is a value in a body. /x before it shows the bits of elements (of a "
                "mean, a double's), /f no powers of ten, /e nothing else. Values come from "
                "where `onnxdbg help tensor` says; at the prompt, what the target gave is printed "
                "as well. Without a VALUE, prints the model, or --nodes, in ONNX's textual "
                "syntax, which ONNX's parser reads back: weights of more than 16 elements are "
                "named by their place in the model's file, as external data, unless they have "
                "none; comments at the top say what the syntax cannot.",
        .example = "onnxdbg print model.onnx 'block.conv2.weight[0,:,0]'",
        .flags = ODB_COMMAND_LONG | BOTH,
        .exec = odb_command__print,
    },
    {
        .name = "info",
        .alias = "i",
        .group = "look",
        .args = args_about,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_JSON, ODB_OPTION_SESSION, ODB_OPTION_MEASURE),
        .help = "what is in a model: operators, inputs, outputs, weights, work",
        .text = "Prints what the file says about itself, what goes in and comes out, how many "
                "nodes of which operator there are, which operators the reference cannot run, "
                "and how much work it is: MACs are the products that convolutions, products of "
                "matrices and recurrent layers sum; FLOPs are twice those, and one for each other "
                "operation on a float, where a function counts as one. Memory counts the values "
                "that nodes make, at batch and size as declared, and how much of them lives at "
                "once. Both take shapes from the model, or with --run from a run of the reference. "
                "Attention counts all scores, masked ones too. What is in bodies and functions is "
                "not counted; nodes whose work is not known are named, and the sum is then the "
                "least that it can be. With a TOPIC: what was put "
                "down (breakpoints, watchpoints, displays, pins, marks, notes), the culprits of "
                "the last search, the nodes, what the inputs are fed with, what is known of the "
                "target, what the session file has; or, at the prompt, where the walk stands "
                "(frame) and all settings. The beginning of a TOPIC is enough.",
        .example = "onnxdbg info model.onnx",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__info,
    },
    {
        .name = "sessions",
        .group = "look",
        .args = args_folder,
        .options = OPTIONS(ODB_OPTION_JSON, ODB_OPTION_DELETE),
        .help = "list the sessions in a folder: model, target, when, and what was found",
        .text = "Looks for session files (`--session FILE`) in DIR, or in the current folder, and "
                "without DIR also for those that screens have saved by themselves, and prints of "
                "each when its newest search began (UTC), the model, what came of it, and the "
                "target. `onnxdbg FILE` opens one, with its model and what that was fed "
                "with; so does a command that has --session, with FILE as its MODEL. With "
                "--delete, deletes one.",
        .example = "onnxdbg sessions",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__sessions,
    },
    {
        .name = "report",
        .group = "look",
        .args = args_report,
        .options = OPTIONS(ODB_OPTION_REPORT_FILE, ODB_OPTION_REPORT_FORMAT,
                           ODB_OPTION_FOLLOW_LINKS, ODB_OPTION_JSON),
        .help = "what was found, as a page to pass on: HTML, Markdown, CSV, JUnit, JSON",
        .text = "Takes the newest search of a session, or a file that `bisect --json` wrote. As "
                "HTML it is one page that needs no network: the diagnosis with histograms and the "
                "nodes around each culprit, the graph with errors as colours, which can be moved "
                "and zoomed, the error against depth, and all values in a table that can be "
                "sorted and filtered; FILE.html#node-12 leads to node #12. Markdown is for an "
                "issue, CSV for a "
                "spreadsheet (a name that it would take for a formula stands behind an "
                "apostrophe), JUnit for a server of continuous integration. Operators and the "
                "names of nodes are shown where the model still lies where it lay, unchanged. An "
                "ending that is no form's is refused. onnxdbg-report(7) describes the JSON.",
        .example = "onnxdbg report session.odb -o report.html",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__report,
    },
    {
        .name = "nodes",
        .group = "look",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_FILTER, ODB_OPTION_JSON, ODB_OPTION_TSV,
                           ODB_OPTION_MEASURE, ODB_OPTION_SESSION),
        .help = "list the nodes in topological order",
        .text = "Prints one line per node: index, operator, name, and what it makes with the type "
                "and shape that the model declares, or, with --run, as the reference makes them. "
                "--tsv and --json have inputs, types, MACs and FLOPs (as `onnxdbg help info` "
                "explains them), and the bytes that each node reads, writes and has as weights. "
                "--filter is the screen's: a word is looked for in names, operators and values; "
                "op:Conv, name:, in:, out:, domain:, type: and runs: want all of it, with * and ?; "
                "name~REGEX wants a part; err, local, noise, gain and index are compared with < <= "
                "> >= =; pass, fail, off and culprit are marks; ! turns a word round, blanks mean "
                "and, | means or; see onnxdbg-screen(7). What was found is what --session holds.",
        .example = "onnxdbg nodes model.onnx --filter Conv",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__nodes,
    },
    {
        .name = "lint",
        .group = "look",
        .args = args_lint,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_MEASURE, ODB_OPTION_JSON),
        .help = "what is wrong with a model, and what to do about it",
        .text =
            "Looks at the model without running it: operators that are unknown, deprecated or "
            "not imported, numbers of inputs and outputs, attributes, declared types, order of "
            "the nodes, names, weights and functions that are not used, data that is not there. "
            "With --run, the reference runs it once, and declared shapes are held against real "
            "ones; nodes that fail, and values that float16 cannot hold. Each finding "
            "has a code, a place and a way out. Exit status 1 means errors; warnings alone "
            "are 0.",
        .example = "onnxdbg lint model.onnx",
        .flags = BOTH,
        .exec = odb_command__lint,
    },
    {
        .name = "sequence",
        .group = "look",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, OPTS_PLAN, ODB_OPTION_PLAN_FILE, ODB_OPTION_JSON),
        .help = "how a model with a state is run step by step",
        .text =
            "Says for each input what it is made of in the steps of a sequence: an output of the "
            "step before (a carry), a piece of what is fed, a rule, or the same in all steps; and "
            "what has to be added where that cannot be found out (exit status 2). Then the "
            "reference runs the steps, and the model is held against itself: all pieces in one "
            "step must give what they give step by step, and a state that grows must keep what it "
            "held. Exit status 1: it does not. --output writes the plan, which --sequence FILE "
            "takes. "
            "`bisect` and others take the same options.",
        .example = "onnxdbg sequence model.onnx --steps 12",
        .flags = BOTH,
        .exec = odb_command__sequence,
    },
    {
        .name = "node",
        .group = "look",
        .args = args_node,
        .options = OPTIONS(ODB_OPTION_SESSION, ODB_OPTION_FOLLOW_LINKS, ODB_OPTION_JSON),
        .help = "everything about one node",
        .text = "Prints operator, attributes (those that the file leaves to their defaults are "
                "marked), inputs and outputs with their makers and readers, what each of these "
                "means, and the node in ONNX's textual syntax. With --session also what the newest "
                "search found out about it. "
                "A path leads into bodies: Loop_4/Conv_1, If_2.then/MatMul_0, or a function's "
                "Block_7/Add_2.",
        .example = "onnxdbg node model.onnx /block/conv2/Conv",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__node,
    },
    {
        .name = "graph",
        .group = "look",
        .args = args_drawn,
        .options = OPTIONS(ODB_OPTION_AROUND, ODB_OPTION_DEPTH, ODB_OPTION_GRAPH_FILE, OPTS_FED,
                           ODB_OPTION_MEASURE, ODB_OPTION_SESSION, ODB_OPTION_JSON),
        .help = "draw the graph, with errors as colours: SVG, or DOT for Graphviz",
        .text = "Draws all nodes, those that are named, or those around one: operator, name, "
                "attributes and weights in a box, values with their types on the lines between. "
                "With --session, what the newest search found: a node's colour is how far its "
                "worst output is off, corners and the last line say the same, and a legend stands "
                "below. Types are as the model declares them, or, with --run, as the reference "
                "makes them. SVG is laid out by Graphviz (`dot`, Debian: graphviz), which gets a "
                "minute; FILE.svg#node-12 leads a browser to node #12. DOT is written of any "
                "graph, and needs nothing. A body is a picture of its own: name a node in it by "
                "its path. See onnxdbg-graph(7).",
        .example = "onnxdbg graph model.onnx --around /block/conv2/Conv --depth 2 -o part.dot",
        .flags = ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__graph,
    },
    {
        .name = "extract",
        .group = "write",
        .args = args_model,
        .options = OPTIONS(OPTS_FEEDS, ODB_OPTION_CUT_INPUTS, ODB_OPTION_CUT_OUTPUTS,
                           ODB_OPTION_OUTPUT, ODB_OPTION_CHECKPOINTS, ODB_OPTION_IR_VERSION,
                           ODB_OPTION_MEASURE, ODB_OPTION_JSON_FILE),
        .help = "cut a submodel out, by the names of its inputs and outputs",
        .text = "Writes the nodes between --inputs and --outputs as a model of their own, with "
                "their weights, declared types, functions and metadata. Inputs and outputs left "
                "out are those of the model. Where the model declares no type for one of them, the "
                "reference runs to find it, or --input names a file for a value of --inputs. In "
                "the model's own directory, weights stay in the files beside it that they are in; "
                "elsewhere, those of more than 1.5 GB are "
                "written beside the new model. A name that holds a comma is given by an option of "
                "its own. "
                "With --run, the reference runs the model and what was written, holds the outputs "
                "against each other, bit for bit, and types that it saw are declared where the "
                "model declares none; exit status 1 means that they differ. "
                "--checkpoints makes a model that any runtime takes of a PyTorch export with "
                "probes, see onnxdbg-pytorch(7).",
        .example = "onnxdbg extract model.onnx --inputs image --outputs /stem/act/Relu_output_0 "
                   "-o stem.onnx",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__extract,
    },
    {
        .name = "calibrate",
        .group = "write",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_SAMPLES, ODB_OPTION_METHOD, ODB_OPTION_PERCENTILE,
                           ODB_OPTION_BITS, ODB_OPTION_WEIGHT_BITS, ODB_OPTION_SYMMETRIC,
                           ODB_OPTION_PER_TENSOR, ODB_OPTION_OUTPUT, ODB_OPTION_JSON_FILE),
        .help = "write how each value of a float model may be quantised",
        .text = "Runs the model in float on samples of inputs, eight unless --samples or "
                "--inputs-from says otherwise, and writes a file of encodings: for each value that "
                "is fed or computed a scale and a zero point by the range of its numbers, for "
                "weights a scale per output channel, for biases those of input and weight "
                "multiplied. `--expect int8 --encodings FILE` judges a target by it, and "
                "cpu,encodings=FILE computes so. The ranges are worth as much as the samples: "
                "generated inputs are rarely like real ones. onnxdbg-encodings(7) describes the "
                "file.",
        .example = "onnxdbg calibrate model.onnx --method percentile -o encodings.json",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__calibrate,
    },
    {
        .name = "precision",
        .group = "write",
        .args = args_model,
        .options = OPTIONS(OPTS_FED, ODB_OPTION_REFERENCE, ODB_OPTION_TARGET, ODB_OPTION_TOL,
                           ODB_OPTION_METRIC, ODB_OPTION_LABELS, ODB_OPTION_DROP,
                           ODB_OPTION_SAMPLES, ODB_OPTION_TO, ODB_OPTION_BUDGET, ODB_OPTION_PROBES,
                           ODB_OPTION_OUTPUT, ODB_OPTION_JSON_FILE),
        .help = "find the nodes that must stay in float32, and write the mixed model",
        .text = "Writes the model in float16, bfloat16 or int8 with so many nodes left in float32 "
                "that its outputs pass on the target. Nodes are ranked by what the type alone "
                "costs each of them; the fewest of the worst are searched on the target, and then "
                "every kept node is tried without, so that none of them could go alone: a smallest "
                "set in that sense, and not always the smallest there is. What is "
                "written is read from its file again and judged on a fresh target before it is "
                "said to pass. The default tolerance is diff2:0.01 for float16 and diff2:0.05 for "
                "the others: the length of the error over the length of the output. With "
                "--metric a model passes whose score over the samples is no more than --drop "
                "below the reference's (onnxdbg-score(7)); nodes are ranked on the first sample.",
        .example = "onnxdbg precision model.onnx --to f16 -o mixed.onnx",
        .flags = ODB_COMMAND_LONG | ODB_COMMAND_WRITES | BOTH,
        .exec = odb_command__precision,
    },
    {
        .name = "completion",
        .group = "help",
        .args = args_shell,
        .help = "what a shell needs to complete command lines",
        .text = "Prints a script for the shell, made from the table of commands and options: "
                "`source <(onnxdbg completion bash)`, or the file that `make install` puts in its "
                "place.",
        .example = "onnxdbg completion bash",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__completion,
    },
    {
        .name = "manual",
        .group = "help",
        .args = args_page,
        .options = OPTIONS(ODB_OPTION_MANUAL_DIR),
        .help = "the manual page of a command, for man",
        .text = "Prints the page of a COMMAND, of the screen, or of onnxdbg itself, as man reads "
                "it: `onnxdbg manual bisect | man -l -`. With --save, all of them are written "
                "into a folder, as `make install` does it.",
        .example = "onnxdbg manual bisect",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__manual,
    },
    {
        .name = "tour",
        .group = "help",
        .options = OPTIONS(ODB_OPTION_LINEAR),
        .help = "five steps through the screen, on a small model with a fault",
        .text = "Opens the screen on a demo model, whose target has a planted fault, and says what "
                "to do: 1. find the fault (F); 2. look into the culprit (Enter); 3. look at the "
                "numbers of its output (Enter again); 4. sort the list by error (S); 5. export the "
                "culprit (x). At the prompt, `tour` begins it on the model that is open, and again "
                "ends it.",
        .example = "onnxdbg tour",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__tour,
    },
    {
        .name = "operators",
        .group = "help",
        .args = args_text,
        .options = OPTIONS(ODB_OPTION_KERNELS, ODB_OPTION_JSON),
        .help = "what the reference has kernels for",
        .text = "Lists the operators whose name or domain holds TEXT, or all of them, with the "
                "opset versions from which their meaning or attributes changed, and how their "
                "outputs are judged: exact (bit for bit), real (within noise), boundary (a tiny "
                "change of an input may flip an output), random (not at all), bodies (by what is "
                "inside), none (it has no kernel: why not is said below it).",
        .example = "onnxdbg operators QLinear",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__operators,
    },
    {
        .name = "executors",
        .group = "help",
        .args = args_kind,
        .options = OPTIONS(ODB_OPTION_JSON),
        .help = "what can run models here, and how to name it",
        .text = "Lists every kind of executor with its syntax, and says why where one cannot be "
                "used here. With a KIND it explains that one: version, options with what holds "
                "without them, manual page.",
        .example = "onnxdbg executors ort",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__executors,
    },
    {
        .name = "doctor",
        .group = "help",
        .args = args_tried,
        .options = OPTIONS(ODB_OPTION_JSON),
        .help = "what works on this machine, what is missing, and the command that gets it",
        .text = "Tries each kind of target, or those that are named: its child starts, loads its "
                "library, runs a model of one node and must give the right numbers, within 30 s. "
                "What is missing stands with the command that gets it. Without a TARGET it also "
                "looks at the terminal, the processor, memory, the temporary folder, the manual "
                "and the files that others must not write. Exit status 1 means that a TARGET does "
                "not work; without one, that the reference does not. See onnxdbg-doctor(7).",
        .example = "onnxdbg doctor cpu",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__doctor,
    },
    {
        .name = "deploy",
        .group = "help",
        .args = args_machine,
        .options = OPTIONS(ODB_OPTION_DEPLOY_PATH, ODB_OPTION_JSON),
        .help = "bring onnxdbg-serve to another machine: a host of ssh, or via:COMMAND",
        .text = "PLACE is HOST, as ssh takes it, HOST:PORT or via:COMMAND. Asks what is there "
                "(processor, C library, page size, room, an onnxdbg-serve of which version), "
                "copies the build that runs there, starts it and has it run a model of one node. "
                "Says what it found and the command that is next. There has to be sh and cat, and "
                "nothing else for the transfer. A file that is no onnxdbg-serve is never replaced. "
                "A build for another processor is made by `make serve CROSS=TRIPLET-`. Exit status "
                "1 means that it was brought there, and does not run a model. See "
                "onnxdbg-deploy(7).",
        .example = "onnxdbg deploy me@board",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__deploy,
    },
    {
        .name = "cache",
        .group = "help",
        .args = args_folder,
        .options = OPTIONS(ODB_OPTION_CLEAR, ODB_OPTION_OLDER, ODB_OPTION_JSON),
        .help = "list the compiled models that are kept, or remove them",
        .text = "Targets that compile (command:, server:, onnx-mlir) keep what they compiled for "
                "the next search, in DIR where their spec says cache=DIR. Lists them with their "
                "size and last use (UTC), how long each took to compile, the model and what "
                "compiled it, and says how much is kept of files that other machines sent. With "
                "--clear, removes the compiled models, or those that --older leaves; one that a "
                "process works with stays.",
        .example = "onnxdbg cache --clear --older 30",
        .flags = ODB_COMMAND_SHELL,
        .exec = odb_command__cache,
    },
    {
        .name = "help",
        .group = "help",
        .args = args_topic,
        .options = OPTIONS(ODB_OPTION_JSON),
        .help = "explain a command, or list them all",
        .text = "Without an argument, lists the commands; with one, explains it. `onnxdbg help "
                "tolerance` explains what --tol takes, `onnxdbg help screen` lists the commands "
                "of the screen.",
        .example = "onnxdbg help bisect",
        .flags = BOTH | ODB_COMMAND_ANYTIME,
        .exec = odb_command__help,
    },
#define ODB_SCREEN(id, text_name, arguments, line, paragraph, sample)                              \
    {                                                                                              \
        .name = text_name,                                                                         \
        .group = "on the screen",                                                                  \
        .args = args_##arguments,                                                                  \
        .help = line,                                                                              \
        .text = paragraph,                                                                         \
        .example = sample,                                                                         \
        .flags = ON_SCREEN,                                                                        \
        .exec = odb_command__screen,                                                               \
        .screen = ODB_SCREEN_##id,                                                                 \
    },
#include "command/table/screen.def"
#undef ODB_SCREEN
};

static const struct odb_option option_table[ODB_OPTION_COUNT] = {
#define ODB_OPTION(id, name, letter, type, arg, range, def, help)                                  \
    [ODB_OPTION_##id] = {name, letter, ODB_ARG_##type, arg, range, def, help, ODB_SETTING_NONE},
#define ODB_SETTING(depends, id, name, letter, type, arg, range, def, help)                        \
    [ODB_OPTION_##                                                                                 \
        id] = {name, letter, ODB_ARG_##type, arg, range, def, help, ODB_SETTING_##depends},
#include "command/table/options.def"
#undef ODB_OPTION
};

const struct odb_command *odb_command_table(size_t *n)
{
    if (n)
        *n = ODB_COUNT(command_table);
    return command_table;
}

const struct odb_option *odb_option_row(enum odb_option_id id)
{
    return &option_table[id];
}

bool odb_command_takes(const struct odb_command *command, enum odb_option_id id)
{
    const enum odb_option_id *at = command->options;
    while (at && *at != ODB_OPTION_COUNT && *at != id)
        at++;
    return at && *at == id;
}

static const struct {
    enum odb_option_id id;
    const char *name, *help;
} option_choices[] = {
#define OPTION_CHOICE(id, word, help, ...) {ODB_OPTION_STRATEGY, #word, help},
    ODB_STRATEGY_LIST(OPTION_CHOICE)
#undef OPTION_CHOICE
};

const char *odb_option_choice(enum odb_option_id id, size_t i, const char **help)
{
    for (size_t k = 0; k < ODB_COUNT(option_choices); k++) {
        if (option_choices[k].id != id || i-- > 0)
            continue;
        *help = option_choices[k].help;
        return option_choices[k].name;
    }
    return NULL;
}

bool odb_command_knows(const struct odb_command *command, int id)
{
    return id == ODB_OPTION_HELP || odb_command_takes(command, id);
}
