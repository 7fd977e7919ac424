/* SPDX-License-Identifier: MIT */
#include "executor/likely.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

/* How each kind of file is a target. */
static const struct {
    const char *ending, *what;
} likely_files[] = {
    {".onnx",
     "it is a model: `bisect A --against B` searches two; a target runs one: --target ort"},
    {".so", "write plugin:%s, or ort,runtime=%s where it is a build of ONNX Runtime"},
    {".dylib", "write plugin:%s, or ort,runtime=%s where it is a build of ONNX Runtime"},
    {".py", "write python:%s where it has a class, or command:%s where it is a program"},
};

static const struct {
    const char *name, *spec;
} likely_names[] = {
    {"onnxruntime", "ort"},
    {"onnxruntime-web", "web"},
    {"ort-web", "web"},
    {"pytorch", "torch"},
    {"cv2", "opencv"},
    {"onnx_mlir", "onnx-mlir"},
    {"tensorrt", "ort,ep=tensorrt"},
    {"cuda", "ort,ep=cuda"},
    {"openvino", "ort,ep=openvino"},
    {"dml", "ort,ep=dml"},
    {"coreml", "ort,ep=coreml"},
    {"webgpu", "ort,ep=webgpu"},
    {"reference", "cpu"},
    {"f16", "cpu:f16"},
    {"bf16", "cpu:bf16"},
    {"f32", "cpu:f32"},
    {"f64", "cpu:f64"},
    {"tf32", "cpu:tf32"},
};

static const struct {
    const char *word, *own;
} likely_precisions[] = {
    {"fp16", "f16"},    {"float16", "f16"}, {"half", "f16"},  {"bfloat16", "bf16"},
    {"fp32", "f32"},    {"float32", "f32"}, {"float", "f32"}, {"fp64", "f64"},
    {"float64", "f64"}, {"double", "f64"},
};

const char *odb_precision_word(const char *word)
{
    for (size_t i = 0; i < ODB_COUNT(likely_precisions); i++)
        if (!strcasecmp(word, likely_precisions[i].word))
            return likely_precisions[i].own;
    return word;
}

/* A program is called by its path, so that no folder of programs is looked into. */
static enum odb_status likely_program(struct odb_error *err, const char *text)
{
    bool here = !strchr(text, '/');
    return odb_error_remedy(err, "write command:%s%.200s", here ? "./" : "", text);
}

enum odb_status odb_executor_likely(struct odb_error *err, const char *text, const char *fallback)
{
    struct stat info;
    bool there = stat(text, &info) == 0, regular = there && S_ISREG(info.st_mode);
    const char *word = odb_precision_word(text);
    for (size_t i = 0; i < ODB_COUNT(likely_names); i++)
        if (!strcasecmp(word, likely_names[i].name))
            return odb_error_remedy(err, "write %s", likely_names[i].spec);
    if (regular && access(text, X_OK) == 0 && !odb_ends_with(text, ".so"))
        return likely_program(err, text);
    for (size_t i = 0; i < ODB_COUNT(likely_files); i++)
        if (odb_ends_with(text, likely_files[i].ending)) {
            struct odb_buf way = ODB_BUF_INIT;
            for (const char *p = likely_files[i].what; *p; p++)
                if (p[0] == '%' && p[1] == 's') {
                    odb_buf_puts(&way, text);
                    p++;
                } else {
                    odb_buf_putc(&way, *p);
                }
            odb_error_remedy(err, "%s", odb_buf_text(&way));
            odb_buf_dispose(&way);
            return ODB_E_USAGE;
        }
    if (there && S_ISDIR(info.st_mode))
        return odb_error_remedy(err, "a recording is written dump:%.200s", text);
    return odb_error_remedy(err, "%s", fallback);
}
