/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gen-model KIND [N] OUT.onnx [--bn] [--wide] [--seed S] [--external] [--type T]
 */
#include "tools/gen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Beyond this the weights go into a file of their own. */
enum { LARGE = 100000000 };

static int usage(void)
{
    fprintf(stderr, "usage: gen-model KIND [N] OUT.onnx [--bn] [--wide] [--seed S] [--external] "
                    "[--type f32|f16|int4]\n");
    for (const struct gen_kind *kind = gen_kinds; kind->name; kind++)
        fprintf(stderr, "    %-12s %s\n", kind->name, kind->help);
    return 2;
}

static bool number(const char *text, unsigned long long *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool weights(const char *text, enum gen_weights *out)
{
    static const char *const words[] = {[GEN_F32] = "f32", [GEN_F16] = "f16", [GEN_INT4] = "int4"};
    for (size_t i = 0; i < ODB_COUNT(words); i++) {
        *out = (enum gen_weights)i;
        if (!strcmp(words[i], text))
            return true;
    }
    return false;
}

struct arguments {
    struct gen_options options;
    const char *names[3]; /* kind, count, path */
    size_t n;
    bool external;
};

static bool parse(struct arguments *args, int argc, char **argv)
{
    unsigned long long value;
    *args = (struct arguments){.options = {.seed = 42}};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--bn"))
            args->options.bn = true;
        else if (!strcmp(argv[i], "--wide"))
            args->options.wide = true;
        else if (!strcmp(argv[i], "--external"))
            args->external = true;
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc && number(argv[i + 1], &value))
            args->options.seed = value, i++;
        else if (!strcmp(argv[i], "--type") && i + 1 < argc &&
                 weights(argv[i + 1], &args->options.weights))
            i++;
        else if (argv[i][0] == '-' || args->n == ODB_COUNT(args->names))
            return false;
        else
            args->names[args->n++] = argv[i];
    }
    bool counts =
        args->n && (!strcmp(args->names[0], "chain") || !strcmp(args->names[0], "large") ||
                    !strcmp(args->names[0], "decoder"));
    if (args->n != (counts ? 3 : 2) ||
        (args->options.weights != GEN_F32 && strcmp(args->names[0], "decoder") != 0))
        return false;
    if (counts && (!number(args->names[1], &value) || value < (args->options.wide ? 17 : 1)))
        return false;
    args->options.count = counts ? (size_t)value : 0;
    return true;
}

/* The model, and with --external the weights on their way into a file beside it. 0: done. */
static int write_model(struct arguments *args, const char *path, const char *beside,
                       const char *beside_path)
{
    struct odb_error err = ODB_ERROR_INIT;
    size_t bytes;
    args->options.data_name = beside;
    args->options.data = args->external ? fopen(beside_path, "wbe") : NULL;
    if (args->external && !args->options.data) {
        perror(beside_path);
        return 4;
    }
    struct odb_builder *b = gen_model(args->names[0], &args->options, &bytes);
    bool bad = args->external && (ferror(args->options.data) | fclose(args->options.data));
    if (bad)
        perror(beside_path);
    if (!b)
        return usage();
    bool outside = !args->external && bytes > LARGE;
    if (!bad && odb_build_write(b, path, outside ? beside : NULL, &err) != ODB_OK) {
        char text[2048];
        fprintf(stderr, "gen-model: %s\n", odb_error_text(&err, text, sizeof text));
        bad = true;
    }
    odb_build_free(b);
    return bad ? 4 : 0;
}

int main(int argc, char **argv)
{
    struct arguments args;
    if (!parse(&args, argc, argv))
        return usage();
    const char *path = args.names[args.n - 1], *slash = strrchr(path, '/');
    char *beside_path = odb_xasprintf("%s.data", path);
    char *beside = odb_xasprintf("%s.data", slash ? slash + 1 : path);
    int status = write_model(&args, path, beside, beside_path);
    if (status && args.external)
        unlink(beside_path);
    free(beside_path);
    free(beside);
    return status;
}
