/* SPDX-License-Identifier: MIT
 *
 * What may stand in a spec of ONNX Runtime, and what it makes of a session. Files are made absolute
 * at once, because models live in other directories and the child goes there.
 */
#include "executor/ort/ort_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/star.h"
#include "system/file.h"

/* Where external data of a model that comes as bytes is. Optimisers want a path as well, so
 * versions that do not know this get such weights in another way (ort.c). */
#define ORT_KEY_FOLDER "session.model_external_initializers_file_folder_path"
#define ORT_CONFIG "config."

static const struct ort_choice ort_opts[] = {
    {"all", 99}, {"layout", ORT_OPT_LAYOUT}, {"extended", 2}, {"basic", 1}, {"disabled", 0}};
static const struct ort_choice ort_modes[] = {{"sequential", 0}, {"parallel", 1}};
static const struct ort_choice ort_on[] = {{"on", 1}, {"off", 0}};
static const struct ort_choice ort_off[] = {{"off", 0}, {"on", 1}};

/* Names of providers in its general call; others go there as they were given. */
static const struct {
    const char *key, *name;
} ort_names[] = {
    {"azure", "AZURE"},   {"coreml", "CoreML"},     {"dml", "DML"},
    {"js", "JS"},         {"migraphx", "MIGraphX"}, {"nvtensorrtrtx", "NvTensorRtRtx"},
    {"qnn", "QNN"},       {"snpe", "SNPE"},         {"vitisai", "VitisAI"},
    {"webgpu", "WebGPU"}, {"webnn", "WEBNN"},       {"xnnpack", "XNNPACK"},
};

/* Other spellings. */
static const struct {
    const char *key, *name;
} ort_aliases[] = {{"trt", "tensorrt"}, {"onednn", "dnnl"}};

/* --- reading ---------------------------------------------------------------------------------- */

char *ort_provider_key(const char *name)
{
    static const char suffix[] = "executionprovider";
    char *key = odb_xstrdup(name), *to = key;
    for (; *name; name++)
        if (isalnum((unsigned char)*name))
            *to++ = (char)tolower((unsigned char)*name);
    *to = '\0';
    size_t n = strlen(key), tail = sizeof suffix - 1;
    if (n > tail && !strcmp(key + n - tail, suffix))
        key[n - tail] = '\0';
    for (size_t i = 0; i < ODB_COUNT(ort_aliases); i++)
        if (!strcmp(key, ort_aliases[i].key)) {
            free(key);
            return odb_xstrdup(ort_aliases[i].name);
        }
    return key;
}

static struct ort_provider *ort_find_provider(struct ort_options *options, const char *name)
{
    char *key = ort_provider_key(name);
    struct ort_provider *found = NULL;
    for (size_t i = 0; i < options->providers.n && !found; i++)
        if (!strcmp(options->providers.items[i].key, key))
            found = &options->providers.items[i];
    free(key);
    return found;
}

/* The CPU takes all that is left, so what would come behind it gets nothing. */
static enum odb_status ort_add_provider(struct ort_options *options, const char *name, bool *cpu,
                                        struct odb_error *err)
{
    struct ort_provider provider = {.name = odb_xstrdup(name), .key = ort_provider_key(name)};
    enum odb_status status = ODB_OK;
    bool is_cpu = !strcmp(provider.key, "cpu");
    if (!provider.key[0]) {
        status = odb_fail(err, ODB_E_USAGE, "'%s' is no execution provider", name);
    } else if (*cpu || ort_find_provider(options, name)) {
        status = odb_fail(err, ODB_E_USAGE,
                          *cpu ? "nothing is left for '%s' behind the CPU"
                               : "the provider '%s' is named twice",
                          name);
        odb_error_remedy(err, "name every provider once, and the CPU last");
    } else if (!is_cpu) {
        odb_push(&options->providers, provider);
        return ODB_OK;
    }
    *cpu = is_cpu;
    free(provider.name);
    free(provider.key);
    return status;
}

static enum odb_status ort_add_library(struct ort_options *options, const char *path,
                                       struct odb_error *err)
{
    char *absolute = realpath(path, NULL);
    if (!absolute)
        return odb_fail(err, ODB_E_USAGE, "there is no library '%s'", path);
    odb_push(&options->libraries, absolute);
    return ODB_OK;
}

/* "cuda.device_id" of a provider that was named. False: the key is none such. */
static bool ort_add_setting(struct ort_options *options, const struct odb_spec_option *option)
{
    const char *dot = strchr(option->key, '.');
    char *name = dot ? odb_xstrndup(option->key, (size_t)(dot - option->key)) : NULL;
    struct ort_provider *provider = name ? ort_find_provider(options, name) : NULL;
    free(name);
    if (!provider || !dot[1])
        return false;
    provider->keys = odb_xrealloc(provider->keys, provider->n + 1, sizeof(char *));
    provider->values = odb_xrealloc(provider->values, provider->n + 1, sizeof(char *));
    provider->keys[provider->n] = odb_xstrdup(dot + 1);
    provider->values[provider->n++] = odb_xstrdup(option->value);
    return true;
}

static bool ort_is_list(const char *key)
{
    return !strcmp(key, "ep") || !strcmp(key, "provider") || !strcmp(key, "library");
}

/* Lists go on with bare words: ep=cuda,cpu. What belongs to no list is left in rest. */
static enum odb_status ort_read_lists(struct ort_options *options, const struct odb_spec *spec,
                                      struct odb_spec *rest, struct odb_error *err)
{
    const char *list = NULL;
    bool cpu = false;
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        const char *word = NULL;
        if (ort_is_list(option->key)) {
            list = option->key;
            word = option->value;
        } else if (list && !option->value[0] && !odb_spec_row(ort_rows, option->key)) {
            word = option->key;
        }
        if (!word)
            rest->options[rest->n_options++] = *option;
        else if (!strcmp(list, "library"))
            ODB_TRY(ort_add_library(options, word, err));
        else
            ODB_TRY(ort_add_provider(options, word, &cpu, err));
    }
    return ODB_OK;
}

/* Session config entries, and the settings of providers, of which no table can know. */
static void ort_read_settings(struct ort_options *options, struct odb_spec *rest)
{
    size_t n = rest->n_options, skip = strlen(ORT_CONFIG);
    rest->n_options = 0;
    for (size_t i = 0; i < n; i++) {
        struct odb_spec_option option = rest->options[i];
        bool config = !strncmp(option.key, ORT_CONFIG, skip);
        if (config)
            odb_push(&options->config, (struct odb_spec_option){odb_xstrdup(option.key + skip),
                                                                odb_xstrdup(option.value)});
        if (config || !ort_add_setting(options, &option))
            rest->options[rest->n_options++] = option;
    }
}

/* The choice of a spec that was checked, or the first. */
static const struct ort_choice *ort_choose(const struct ort_choice *table,
                                           const struct odb_spec *spec, const char *key)
{
    const char *text = odb_spec_option(spec, key);
    const struct ort_choice *choice = table;
    while (text && strcmp(choice->name, text) != 0)
        choice++;
    return choice;
}

/* A file to write; it need not be there yet. */
static enum odb_status ort_out_file(const struct odb_spec *spec, const char *key, char **out,
                                    struct odb_error *err)
{
    const char *path = odb_spec_option(spec, key);
    if (!path)
        return ODB_OK;
    if (path[0]) {
        *out = odb_file_absolute(path);
        return ODB_OK;
    }
    odb_fail(err, ODB_E_USAGE, "%s= names no file to write", key);
    return odb_error_at(err, "%s", spec->text);
}

static size_t ort_stars(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '*';
    return n;
}

static enum odb_status ort_read_share(struct ort_options *options, const struct odb_spec *spec,
                                      struct odb_error *err)
{
    const char *share = odb_spec_option(spec, "share");
    const char *is = share ? strchr(share, '=') : NULL;
    if (!share)
        return ODB_OK;
    size_t stars = is ? ort_stars(share, (size_t)(is - share)) : 0;
    if (!is || is == share || !is[1] || stars > 1 || stars != ort_stars(is, strlen(is))) {
        odb_fail(err, ODB_E_USAGE, "share=%s is not OUTPUT=INPUT, each with one * or none", share);
        return odb_error_at(err, "%s", spec->text);
    }
    options->share = odb_xstrdup(share);
    return ODB_OK;
}

bool ort_shared(const struct ort_options *options, const char *output, const char *input)
{
    const char *is = options->share ? strchr(options->share, '=') : NULL, *star;
    size_t n;
    if (!is || !odb_star_match(options->share, (size_t)(is - options->share), output, &star, &n))
        return false;
    char *name = odb_star_fill(is + 1, strlen(is + 1), star, n);
    bool same = !strcmp(name, input);
    free(name);
    return same;
}

static enum odb_status ort_read_rest(struct ort_options *options, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    double threads = 1, inter_threads = -1;
    for (size_t i = 0; i < spec->n_options; i++) {
        const char *key = spec->options[i].key;
        if (!strchr(key, '.') || odb_spec_row(ort_rows, key))
            continue;
        odb_fail(err, ODB_E_USAGE, "'%s' belongs to no provider that is named", key);
        odb_error_remedy(err, "write ep=NAME,cpu,NAME.KEY=VALUE");
        return odb_error_at(err, "%s", spec->text);
    }
    ODB_TRY(odb_spec_check(spec, ort_rows, err));
    options->opt = ort_choose(ort_opts, spec, "opt");
    options->mode = ort_choose(ort_modes, spec, "mode");
    options->arena = ort_choose(ort_on, spec, "arena");
    options->mem_pattern = ort_choose(ort_on, spec, "mem_pattern");
    options->deterministic = ort_choose(ort_off, spec, "deterministic");
    ODB_TRY(odb_spec_whole(spec, "threads", 0, 4096, &threads, err));
    ODB_TRY(odb_spec_whole(spec, "inter_threads", 0, 4096, &inter_threads, err));
    options->threads = (int)threads;
    options->inter_threads = (int)inter_threads;
    ODB_TRY(ort_read_share(options, spec, err));
    ODB_TRY(ort_out_file(spec, "profile", &options->profile, err));
    return ort_out_file(spec, "optimized", &options->optimized, err);
}

enum odb_status ort_read_options(struct ort_options *options, const struct odb_spec *spec,
                                 struct odb_error *err)
{
    struct odb_spec rest = *spec; /* borrows everything but the array */
    rest.options = odb_new_n(struct odb_spec_option, spec->n_options + 1);
    rest.n_options = 0;
    enum odb_status status = ort_read_lists(options, spec, &rest, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", spec->text);
    ort_read_settings(options, &rest);
    if (status == ODB_OK)
        status = ort_read_rest(options, &rest, err);
    free(rest.options);
    return status;
}

void ort_options_dispose(struct ort_options *options)
{
    for (size_t i = 0; i < options->providers.n; i++) {
        struct ort_provider *provider = &options->providers.items[i];
        for (size_t k = 0; k < provider->n; k++) {
            free(provider->keys[k]);
            free(provider->values[k]);
        }
        free(provider->keys);
        free(provider->values);
        free(provider->name);
        free(provider->key);
    }
    for (size_t i = 0; i < options->config.n; i++) {
        free(options->config.items[i].key);
        free(options->config.items[i].value);
    }
    for (size_t i = 0; i < options->libraries.n; i++)
        free(options->libraries.items[i]);
    free(options->providers.items);
    free(options->config.items);
    free(options->libraries.items);
    free(options->share);
    free(options->profile);
    free(options->optimized);
}

/* --- a session's options ---------------------------------------------------------------------- */

static enum odb_status ort_too_old(const struct ort *ort, const char *what, int minor,
                                   struct odb_error *err)
{
    odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s is too old for %s", ort->version, what);
    return odb_error_remedy(err, "it takes 1.%d or newer", minor);
}

/* A provider whose options have a type of their own. */
static enum odb_status ort_append_own(struct ort *ort, const struct ort_provider *provider,
                                      const struct ort_provider_api *api,
                                      struct ort_session_options *to, struct odb_error *err)
{
    struct ort_provider_options *own = NULL;
    enum odb_status status = ort_check(ort, api->create(&own), err);
    if (status == ODB_OK && provider->n)
        status = ort_check(ort,
                           api->update(own, (const char *const *)provider->keys,
                                       (const char *const *)provider->values, provider->n),
                           err);
    if (status == ODB_OK)
        status = ort_check(ort, api->append(to, own), err);
    if (own)
        api->release(own);
    return status;
}

static enum odb_status ort_append(struct ort *ort, const struct ort_provider *provider,
                                  struct ort_session_options *to, struct odb_error *err)
{
    struct ort_provider_api own;
    const char *const *keys = (const char *const *)provider->keys, *const *values =
                                                                       (const char *const *)
                                                                           provider->values;
    const char *name = provider->name;
    if (ort_provider_functions(ort, provider->key, &own))
        return ort_append_own(ort, provider, &own, to, err);
    if (!strcmp(provider->key, "openvino")) {
        if (!ort->api.append_openvino)
            return ort_too_old(ort, "ep=openvino", 17, err);
        ORT_TRY(append_openvino(to, keys, values, provider->n));
        return ODB_OK;
    }
    for (size_t i = 0; i < ODB_COUNT(ort_names); i++)
        if (!strcmp(provider->key, ort_names[i].key))
            name = ort_names[i].name;
    ORT_TRY(append_provider(to, name, keys, values, provider->n));
    return ODB_OK;
}

static enum odb_status ort_set_memory(struct ort *ort, struct ort_session_options *to,
                                      struct odb_error *err)
{
    if (!ort->options.arena->value)
        ORT_TRY(disable_arena(to));
    if (!ort->options.mem_pattern->value)
        ORT_TRY(disable_mem_pattern(to));
    if (!ort->options.deterministic->value)
        return ODB_OK;
    if (!ort->api.set_deterministic)
        return ort_too_old(ort, "deterministic=on", 17, err);
    ORT_TRY(set_deterministic(to, true));
    return ODB_OK;
}

enum odb_status ort_session_options(struct ort *ort, struct ort_session_options **out,
                                    struct odb_error *err)
{
    const struct ort_options *options = &ort->options;
    bool parallel = options->mode->value != 0;
    ORT_TRY(create_options(out));
    ORT_TRY(set_config(*out, ORT_KEY_FOLDER, "."));
    for (size_t i = 0; i < options->config.n; i++)
        ORT_TRY(set_config(*out, options->config.items[i].key, options->config.items[i].value));
    if (options->opt->value == ORT_OPT_LAYOUT && ort->minor < 23)
        return ort_too_old(ort, "opt=layout", 23, err);
    ORT_TRY(set_optimization(*out, options->opt->value));
    ORT_TRY(set_execution_mode(*out, options->mode->value));
    ORT_TRY(set_intra_threads(*out, options->threads));
    if (options->inter_threads >= 0 || !parallel)
        ORT_TRY(set_inter_threads(*out, options->inter_threads < 0 ? 1 : options->inter_threads));
    ODB_TRY(ort_set_memory(ort, *out, err));
    for (size_t i = 0; i < options->providers.n; i++)
        if (ort_append(ort, &options->providers.items[i], *out, err) != ODB_OK)
            return odb_error_at(err, "ort,ep=%s", options->providers.items[i].name);
    for (size_t i = 0; i < options->libraries.n; i++)
        if (ort_check(ort, ort->api.custom_ops(*out, options->libraries.items[i]), err) != ODB_OK)
            return odb_error_at(err, "ort,library=%s", options->libraries.items[i]);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

const struct odb_executor_option ort_rows[] = {
    {"opt", "all|layout|extended|basic|disabled", "all", "how far the graph is optimised", false},
    {"threads", "N", "1", "within an operator; 0: one per core", false},
    {"inter_threads", "N", NULL, "between operators, for mode=parallel; 0: one per core", false},
    {"mode", "sequential|parallel", "sequential", "one operator at a time, or several", false},
    {"ep", "NAME,NAME...", "cpu", "execution providers in order: ep=cuda,cpu", false},
    {"PROVIDER.*", "VALUE", NULL, "an option of a provider: cuda.device_id=1", false},
    {"provider", "NAME", NULL, "the same as ep", false},
    {"arena", "on|off", "on", "whether the CPU keeps freed memory", false},
    {"mem_pattern", "on|off", "on", "whether memory is planned from one run to the next", false},
    {"deterministic", "on|off", "off", "only kernels that repeat bit for bit", false},
    {"config.*", "VALUE", NULL, "a session config entry: config.session.disable_prepacking=1",
     false},
    {"library", "FILE,FILE...", NULL, "custom operators", false},
    ODB_RUNTIME_OPTION("its library, or a folder with it; else ONNXDBG_ORT names it"),
    {"share", "OUTPUT=INPUT", NULL,
     "an output is written over an input, as caches in place are: present.*=past_key_values.*",
     false},
    {"profile", "FILE", NULL, "write ONNX Runtime's profile of the first model there", false},
    {"optimized", "FILE", NULL, "write the first model there as it was optimised", false},
    {NULL, NULL, NULL, NULL, false},
};

/* What is quantised, by the names of its operators. */
#define ORT_QUANTISED "Quantize QLinear Integer QGemm QAttention"

const struct odb_executor_setting ort_settings[] = {
    {"config.session.x64quantprecision=1", "products of 8-bit integers saturate nowhere", NULL,
     ORT_QUANTISED},
    {"opt=disabled", "nothing is optimised", NULL, NULL},
    {"config.session.disable_quant_qdq=1",
     "operators between DequantizeLinear and QuantizeLinear are not fused", NULL, "QuantizeLinear"},
    {"config.session.disable_double_qdq_remover=1", "pairs of them in a row stay", NULL,
     "QuantizeLinear"},
    {"config.session.qdq_matmulnbits_accuracy_level=1", "products of 4-bit weights are of float32",
     NULL, "NBits"},
    {"config.session.disable_prepacking=1", "weights are not packed beforehand", NULL, NULL},
    {"deterministic=on", "only kernels run that repeat bit for bit", NULL, NULL},
    {"mem_pattern=off", "memory is not planned from one run to the next", NULL, NULL},
    {"arena=off", "the CPU keeps no freed memory", NULL, NULL},
    {"threads=1", "one thread runs within an operator", NULL, NULL},
    {"mode=sequential", "one operator runs at a time", NULL, NULL},
    {"cuda.use_tf32=0", "CUDA does not compute in TF32", "cuda", NULL},
    {"tensorrt.trt_fp16_enable=0", "TensorRT does not compute in float16", "tensorrt", NULL},
    {NULL, NULL, NULL, NULL},
};
