/* SPDX-License-Identifier: MIT
 *
 * python:FILE.py:CLASS and the kinds that are classes in share/python. Nothing here runs Python:
 * serve.c exec()s the server that stands in share/python, which speaks executor.proto itself; what
 * a wrapper wraps is a target of its own, and the rows below hand everything on to it.
 */
#include "executor/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/target.h"

#define PYTHON_ENV "ONNXDBG_PYTHON"
#define PYTHON_SHARE_ENV "ONNXDBG_SHARE"
#define PYTHON_SERVER "onnxdbg_serve.py"

struct python_kind {
    const char *kind;
    const char *file, *class_;   /* in share/python; NULL: the spec's argument names them */
    const char *module, *remedy; /* that it needs, and how to get it */
};

static const struct python_kind python_kinds[] = {
    {"python", NULL, NULL, "numpy", "Debian: python3-numpy"},
    {"opencv", "onnxdbg_opencv.py", "OpenCV", "cv2", "Debian: python3-opencv"},
    {"torch", "onnxdbg_torch.py", "Torch", "torch", "Debian: python3-torch"},
};

static const struct odb_executor_option python_options_python[] = {
    {":", "FILE.py[:CLASS]", NULL, "the file, and the class where it has several", true},
    {"*", "VALUE", NULL, "what the class's init() takes", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option python_options_opencv[] = {
    {"backend", "NAME", "opencv", "DNN_BACKEND_NAME: opencv, cuda, vkcom, ...", false},
    {"target", "NAME", "cpu", "DNN_TARGET_NAME: cpu, opencl, cuda_fp16, ...", false},
    {"fusion", "on|off", "on", "whether layers are fused", false},
    {"threads", "N", "all", "threads of OpenCV", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option python_options_torch[] = {
    {"precision", "f32|tf32|f16|bf16", "f32", "what floats are computed in", false},
    {"device", "NAME", "cuda where there is one, else cpu", "of PyTorch: cpu, cuda, cuda:1", false},
    {"threads", "N", "all", "threads of PyTorch on the CPU", false},
    {NULL, NULL, NULL, NULL, false},
};

struct python {
    struct odb_target *target; /* owned */
};

static const struct python_kind *python_kind(const char *kind)
{
    for (size_t i = 0; i < ODB_COUNT(python_kinds); i++)
        if (!strcmp(python_kinds[i].kind, kind))
            return &python_kinds[i];
    return NULL;
}

/* --- where things are ------------------------------------------------------------------------ */

static const char *python_program(void)
{
    const char *env = getenv(PYTHON_ENV);
    return env && env[0] ? env : "python3";
}

static char *python_try(const char *dir, const char *below, const char *file)
{
    char *path = odb_xasprintf("%s%s/%s", dir, below, file);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* A file of share/python beside a program, where it was built or installed. */
static char *python_beside(const char *program, const char *file)
{
    static const char *const below[] = {"/../share/onnxdbg/python", "/share/python"};
    char *dir = odb_xstrdup(program), *slash = strrchr(dir, '/'), *path = NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < ODB_COUNT(below) && !path; i++)
        path = python_try(dir, below[i], file);
    free(dir);
    return path;
}

/* A file of share/python: in $ONNXDBG_SHARE, else beside this program or the child's. NULL: in none
 * of them. */
static char *python_share(const char *file)
{
    const char *env = getenv(PYTHON_SHARE_ENV), *serve = getenv("ONNXDBG_SERVE");
    if (env && env[0])
        return python_try(env, "/python", file);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *path = python_beside(self, file);
    return path || !serve ? path : python_beside(serve, file);
}

/* Whether Python has a module, without loading it. */
static int python_has(const char *module)
{
    extern char **environ;
    char *code = odb_xasprintf("import importlib.util,sys;"
                               "sys.exit(3 if importlib.util.find_spec('%s') is None else 0)",
                               module);
    char *argv[] = {(char *)python_program(), "-c", code, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int how = -1;
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    int error = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    free(code);
    if (error)
        return -error;
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void python_available(const struct python_kind *kind, char *why, size_t size)
{
    static const char *const modules[] = {"numpy", NULL};
    char *server = python_share(PYTHON_SERVER);
    why[0] = '\0';
    if (!server) {
        snprintf(why, size, "%s is not found; name the folder share in " PYTHON_SHARE_ENV,
                 PYTHON_SERVER);
        return;
    }
    free(server);
    int has = python_has(modules[0]);
    const struct python_kind *lacks = &python_kinds[0];
    if (has == 0 && kind != lacks)
        has = python_has((lacks = kind)->module);
    if (has < 0)
        snprintf(why, size, "%s cannot be started; name a Python in " PYTHON_ENV, python_program());
    else if (has > 0)
        snprintf(why, size, "%s has no module %s (%s); " PYTHON_ENV " names another Python",
                 python_program(), lacks->module, lacks->remedy);
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
        *file = python_share(kind->file);
        *class_ = odb_xstrdup(kind->class_);
        return;
    }
    *class_ = odb_xstrdup(named ? colon + 1 : "");
    *file = odb_xstrdup(spec->arg);
    if (named)
        (*file)[colon - spec->arg] = '\0';
}

enum odb_status odb_python_args(char ***out, const char *text, int fd, const char *scratch,
                                struct odb_error *err)
{
    struct odb_spec *spec;
    char *file = NULL, *class_ = NULL, *server = python_share(PYTHON_SERVER);
    ODB_VEC(char *) args = {0};
    enum odb_status status = odb_spec_parse(&spec, text, err);
    if (status != ODB_OK) {
        free(server);
        return status;
    }
    ODB_TRY_OUT(odb_spec_check(spec, odb_executor_find(spec->kind)->options, err));
    python_where(spec, &file, &class_);
    if (!server || !file) {
        status = odb_fail(err, ODB_E_EXECUTOR, "%s is not found", PYTHON_SERVER);
        odb_error_remedy(err, "name the folder that holds python/%s in " PYTHON_SHARE_ENV,
                         PYTHON_SERVER);
        goto out;
    }
    odb_push(&args, odb_xstrdup(python_program()));
    odb_push(&args, odb_xstrdup("-uB")); /* words at once, and no files in share/ */
    odb_push(&args, odb_xstrdup(server));
    if (fd >= 0)
        odb_push(&args, odb_xasprintf("--fd=%d", fd));
    odb_push(&args, odb_xasprintf("--scratch=%s", scratch ? scratch : ""));
    odb_push(&args, odb_xasprintf("--file=%s", file));
    odb_push(&args, odb_xasprintf("--class=%s", class_));
    odb_push(&args, odb_xstrdup("--version=" ODB_VERSION));
    odb_push(&args, odb_xstrdup("--"));
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (!odb_spec_row(NULL, option->key))
            odb_push(&args, odb_xasprintf("%s%s%s", option->key, option->value[0] ? "=" : "",
                                          option->value));
    }
    odb_push(&args, NULL);
    *out = args.items;
    args.items = NULL;
out:
    odb_spec_free(spec);
    free(server);
    free(file);
    free(class_);
    return status;
}

void odb_python_free_args(char **args)
{
    for (size_t i = 0; args && args[i]; i++)
        free(args[i]);
    free(args);
}

/* --- inside a wrapper ------------------------------------------------------------------------ */

static void python_release(void *self)
{
    struct python *python = self;
    odb_target_close(python->target);
    free(python);
}

static enum odb_status python_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct python *python = odb_new(struct python);
    enum odb_status status = odb_target_open(&python->target, spec->text, err);
    if (status != ODB_OK)
        free(python);
    else
        *self = python;
    return status;
}

static enum odb_status python_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    return odb_target_load(((struct python *)self)->target, load, err);
}

static enum odb_status python_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                      const char *const *names, size_t n_outputs,
                                      struct odb_tensor **outputs, struct odb_error *err)
{
    return odb_target_run(((struct python *)self)->target, inputs, n_inputs, names, n_outputs,
                          outputs, err);
}

static void python_describe(void *self, char *text, size_t size)
{
    snprintf(text, size, "%s", odb_target_description(((struct python *)self)->target));
}

static enum odb_status python_account(void *self, struct odb_account *account,
                                      struct odb_error *err)
{
    return odb_target_account(((struct python *)self)->target, account, err);
}

#define PYTHON_ROW(name, line)                                                                     \
    static void python_available_##name(char *why, size_t size)                                    \
    {                                                                                              \
        python_available(python_kind(#name), why, size);                                           \
    }                                                                                              \
    const struct odb_executor_ops odb_executor_##name = {                                          \
        .version = ODB_EXECUTOR_VERSION,                                                           \
        .size = sizeof(struct odb_executor_ops),                                                   \
        .kind = #name,                                                                             \
        .options = python_options_##name,                                                          \
        .help = line,                                                                              \
        .page = "onnxdbg-python(7)",                                                               \
        .partial = true,                                                                           \
        .available = python_available_##name,                                                      \
        .init = python_init,                                                                       \
        .load_model = python_load,                                                                 \
        .execute = python_execute,                                                                 \
        .release = python_release,                                                                 \
        .describe = python_describe,                                                               \
        .account = python_account,                                                                 \
    };

PYTHON_ROW(python, "a class of yours in Python")
PYTHON_ROW(opencv, "OpenCV's DNN module")
PYTHON_ROW(torch, "PyTorch's operators, node by node")
