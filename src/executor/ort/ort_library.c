/* SPDX-License-Identifier: MIT
 *
 * ONNX Runtime's library: where it may lie, and which of its functions there are. Nothing is looked
 * for below the working directory: code must not run because it lies beside a model.
 */
#include "executor/ort/ort_int.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"

#define ORT_REMEDY                                                                                 \
    "install it (" ORT_GET ", or pip install onnxruntime), or name its library, its directory or " \
    "a virtual environment in ONNXDBG_ORT or ort,runtime=PATH"

#ifdef __aarch64__
#define ORT_NODE_ARCH "arm64"
#else
#define ORT_NODE_ARCH "x64"
#endif
#define ORT_FILE "libonnxruntime.so*"
#define ORT_NODE_BIN "bin/napi-v*/linux/" ORT_NODE_ARCH "/" ORT_FILE
#define ORT_NODE "node_modules/onnxruntime-node/" ORT_NODE_BIN
#define ORT_PIP "python3*/*-packages/onnxruntime/capi/" ORT_FILE

/* --- finding ---------------------------------------------------------------------------------- */

/* Below a directory that was named: an unpacked release, a Python or a Node package, a virtual
 * environment. */
static const char *const ort_inside[] = {
    ORT_FILE,
    "lib/" ORT_FILE,
    "lib64/" ORT_FILE,
    "capi/" ORT_FILE,
    "onnxruntime/capi/" ORT_FILE,
    "lib/" ORT_PIP,
    ORT_NODE_BIN,
    ORT_NODE,
};

/* Where to look besides the loader's own path, in this order. root: a variable of the environment,
 * "python3" or "node" for the directory of that on PATH, "program" for this program's, NULL: none.
 * listed: it is told of, and not taken unless it is named. */
static const struct ort_place {
    const char *root, *pattern;
    bool listed;
} ort_places[] = {
    {"VIRTUAL_ENV", "/lib/" ORT_PIP, false},
    {"CONDA_PREFIX", "/lib/" ORT_PIP, false},
    {"python3", "/../lib/" ORT_PIP, false},
    {"python3", "/../versions/*/lib/" ORT_PIP, false}, /* pyenv */
    {"HOME", "/.local/lib/" ORT_PIP, false},
    {NULL, "/usr/local/lib/" ORT_PIP, false},
    {NULL, "/usr/lib/" ORT_PIP, false},
    {"program", "/vendor/" ORT_NODE, false},
    {"program", "/../vendor/" ORT_NODE, false}, /* from a build folder */
    {"program", "/../lib/onnxdbg/" ORT_FILE, false},
    {"HOME", "/.local/lib/" ORT_NODE, false},
    {"node", "/../lib/" ORT_NODE, false},
    {NULL, "/usr/local/lib/" ORT_NODE, false},
    {NULL, "/usr/lib/" ORT_NODE, false},
    {"program", "/vendor/runtimes/*/" ORT_FILE, true}, /* of `make realbugs` */
    {"program", "/../vendor/runtimes/*/" ORT_FILE, true},
};

/* What a library says of itself begins in its first bytes, with this before its version. */
#define ORT_NAMES ((size_t)1 << 20)
#define ORT_NAMES_MARK "VERS_"

/* The directory of a program as PATH has it; NULL: there is none. */
static char *ort_on_path(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char *dir = odb_xstrndup(path, n);
        char *program = odb_xasprintf("%s/%s", dir, name);
        bool found = dir[0] == '/' && access(program, X_OK) == 0;
        free(program);
        if (found)
            return dir;
        free(dir);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static char *ort_program(void)
{
    char *self = odb_file_self();
    if (self)
        *strrchr(self, '/') = '\0';
    return self;
}

/* The directory that a place begins with, "" for none; NULL: there is no such place. */
static char *ort_root(const char *root)
{
    if (!root)
        return odb_xstrdup("");
    if (!strcmp(root, "python3") || !strcmp(root, "node"))
        return ort_on_path(root);
    if (!strcmp(root, "program"))
        return ort_program();
    const char *dir = getenv(root);
    return dir && dir[0] == '/' ? odb_xstrdup(dir) : NULL;
}

/* What matches in a directory, whose name may hold characters that a pattern gives a meaning. */
static bool ort_glob(const char *dir, const char *pattern, glob_t *found)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (; *dir; dir++) {
        if (strchr("*?[\\", *dir))
            odb_buf_putc(&text, '\\');
        odb_buf_putc(&text, *dir);
    }
    odb_buf_puts(&text, pattern);
    bool any = glob(odb_buf_text(&text), 0, NULL, found) == 0;
    odb_buf_dispose(&text);
    return any;
}

static char *ort_first_match(const char *dir, const char *pattern)
{
    glob_t found;
    if (!ort_glob(dir, pattern, &found))
        return NULL;
    char *path = odb_xstrdup(found.gl_pathv[0]);
    globfree(&found);
    return path;
}

/* The version that a library has names for, "1.22.0", which it says near its beginning; "": it does
 * not. Owned by the caller. */
static char *ort_version_of(const char *path)
{
    char *text = odb_new_n(char, ORT_NAMES + 1);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, ORT_NAMES, file) : 0;
    const char *at = n ? memmem(text, n, ORT_NAMES_MARK, strlen(ORT_NAMES_MARK)) : NULL;
    at = at ? at + strlen(ORT_NAMES_MARK) : "";
    char *version = odb_xstrndup(at, strspn(at, "0123456789.")); /* text ends with a 0 */
    if (file)
        fclose(file);
    free(text);
    return version;
}

/* Adds what lies in a place; with versions: and what each says that it is, for which it is read. */
static void ort_look_at(const struct ort_place *place, bool versions, struct odb_libraries *out)
{
    char *dir = ort_root(place->root);
    glob_t found;
    if (dir && ort_glob(dir, place->pattern, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *path = realpath(found.gl_pathv[i], NULL);
            if (path)
                odb_libraries_add_take(out, path,
                                       versions ? ort_version_of(path) : odb_xstrdup(""));
        }
        globfree(&found);
    }
    free(dir);
}

/* A file that should be the library; NULL when none is found. */
static char *ort_find(void)
{
    struct odb_libraries found = {0};
    for (size_t i = 0; i < ODB_COUNT(ort_places) && !found.items.n; i++)
        if (!ort_places[i].listed)
            ort_look_at(&ort_places[i], false, &found);
    char *path = found.items.n ? odb_xstrdup(found.items.items[0].path) : NULL;
    odb_libraries_dispose(&found);
    return path;
}

/* What was named, in a directory the first library that looks right. NULL: nothing was, or, with
 * err filled, there is none. */
static char *ort_named(const struct odb_runtime *runtime, struct odb_error *err)
{
    struct stat st;
    char *path = NULL;
    if (!runtime->path)
        return NULL;
    bool there = stat(runtime->path, &st) == 0, env = !strcmp(runtime->by, ORT_ENV);
    if (env && (there ? !S_ISDIR(st.st_mode) : !strchr(runtime->path, '/')))
        return odb_xstrdup(runtime->path); /* without a slash: for the loader to find */
    if (there && !S_ISDIR(st.st_mode))
        return odb_file_absolute(runtime->path);
    char *dir = odb_xasprintf("%s/", runtime->path);
    for (size_t i = 0; i < ODB_COUNT(ort_inside) && !path; i++)
        path = ort_first_match(dir, ort_inside[i]);
    free(dir);
    if (path && path[0] != '/') {
        char *whole = odb_file_absolute(path);
        free(path);
        path = whole;
    }
    if (!path) {
        odb_fail(err, ODB_E_EXECUTOR, "%s names no library and no directory with one: %s",
                 runtime->by, runtime->path);
        odb_error_remedy(err, "name libonnxruntime.so or the directory that holds it%s",
                         env ? ", or unset it" : "");
    }
    return path;
}

char *ort_library_file(const struct odb_runtime *runtime)
{
    struct odb_error no = ODB_ERROR_INIT;
    char *path = ort_named(runtime, &no);
    return path || no.code ? path : ort_find();
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Never closed again: its threads may outlive the last session. */
static void *ort_dlopen(const struct odb_runtime *runtime, struct odb_error *err)
{
    struct odb_error no = ODB_ERROR_INIT;
    char *path = ort_named(runtime, &no);
    bool named = path || no.code;
    if (no.code) {
        if (err)
            *err = no;
        return NULL;
    }
    void *lib = NULL;
    if (!named) {
        lib = dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!lib)
            lib = dlopen("libonnxruntime.so", RTLD_NOW | RTLD_LOCAL);
        if (!lib)
            path = ort_find();
    }
    if (path)
        lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib && path) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime cannot be loaded: %s", dlerror());
        if (named)
            odb_error_remedy(err, "correct %s", runtime->by);
        else
            odb_error_remedy(err, ORT_REMEDY);
    } else if (!lib) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime is not installed here");
        odb_error_remedy(err, ORT_REMEDY);
    }
    free(path);
    return lib;
}

/* Files are believed without loading them, because that costs a tenth of a second. */
void ort_available(const struct odb_runtime *runtime, char *why, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    char *path = ort_named(runtime, &err);
    why[0] = '\0';
    if (!path && !err.code)
        path = ort_find();
    if (!path && !err.code)
        ort_dlopen(runtime, &err);
    if (err.code)
        odb_error_text(&err, why, size);
    free(path);
}

/* The base table of a library, and what it says of its version. */
static const struct ort_base *ort_base(struct ort *ort, void *lib, struct odb_error *err)
{
    const struct ort_base *(*get_base)(void);
    void *symbol = dlsym(lib, "OrtGetApiBase");
    Dl_info info = {0};
    memcpy(&get_base, &symbol, sizeof get_base);
    const struct ort_base *base = symbol ? get_base() : NULL;
    if (!base) {
        odb_fail(err, ODB_E_EXECUTOR, "the library is no ONNX Runtime: it has no OrtGetApiBase");
        return NULL;
    }
    char *path = dladdr(symbol, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    ort->path = path ? path : odb_xstrdup("?");
    snprintf(ort->version, sizeof ort->version, "%s", base->get_version_string());
    int major = 0;
    if (sscanf(ort->version, "%d.%d", &major, &ort->minor) != 2 || major != 1 ||
        ort->minor < ORT_API_NEEDED) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s is not one that onnxdbg can use: %s",
                 ort->version, ort->path);
        odb_error_remedy(err, "name a library of 1.%d or newer in ONNXDBG_ORT", ORT_API_NEEDED);
        return NULL;
    }
    return base;
}

enum odb_status ort_open_library(struct ort *ort, const struct odb_runtime *runtime,
                                 struct odb_error *err)
{
    void *lib = ort_dlopen(runtime, err);
    const struct ort_base *base = lib ? ort_base(ort, lib, err) : NULL;
    if (!base)
        return ODB_E_EXECUTOR;
    ort->interface = ODB_MIN(ort->minor, ORT_API_WANTED);
    ort->table = base->get_api((uint32_t)ort->interface);
    if (!ort->table)
        return odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s has no interface %d", ort->version,
                        ort->interface);
#define ORT_FILL(slot, since, result, name, args)                                                  \
    if ((since) <= ort->interface)                                                                 \
        memcpy(&ort->api.name, &ort->table[slot], sizeof(void *));
    ORT_FUNCTIONS(ORT_FILL)
#undef ORT_FILL
    return ODB_OK;
}

void ort_libraries(struct odb_libraries *out)
{
    for (size_t i = 0; i < ODB_COUNT(ort_places); i++)
        ort_look_at(&ort_places[i], true, out);
}

bool ort_found(const struct odb_runtime *runtime, char *text, size_t size)
{
    struct ort ort = {0};
    struct odb_error err = ODB_ERROR_INIT;
    bool usable = ort_open_library(&ort, runtime, &err) == ODB_OK;
    if (usable)
        snprintf(text, size, "ONNX Runtime %s, %s", ort.version, ort.path);
    else
        odb_error_text(&err, text, size);
    free(ort.path);
    return usable;
}

bool ort_provider_functions(const struct ort *ort, const char *key, struct ort_provider_api *out)
{
#define ORT_ROW(name, append, create, update, release) {name, {append, create, update, release}},
    static const struct {
        const char *key;
        int slots[4];
    } rows[] = {ORT_PROVIDERS(ORT_ROW)};
#undef ORT_ROW
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        if (!strcmp(rows[i].key, key)) {
            memcpy(&out->append, &ort->table[rows[i].slots[0]], sizeof(void *));
            memcpy(&out->create, &ort->table[rows[i].slots[1]], sizeof(void *));
            memcpy(&out->update, &ort->table[rows[i].slots[2]], sizeof(void *));
            memcpy(&out->release, &ort->table[rows[i].slots[3]], sizeof(void *));
            return true;
        }
    return false;
}
