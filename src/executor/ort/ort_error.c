/* SPDX-License-Identifier: MIT
 *
 * What ONNX Runtime says when it refuses: its own words, and the way out where one is known.
 */
#include "executor/ort/ort_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void ort_remedy_ir(const struct ort *ort, const char *text, struct odb_buf *out)
{
    static const char before[] = "max supported IR version: ";
    const char *number = strstr(text, before);
    odb_buf_printf(
        out,
        "write an older one: onnxdbg extract MODEL --ir-version=%d -o OLDER.onnx; or use "
        "a newer ONNX Runtime (ONNXDBG_ORT)",
        number ? (int)strtol(number + strlen(before), NULL, 10) : 8);
}

static void ort_remedy_providers(const struct ort *ort, const char *text, struct odb_buf *out)
{
    char **names = NULL;
    int n = 0;
    struct ort_status *said = ort->api.providers(&names, &n);
    odb_buf_printf(out, "%s was built with", ort->path);
    for (int i = 0; i < n; i++) {
        const char *end = strstr(names[i], "ExecutionProvider");
        odb_buf_printf(out, "%s %.*s", i ? "," : "",
                       end ? (int)(end - names[i]) : (int)strlen(names[i]), names[i]);
    }
    if (!said)
        said = ort->api.release_providers(names, n);
    if (said)
        ort->api.release_status(said);
}

static void ort_remedy_library(const struct ort *ort, const char *text, struct odb_buf *out)
{
    odb_buf_printf(
        out,
        "libonnxruntime_providers_*.so belong beside %s, and what they need themselves "
        "(CUDA, cuDNN, TensorRT) into LD_LIBRARY_PATH; pip's onnxruntime-gpu brings them",
        ort->path);
}

/* Known refusals and the way out of them. */
static const struct {
    const char *text, *remedy;
    void (*make)(const struct ort *ort, const char *text, struct odb_buf *out);
    enum odb_status code;
} ort_remedies[] = {
    {"max supported IR version", NULL, ort_remedy_ir, ODB_UNSUPPORTED},
    {"is till opset",
     "convert the model to an older opset, or use a newer ONNX Runtime (ONNXDBG_ORT)", NULL,
     ODB_UNSUPPORTED},
    {"Could not find an implementation",
     "this build of ONNX Runtime has no kernel for the operator with these types", NULL,
     ODB_UNSUPPORTED},
    {"is not a registered function/op", "name the library of the custom operator: ort,library=FILE",
     NULL, ODB_UNSUPPORTED},
    {"No Op registered for", "this operator is in no opset that ONNX Runtime knows", NULL,
     ODB_UNSUPPORTED},
    {"does not have type information",
     "declare its type and shape: onnxdbg extract writes what the reference finds", NULL,
     ODB_E_EXECUTOR},
    {"Inferred shape and existing shape differ",
     "the shapes that the model declares do not fit its operators; --dim NAME=N binds what is "
     "symbolic",
     NULL, ODB_E_EXECUTOR},
    {"invalid dimensions for input",
     "give another input with --input, or bind its dimensions with --dim NAME=N", NULL,
     ODB_E_EXECUTOR},
    {"model_path must not be empty",
     "opt=disabled avoids it, and so does ONNX Runtime 1.21 or newer (ONNXDBG_ORT)", NULL,
     ODB_E_EXECUTOR},
    {"RegisterCustomOps", "a library of custom operators exports RegisterCustomOps", NULL,
     ODB_E_EXECUTOR},
    {"libonnxruntime_providers_", NULL, ort_remedy_library, ODB_E_EXECUTOR},
    {"Failed to load shared library", NULL, ort_remedy_library, ODB_E_EXECUTOR},
    {"not enabled in this build", NULL, ort_remedy_providers, ODB_E_EXECUTOR},
    {"not supported in this build", NULL, ort_remedy_providers, ODB_E_EXECUTOR},
    {"Unknown provider name", NULL, ort_remedy_providers, ODB_E_EXECUTOR},
    {"WebGPU adapter",
     "it takes a Vulkan driver of its liking; without a GPU, Debian's mesa-vulkan-drivers do: any "
     "for "
     "1.22, from version 25 on (bookworm-backports) for 1.30",
     NULL, ODB_E_EXECUTOR},
    {"bad_alloc", NULL, NULL, ODB_E_NOMEM},
    {"Failed to allocate memory", NULL, NULL, ODB_E_NOMEM},
};

/* Takes "/path/file.cc:12 type Class::function(arguments) " out of a message: it begins with a
 * slash, has a line number, and ends with a parenthesis (or "<lambda()>") and a space. False: there
 * is none. */
static bool ort_strip_source(char *text)
{
    for (char *p = strchr(text, '/'); p; p = strchr(p + 1, '/')) {
        size_t word = strcspn(p, " \n");
        char *colon = memchr(p, ':', word), *end = strchr(p + word, ')');
        while (end && strncmp(end, ") ", 2) != 0 && strncmp(end, ")> ", 3) != 0)
            end = strchr(end + 1, ')');
        bool begins = p == text || p[-1] == ' ' || p[-1] == ':';
        if (!begins || !colon || !isdigit((unsigned char)colon[1]) || !end)
            continue;
        end = strchr(end, ' ') + 1;
        if (!strncmp(end, "const ", 6))
            end += 6;
        if (p > text && p[-1] == ':') /* "failed:/path/file.cc:12 …" */
            *p++ = ' ';
        memmove(p, end, strlen(end) + 1);
        return true;
    }
    return false;
}

/* Its message without source places, error codes in words, and lists of what other builds have.
 * Where it keeps the reason to its log, the reason is added. */
static char *ort_message(const struct ort *ort, const struct ort_status *said)
{
    static const char code[] = "[ONNXRuntimeError] : ", list[] = ". Currently supported values are";
    const char *message = ort->api.get_error_message(said);
    char last[512] = "";
    if (strstr(message, "Failed to load shared library"))
        ort_last_logged(last, sizeof last);
    char *text = odb_xasprintf("%s%s%s", message, last[0] ? ": " : "", last);
    while (ort_strip_source(text))
        ;
    for (char *p = strstr(text, code); p; p = strstr(text, code)) { /* "1 : FAIL : " */
        char *end = strstr(p + strlen(code), " : ");
        end = end ? strstr(end + 3, " : ") : NULL;
        end = end ? end + 3 : p + strlen(code);
        memmove(p, end, strlen(end) + 1);
    }
    if (strstr(text, list))
        *strstr(text, list) = '\0';
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]);)
        text[--n] = '\0';
    return text;
}

enum odb_status ort_check(const struct ort *ort, struct ort_status *said, struct odb_error *err)
{
    if (!said)
        return ODB_OK;
    char *text = ort_message(ort, said);
    int number = ort->api.get_error_code(said);
    enum odb_status code = number == ORT_NOT_IMPLEMENTED ? ODB_UNSUPPORTED : ODB_E_EXECUTOR;
    size_t row = 0;
    ort->api.release_status(said);
    while (row < ODB_COUNT(ort_remedies) && !strstr(text, ort_remedies[row].text))
        row++;
    if (row < ODB_COUNT(ort_remedies))
        code = ort_remedies[row].code;
    odb_fail(err, code, "%s (code %d)", text, number);
    if (row < ODB_COUNT(ort_remedies) && (ort_remedies[row].remedy || ort_remedies[row].make)) {
        struct odb_buf remedy = ODB_BUF_INIT;
        if (ort_remedies[row].make)
            ort_remedies[row].make(ort, text, &remedy);
        else
            odb_buf_puts(&remedy, ort_remedies[row].remedy);
        odb_error_remedy(err, "%s", odb_buf_text(&remedy));
        odb_buf_dispose(&remedy);
    }
    free(text);
    return code;
}
