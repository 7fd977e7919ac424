/* SPDX-License-Identifier: MIT
 *
 * python:FILE.py:CLASS and the kinds that are classes in share/python. Nothing here runs Python:
 * serve.c exec()s the server that stands in share/python, which speaks executor.proto itself; what
 * a wrapper wraps is a target of its own, to which the rows below hand everything on (relay.h).
 */
#include "executor/programs/python.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/file.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/programs/share.h"
#include "executor/transport/relay.h"

#define PYTHON_ENV "ONNXDBG_PYTHON"
#define PYTHON_SERVER "onnxdbg_serve.py"

struct python_kind {
    const char *kind;
    const char *file, *class_;    /* in share/python; NULL: the spec's argument names them */
    const char *module, *package; /* that it needs, and Debian's for it */
};

static const struct python_kind python_kinds[] = {
    {"python", NULL, NULL, "numpy", "python3-numpy"},
    {"numpy", "onnxdbg_numpy.py", "Numpy", "numpy", "python3-numpy"},
    {"opencv", "onnxdbg_opencv.py", "OpenCV", "cv2", "python3-opencv"},
    {"torch", "onnxdbg_torch.py", "Torch", "torch", "python3-torch"},
};

#define PYTHON_RUNTIME ODB_RUNTIME_OPTION("the Python, or its folder; else ONNXDBG_PYTHON names it")

static const struct odb_executor_option python_options_python[] = {
    {":", "FILE.py[:CLASS]", NULL, "the file, and the class where it has several", true},
    PYTHON_RUNTIME,
    {"*", "VALUE", NULL, "what the class's init() takes", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option python_options_numpy[] = {
    PYTHON_RUNTIME,
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option python_options_opencv[] = {
    PYTHON_RUNTIME,
    {"backend", "NAME", "opencv", "DNN_BACKEND_NAME: opencv, cuda, vkcom, ...", false},
    {"target", "NAME", "cpu", "DNN_TARGET_NAME: cpu, opencl, cuda_fp16, ...", false},
    {"fusion", "on|off", "on", "whether layers are fused", false},
    {"threads", "N", "all", "threads of OpenCV", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option python_options_torch[] = {
    PYTHON_RUNTIME,
    {"precision", "f32|tf32|f16|bf16", "f32", "what floats are computed in", false},
    {"device", "NAME", "cuda where there is one, else cpu", "of PyTorch: cpu, cuda, cuda:1", false},
    {"threads", "N", "all", "threads of PyTorch on the CPU", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_setting python_settings_opencv[] = {
    {"fusion=off", "layers are not fused", NULL, NULL},
    {"backend=opencv", "OpenCV's own code runs", NULL, NULL},
    {"target=cpu", "the CPU runs it", NULL, NULL},
    {"threads=1", "one thread runs", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct odb_executor_setting python_settings_torch[] = {
    {"precision=f32", "it computes in float32", NULL, NULL},
    {"device=cpu", "the CPU runs it", NULL, NULL},
    {"threads=1", "one thread runs", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct python_kind *python_kind(const char *kind)
{
    for (size_t i = 0; i < ODB_COUNT(python_kinds); i++)
        if (!strcmp(python_kinds[i].kind, kind))
            return &python_kinds[i];
    return NULL;
}

/* --- where things are ------------------------------------------------------------------------ */

enum python_has { PYTHON_HAS, PYTHON_LACKS, PYTHON_IS_NONE };

/* Whether a Python has numpy and what else the kind needs, without loading them; lacks: which. */
static enum python_has python_look(const char *python, const struct python_kind *kind,
                                   struct odb_buf *lacks)
{
    static const char code[] = "import sys\n"
                               /* the folder that we happen to be in */
                               "if sys.path[:1] == ['']: del sys.path[0]\n"
                               "import importlib.util as util\n"
                               "for name in sys.argv[1:]:\n"
                               "    if util.find_spec(name) is None: sys.exit(name)";
    struct odb_argv argv = {0};
    struct odb_program program = {.argv = &argv, .quiet = true};
    const char *const words[] = {python, "-c", code, "numpy", kind->module};
    enum python_has has = PYTHON_HAS;
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        odb_argv_add(&argv, words[i]);
    if (odb_program_run(&program, NULL) != ODB_OK) {
        has = PYTHON_IS_NONE;
    } else if (program.how != 0) {
        has = PYTHON_LACKS;
        odb_program_last_words(&program, 100, lacks);
    }
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    return has;
}

/* The Python that a path names: itself, or by its folder (a virtual environment). Owned by the
 * caller. */
static char *python_named(const struct odb_runtime *runtime)
{
    static const char *const inside[] = {"bin/python3", "python3"};
    bool in_path = !strcmp(runtime->by, PYTHON_ENV) && !strchr(runtime->path, '/');
    char *path = in_path ? odb_xstrdup(runtime->path) : odb_file_absolute(runtime->path);
    for (size_t i = 0; i < ODB_COUNT(inside); i++) {
        char *file = odb_xasprintf("%s/%s", path, inside[i]);
        if (access(file, X_OK) == 0) {
            free(path);
            return file;
        }
        free(file);
    }
    return path;
}

/* The Python that runs this kind: the one that was named, else the first that has what it needs, of
 * the one in the path and the system's, which distributions install packages for. *has: what is
 * to be said of it. Owned by the caller. */
static char *python_program(const struct python_kind *kind, const struct odb_runtime *runtime,
                            enum python_has *has, struct odb_buf *lacks)
{
    static const char *const usual[] = {"python3", "/usr/bin/python3"};
    static _Atomic(const char *) found[ODB_COUNT(python_kinds)]; /* to look takes 0.1 s */
    if (runtime->path) {
        char *named = python_named(runtime);
        *has = python_look(named, kind, lacks);
        return named;
    }
    const char *known = atomic_load(&found[kind - python_kinds]);
    if (known) {
        *has = PYTHON_HAS;
        return odb_xstrdup(known);
    }
    for (size_t i = 0; i < ODB_COUNT(usual); i++) {
        struct odb_buf ignored = ODB_BUF_INIT;
        enum python_has seen = python_look(usual[i], kind, i ? &ignored : lacks);
        odb_buf_dispose(&ignored);
        if (!i)
            *has = seen;
        if (seen == PYTHON_HAS) {
            *has = seen;
            atomic_store(&found[kind - python_kinds], usual[i]);
            return odb_xstrdup(usual[i]);
        }
    }
    return odb_xstrdup(usual[0]);
}

/* The Python where there is no other to take, whatever it has; NULL: there is. To look costs more
 * than some need to start. Owned by the caller. */
static char *python_only(const struct odb_runtime *runtime)
{
    if (runtime->path)
        return python_named(runtime);
    char *first = odb_file_in_path("python3"), *real = first ? realpath(first, NULL) : NULL;
    char *usual = realpath("/usr/bin/python3", NULL);
    bool same = real && usual && !strcmp(real, usual);
    free(usual);
    free(real);
    if (same)
        return first;
    free(first);
    return NULL;
}

/* What a spec's own Python is; the usual one is not looked for, as that takes too long. */
static char *python_file(const struct odb_runtime *runtime)
{
    return runtime->path ? python_named(runtime) : NULL;
}

static void python_available(const struct python_kind *kind, const struct odb_runtime *runtime,
                             char *why, size_t size)
{
    struct odb_buf lacks = ODB_BUF_INIT;
    char *server = odb_share_find("python", PYTHON_SERVER);
    enum python_has has = PYTHON_HAS;
    why[0] = '\0';
    if (!server) {
        snprintf(why, size, "%s is not found; name the folder share in " ODB_SHARE_ENV,
                 PYTHON_SERVER);
        return;
    }
    char *python = python_program(kind, runtime, &has, &lacks);
    if (has == PYTHON_IS_NONE)
        snprintf(why, size, "%s cannot be started; name a Python in " PYTHON_ENV, python);
    else if (has == PYTHON_LACKS)
        snprintf(why, size,
                 "%s has no module %s; install it (Debian: %s), or name another Python "
                 "in " PYTHON_ENV,
                 python, odb_buf_text(&lacks), kind->package);
    odb_buf_dispose(&lacks);
    free(python);
    free(server);
}

/* --- becoming Python ------------------------------------------------------------------------- */

bool odb_python_hosts(const char *text)
{
    struct odb_spec *spec;
    if (odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return false;
    bool hosts = python_kind(spec->kind) != NULL;
    odb_spec_free(spec);
    return hosts;
}

void odb_python_environ(const char *text)
{
    struct odb_spec *spec;
    if (odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return;
    /* OpenBLAS's idle threads spin for 2^26 cycles, from when NumPy is imported: 0.1 s of a
     * processor that the search could use. 2^4 are the least that it takes. */
    if (!strcmp(spec->kind, "numpy"))
        setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
    odb_spec_free(spec);
}

static bool python_is_name(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && !text[n];
}

/* The file and the class that a spec names; the caller frees both. file is NULL where share/python
 * is not found, class_ may be "". */
static void python_where(const struct odb_spec *spec, char **file, char **class_)
{
    const struct python_kind *kind = python_kind(spec->kind);
    const char *colon = spec->arg ? strrchr(spec->arg, ':') : NULL;
    bool named = colon && colon > spec->arg && python_is_name(colon + 1);
    if (kind->file) {
        *file = odb_share_find("python", kind->file);
        *class_ = odb_xstrdup(kind->class_);
        return;
    }
    *class_ = odb_xstrdup(named ? colon + 1 : "");
    *file = odb_xstrdup(spec->arg);
    if (named)
        (*file)[colon - spec->arg] = '\0';
}

/* One more word, made in a buffer. */
#define python_add(argv, word, ...)                                                                \
    (odb_buf_clear(word), odb_buf_printf(word, __VA_ARGS__), odb_argv_add(argv, odb_buf_text(word)))

enum odb_status odb_python_args(struct odb_argv *out, const char *text, int fd, const char *scratch,
                                struct odb_error *err)
{
    struct odb_spec *spec;
    struct odb_buf word = ODB_BUF_INIT, lacks = ODB_BUF_INIT;
    enum python_has has; /* what it has not, it says itself when it runs */
    char *file = NULL, *class_ = NULL, *python = NULL;
    char *server = odb_share_find("python", PYTHON_SERVER);
    enum odb_status status = odb_spec_parse(&spec, text, err);
    if (status != ODB_OK) {
        free(server);
        return status;
    }
    ODB_TRY_OUT(odb_spec_check(spec, odb_executor_find(spec->kind)->options, err));
    python_where(spec, &file, &class_);
    if (!server || !file) {
        status = odb_fail(err, ODB_E_EXECUTOR, "%s is not found", PYTHON_SERVER);
        odb_error_remedy(err, "name the folder that holds python/%s in " ODB_SHARE_ENV,
                         PYTHON_SERVER);
        goto out;
    }
    struct odb_runtime runtime = odb_executor_runtime(spec->row, spec);
    python = python_only(&runtime);
    if (!python)
        python = python_program(python_kind(spec->kind), &runtime, &has, &lacks);
    odb_argv_add(out, python);
    odb_argv_add(out, "-uB"); /* words at once, and no files in share/ */
    odb_argv_add(out, server);
    if (fd >= 0)
        python_add(out, &word, "--fd=%d", fd);
    python_add(out, &word, "--scratch=%s", scratch ? scratch : "");
    python_add(out, &word, "--file=%s", file);
    python_add(out, &word, "--class=%s", class_);
    odb_argv_add(out, "--version=" ODB_VERSION);
    odb_argv_add(out, "--");
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (!odb_spec_row(NULL, option->key) && strcmp(option->key, "runtime"))
            python_add(out, &word, "%s%s%s", option->key, option->value[0] ? "=" : "",
                       option->value);
    }
out:
    odb_spec_free(spec);
    odb_buf_dispose(&word);
    odb_buf_dispose(&lacks);
    free(python);
    free(server);
    free(file);
    free(class_);
    return status;
}

/* --- inside a wrapper ------------------------------------------------------------------------ */

static enum odb_status python_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_target *target;
    ODB_TRY(odb_target_open(&target, spec->text, err));
    *self = target;
    return ODB_OK;
}

/* What all rows here share; more follows in each. */
#define PYTHON_ROW(name, line)                                                                     \
    .version = ODB_EXECUTOR_VERSION, .size = sizeof(struct odb_executor_ops), .kind = #name,       \
    .options = python_options_##name, .help = line, .page = "onnxdbg-python(7)", .partial = true,  \
    .env = PYTHON_ENV, .file = python_file, .available = python_available_##name,                  \
    .init = python_init, .load_model = odb_relay_load, .execute = odb_relay_execute,               \
    .release = odb_relay_release, .describe = odb_relay_describe,                                  \
    .capabilities = odb_relay_capabilities, .account = odb_relay_account

#define PYTHON_AVAILABLE(name)                                                                     \
    static void python_available_##name(const struct odb_runtime *runtime, char *why, size_t size) \
    {                                                                                              \
        python_available(python_kind(#name), runtime, why, size);                                  \
    }

PYTHON_AVAILABLE(python)
PYTHON_AVAILABLE(numpy)
PYTHON_AVAILABLE(opencv)
PYTHON_AVAILABLE(torch)

const struct odb_executor_ops odb_executor_python = {
    PYTHON_ROW(python, "a class of yours in Python"),
    .get = "apt install python3-numpy",
};

const struct odb_executor_ops odb_executor_numpy = {
    PYTHON_ROW(numpy, "NumPy: ONNX's operators as in a textbook, slowly"),
    .get = "apt install python3-numpy",
    .trusted = "",
    .library = "NumPy",
    .independence = 1,
    .opinion = "numpy",
};

const struct odb_executor_ops odb_executor_opencv = {
    PYTHON_ROW(opencv, "OpenCV's DNN module"),
    .get = "apt install python3-opencv",
    .settings = python_settings_opencv,
    .fixed = true,
    .by_value = true,
    .trusted = "backend target fusion threads",
    .library = "OpenCV",
    .independence = 2,
    .opinion = "opencv", /* which only fuses: in one node, nothing */
};

const struct odb_executor_ops odb_executor_torch = {
    PYTHON_ROW(torch, "PyTorch's operators, node by node"),
    .get = "apt install python3-torch",
    .settings = python_settings_torch,
    .trusted = "precision device threads",
};
