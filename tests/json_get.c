/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json-get FILE PATH…: prints the values at paths such as culprits.0.name, one a line; a path that
 * ends in # gives the length of an array. "absent" where there is nothing. For shell tests.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *json_step(const json_t *at, const char *key)
{
    return json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
                             : json_object_get(at, key);
}

static void json_show(const json_t *root, const char *path)
{
    char *copy = strdup(path), *rest = copy;
    const json_t *at = root;
    for (const char *key; (key = strsep(&rest, "."));) {
        if (strcmp(key, "#") == 0) {
            printf("%zu\n", json_array_size(at));
            free(copy);
            return;
        }
        at = json_step(at, key);
    }
    char *text = at ? json_dumps(at, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
    puts(json_is_string(at) ? json_string_value(at) : text ? text : "absent");
    free(text);
    free(copy);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
    if (!root) {
        fprintf(stderr, "usage: json-get FILE PATH…, FILE being JSON\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        json_show(root, argv[i]);
    json_decref(root);
    return 0;
}
