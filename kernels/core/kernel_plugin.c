/* SPDX-License-Identifier: MIT
 *
 * Between a row of the operator table and a kernel of the public ABI. Every kernel of a library
 * gets a row; what is behind the row's two functions shows the call in the ABI's words: tensors
 * with aligned data, floats in types that the kernel names. Nothing of the house's structs is seen
 * on the other side, so they may change.
 */
#include "kernels/core/kernel_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/file.h"
#include "base/mem.h"
#include "kernels/core/kern.h"
#include "onnxdbg/kernel.h"

#define PLUGIN_ALIGN 16
#define PLUGIN_MOST_KERNELS 100000 /* more is garbage */

struct plugin_op {
    struct odb_op op;                    /* first: a row of the table leads back here */
    const struct onnxdbg_kernel *kernel; /* borrowed: the library */
};

/* A call under way. Owned arrays; refs of tensors that had to be changed for the kernel. */
struct plugin_call {
    struct onnxdbg_call abi;
    struct odb_kern *k; /* borrowed */
    struct onnxdbg_tensor *in, *out;
    const struct onnxdbg_tensor **in_list, **out_list;
    struct odb_tensor **own; /* [n_in] refs */
    struct onnxdbg_tensor attr;
    enum odb_status status; /* of what the kernel reported */
};

/* --- what a kernel may ask -------------------------------------------------------------------- */

static struct plugin_call *plugin_of(const struct onnxdbg_call *call)
{
    return call->host;
}

static int64_t plugin_int(const struct onnxdbg_call *call, const char *name, int64_t fallback)
{
    return odb_kern_int(plugin_of(call)->k, name, fallback);
}

static double plugin_float(const struct onnxdbg_call *call, const char *name, double fallback)
{
    return odb_kern_float(plugin_of(call)->k, name, fallback);
}

static const char *plugin_string(const struct onnxdbg_call *call, const char *name,
                                 const char *fallback)
{
    return odb_kern_string(plugin_of(call)->k, name, fallback);
}

static const int64_t *plugin_ints(const struct onnxdbg_call *call, const char *name, size_t *n)
{
    return odb_kern_ints(plugin_of(call)->k, name, n);
}

static const float *plugin_floats(const struct onnxdbg_call *call, const char *name, size_t *n)
{
    return (const float *)odb_kern_floats(plugin_of(call)->k, name, n);
}

static const struct onnxdbg_string *plugin_strings(const struct onnxdbg_call *call,
                                                   const char *name, size_t *n)
{
    _Static_assert(sizeof(struct onnxdbg_string) == sizeof(struct odb_str) &&
                       offsetof(struct onnxdbg_string, size) == offsetof(struct odb_str, len),
                   "strings are shown as they are");
    return (const struct onnxdbg_string *)odb_kern_strings(plugin_of(call)->k, name, n);
}

static void plugin_show(struct onnxdbg_tensor *abi, const struct odb_tensor *t)
{
    *abi = (struct onnxdbg_tensor){.dtype = (int32_t)t->dtype,
                                   .rank = t->rank,
                                   .dims = t->dims,
                                   .count = t->count,
                                   .data = t->data};
}

static const struct onnxdbg_tensor *plugin_tensor(const struct onnxdbg_call *call, const char *name)
{
    struct plugin_call *self = plugin_of(call);
    const struct odb_tensor *t = odb_kern_tensor(self->k, name);
    if (t)
        plugin_show(&self->attr, t);
    return t ? &self->attr : NULL;
}

/* What a kernel returns when something has gone wrong; the reason is kept here. */
static int plugin_says(struct plugin_call *self, enum odb_status status)
{
    self->status = status;
    return status == ODB_OK ? 0 : -1;
}

static int plugin_output(const struct onnxdbg_call *call, int i, int dtype, int rank,
                         const int64_t *dims)
{
    struct plugin_call *self = plugin_of(call);
    if (dtype <= 0 || dtype >= ODB_DTYPE_COUNT)
        return plugin_says(self, ODB_KERN_FAIL(self->k, "%s gives output %d a type %d that is none",
                                               self->k->op->name, i, dtype));
    if (i < 0 || call->outputs)
        return plugin_says(self,
                           ODB_KERN_FAIL(self->k, "%s declares output %d %s", self->k->op->name, i,
                                         i < 0 ? "" : "when it should fill it"));
    return plugin_says(self, odb_kern_outline(self->k, i, (enum odb_dtype)dtype, rank, dims));
}

static int plugin_not_known(const struct onnxdbg_call *call)
{
    return plugin_says(plugin_of(call), ODB_SKIPPED);
}

static int plugin_set_string(const struct onnxdbg_call *call, int i, size_t e, const char *data,
                             size_t size)
{
    struct plugin_call *self = plugin_of(call);
    struct odb_kern *k = self->k;
    bool there = call->outputs && i >= 0 && i < k->n_out && k->out[i] &&
                 k->out[i]->dtype == ODB_STRING && e < k->out[i]->count;
    if (!there)
        return plugin_says(self, ODB_KERN_FAIL(k,
                                               "%s writes string %zu of output %d, which is not "
                                               "there",
                                               k->op->name, e, i));
    return plugin_says(self, odb_tensor_set_string(k->out[i], e, data, size, k->err));
}

static int plugin_report(const struct onnxdbg_call *call, enum odb_status status,
                         const char *format, va_list args)
{
    struct plugin_call *self = plugin_of(call);
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    return plugin_says(self, odb_fail(self->k->err, status, "%s", text));
}

static int plugin_fail(const struct onnxdbg_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = plugin_report(call, ODB_E_OPERATOR, format, args);
    va_end(args);
    return result;
}

static int plugin_unsupported(const struct onnxdbg_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = plugin_report(call, ODB_UNSUPPORTED, format, args);
    va_end(args);
    return result;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Types that the kernel itself names for input i. */
static uint32_t plugin_types(const struct onnxdbg_kernel *kernel, int i)
{
    uint32_t mask = 0;
    for (int t = 0; t <= i && t < (int)ODB_COUNT(kernel->types); t++)
        if (kernel->types[t])
            mask = kernel->types[t];
    return mask;
}

/* Input i as the kernel wants it: doubles of the double mode become floats again for a kernel that
 * knows none, and what stands crooked in a file is copied. */
static enum odb_status plugin_input(struct plugin_call *self, const struct onnxdbg_kernel *kernel,
                                    int i)
{
    const struct odb_tensor *t = self->k->in[i];
    bool narrow = t->dtype == ODB_F64 && !(plugin_types(kernel, i) & ODB_BIT(ODB_F64));
    bool crooked = (uintptr_t)t->data % PLUGIN_ALIGN != 0;
    if (narrow)
        ODB_TRY(odb_tensor_cast(&self->own[i], t, ODB_F32, self->k->err));
    else if (crooked)
        ODB_TRY(odb_tensor_clone(&self->own[i], t, self->k->err));
    plugin_show(&self->in[i], self->own[i] ? self->own[i] : t);
    self->in_list[i] = &self->in[i];
    return ODB_OK;
}

static void plugin_dispose(struct plugin_call *self)
{
    for (int i = 0; i < self->k->n_in; i++)
        odb_tensor_unref(self->own[i]);
    free(self->own);
    free(self->in);
    free(self->in_list);
    free(self->out);
    free(self->out_list);
}

/* Calls shape() or run() of the kernel behind the row. */
static enum odb_status plugin_call(struct odb_kern *k, bool run)
{
    const struct onnxdbg_kernel *kernel = ((const struct plugin_op *)k->op)->kernel;
    struct plugin_call self = {.k = k, .status = ODB_OK};
    enum odb_status status = ODB_OK;
    self.in = odb_new_n(struct onnxdbg_tensor, k->n_in);
    self.in_list = odb_new_n(const struct onnxdbg_tensor *, k->n_in);
    self.own = odb_new_n(struct odb_tensor *, k->n_in);
    self.out = odb_new_n(struct onnxdbg_tensor, k->n_out);
    self.out_list = odb_new_n(const struct onnxdbg_tensor *, k->n_out);
    for (int i = 0; i < k->n_in; i++)
        if (k->in[i])
            ODB_TRY_OUT(plugin_input(&self, kernel, i));
    for (int i = 0; run && i < k->n_out; i++) {
        if (!k->out[i])
            continue;
        plugin_show(&self.out[i], k->out[i]);
        self.out_list[i] = &self.out[i];
    }
    self.abi = (struct onnxdbg_call){.size = sizeof self.abi,
                                     .opset = k->opset,
                                     .n_inputs = k->n_in,
                                     .n_outputs = k->n_out,
                                     .inputs = self.in_list,
                                     .outputs = run ? self.out_list : NULL,
                                     .sequential = k->sequential,
                                     .seed = k->seed,
                                     .host = &self,
                                     .attr_int = plugin_int,
                                     .attr_float = plugin_float,
                                     .attr_string = plugin_string,
                                     .attr_ints = plugin_ints,
                                     .attr_floats = plugin_floats,
                                     .attr_strings = plugin_strings,
                                     .attr_tensor = plugin_tensor,
                                     .output = plugin_output,
                                     .not_known = plugin_not_known,
                                     .set_string = plugin_set_string,
                                     .fail = plugin_fail,
                                     .unsupported = plugin_unsupported};
    int result = run ? kernel->run(&self.abi) : kernel->shape(&self.abi);
    status = self.status;
    if (result && status == ODB_OK)
        status = ODB_KERN_FAIL(k, "%s() of %s returned %d without a reason", run ? "run" : "shape",
                               k->op->name, result);
out:
    plugin_dispose(&self);
    return status;
}

static enum odb_status plugin_infer(struct odb_kern *k)
{
    return plugin_call(k, false);
}

static enum odb_status plugin_run(struct odb_kern *k)
{
    return plugin_call(k, true);
}

/* --- loading ---------------------------------------------------------------------------------- */

static enum odb_status plugin_check(const struct onnxdbg_kernels *all, struct odb_error *err)
{
    if (!all)
        return odb_fail(err, ODB_E_INPUT, "onnxdbg_kernels() returned NULL");
    if (all->abi != ONNXDBG_KERNEL_ABI) {
        odb_fail(err, ODB_E_INPUT,
                 "it speaks version %u of the kernel ABI, and onnxdbg %s version %d", all->abi,
                 ODB_VERSION, ONNXDBG_KERNEL_ABI);
        return odb_error_remedy(err, "build it against this onnxdbg's onnxdbg/kernel.h");
    }
    if (all->kernel_size < sizeof(struct onnxdbg_kernel) || all->kernel_size > 65536 ||
        all->n_kernels > PLUGIN_MOST_KERNELS || (all->n_kernels && !all->kernels))
        return odb_fail(err, ODB_E_INPUT, "its table of kernels makes no sense (%zu of %u bytes)",
                        all->n_kernels, all->kernel_size);
    for (size_t i = 0; i < all->n_kernels; i++) {
        const struct onnxdbg_kernel *kernel =
            (const void *)((const char *)all->kernels + i * all->kernel_size);
        const char *lacks = !kernel->domain            ? "domain"
                            : !kernel->op_type         ? "op_type"
                            : !kernel->shape           ? "shape()"
                            : !kernel->run             ? "run()"
                            : !plugin_types(kernel, 0) ? "types of input 0"
                                                       : NULL;
        if (lacks && !(kernel->max_inputs == 0 && !strncmp(lacks, "types", 5)))
            return odb_fail(err, ODB_E_INPUT, "kernel %zu (%s) has no %s", i,
                            kernel->op_type ? kernel->op_type : "?", lacks);
        if (kernel->min_inputs < 0 || kernel->max_inputs < kernel->min_inputs ||
            kernel->min_outputs < 0 || kernel->max_outputs < ODB_MAX(kernel->min_outputs, 1))
            return odb_fail(err, ODB_E_INPUT,
                            "kernel %zu (%s) takes %d to %d inputs, gives %d to %d", i,
                            kernel->op_type, kernel->min_inputs, kernel->max_inputs,
                            kernel->min_outputs, kernel->max_outputs);
    }
    return ODB_OK;
}

static void plugin_row(struct plugin_op *row, const struct onnxdbg_kernel *kernel)
{
    static const struct {
        unsigned abi, own;
    } flags[] = {{ONNXDBG_EXACT, ODB_OP_EXACT},
                 {ONNXDBG_REAL, ODB_OP_REAL},
                 {ONNXDBG_RANDOM, ODB_OP_RANDOM},
                 {ONNXDBG_BOUNDARY, ODB_OP_BOUNDARY}};
    row->kernel = kernel;
    row->op = (struct odb_op){
        .domain = strcmp(kernel->domain, "ai.onnx") ? kernel->domain : "",
        .name = kernel->op_type,
        .since = kernel->since,
        .min_in = kernel->min_inputs,
        .max_in = ODB_MIN(kernel->max_inputs, ODB_MANY),
        .min_out = kernel->min_outputs,
        .max_out = ODB_MIN(kernel->max_outputs, ODB_MANY),
        .flags = ODB_OP_OPEN,
        .infer = plugin_infer,
        .run = plugin_run,
    };
    for (size_t f = 0; f < ODB_COUNT(flags); f++)
        row->op.flags |= kernel->flags & flags[f].abi ? flags[f].own : 0;
    for (size_t i = 0; i < ODB_COUNT(kernel->types); i++) {
        row->op.types[i] = kernel->types[i] & ODB_T_ANY;
        if ((kernel->flags & ONNXDBG_REAL) && (kernel->types[i] & ODB_BIT(ODB_F32)))
            row->op.types[i] |= ODB_T_HALVES;
    }
    int last = ODB_COUNT(kernel->types);
    while (last > 0 && !row->op.types[last - 1])
        last--;
    for (int i = 1; i < last; i++) /* each on its own: a kernel looks at the types of its inputs */
        row->op.types[i] = row->op.types[i] ? row->op.types[i] : row->op.types[i - 1];
    if (last > 0)
        row->op.types[last] = ODB_EACH;
}

/* Libraries that are loaded, under the lock of odb_plugin_load(). */
static ODB_VEC(const struct onnxdbg_kernels *) plugin_libraries;

static bool plugin_known(const struct onnxdbg_kernels *all)
{
    for (size_t i = 0; i < plugin_libraries.n; i++)
        if (plugin_libraries.items[i] == all)
            return true;
    return false;
}

static void plugin_add(const struct onnxdbg_kernels *all)
{
    struct plugin_op *rows = odb_new_n(struct plugin_op, all->n_kernels); /* kept, as the library */
    for (size_t i = 0; i < all->n_kernels; i++) {
        plugin_row(&rows[i], (const void *)((const char *)all->kernels + i * all->kernel_size));
        odb_op_add(&rows[i].op);
    }
    odb_push(&plugin_libraries, all);
}

static enum odb_status plugin_open(const char *path, struct odb_error *err)
{
    /* A path without a slash would be looked for among the system's libraries. */
    char *full = realpath(path, NULL);
    if (!full)
        return odb_fail(err, ODB_E_INPUT, "it cannot be opened: %s", strerror(errno));
    bool regular = odb_file_is_regular(full); /* the loader would wait for a FIFO */
    void *library = regular ? dlopen(full, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(full);
    if (!regular)
        return odb_fail(err, ODB_E_INPUT, "it is no shared library");
    if (!library)
        return odb_fail(err, ODB_E_INPUT, "it cannot be loaded: %s", dlerror());
    const struct onnxdbg_kernels *(*entry)(void);
    *(void **)&entry = dlsym(library, "onnxdbg_kernels");
    enum odb_status status;
    const struct onnxdbg_kernels *all = entry ? entry() : NULL;
    if (entry) {
        status = plugin_check(all, err);
    } else {
        status = odb_fail(err, ODB_E_INPUT, "it exports no onnxdbg_kernels()");
        odb_error_remedy(err, "onnxdbg-kernel(7) says what a library of kernels is");
    }
    if (status == ODB_OK && !plugin_known(all))
        plugin_add(all);
    else
        dlclose(library);
    return status;
}

enum odb_status odb_plugin_load(const char *path, struct odb_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    enum odb_status status = plugin_open(path, err);
    pthread_mutex_unlock(&lock);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
    return status;
}

enum odb_status odb_plugin_load_env(struct odb_error *err)
{
    const char *paths = getenv(ODB_KERNELS_ENV);
    enum odb_status status = ODB_OK;
    while (paths && *paths && status == ODB_OK) {
        size_t n = strcspn(paths, ":");
        char *path = odb_xstrndup(paths, n);
        if (n)
            status = odb_plugin_load(path, err);
        free(path);
        paths += n + (paths[n] == ':');
    }
    return status;
}
