/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A harness without a fuzzer: gives it each file that is named, and those in each folder, so that
 * what was ever found is tried again by any compiler, under any sanitizer.
 *
 *   HARNESS [FILE|FOLDER]…         standard input where nothing is named
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"

#define REPLAY_SECONDS 10 /* of processors, that one input may take */

/* SIGPROF ends the program after that; 0: never. A busy machine is no fault of an input's. */
static void replay_limit(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static void replay_stream(FILE *file, const char *path)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    char piece[65536];
    size_t n;
    if (!file) {
        perror(path);
        exit(2);
    }
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        odb_buf_add(&bytes, piece, n);
    replay_limit(REPLAY_SECONDS);
    uint8_t *exact = malloc(bytes.len ? bytes.len : 1); /* so that a byte too far is seen */
    memcpy(exact, odb_buf_text(&bytes), bytes.len);
    LLVMFuzzerTestOneInput(exact, bytes.len);
    replay_limit(0);
    free(exact);
    odb_buf_dispose(&bytes);
}

static size_t replay(const char *path)
{
    struct dirent **names;
    struct stat st;
    size_t done = 0;
    int n =
        stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? scandir(path, &names, NULL, alphasort) : -1;
    if (n < 0) {
        FILE *file = fopen(path, "rb");
        fprintf(stderr, "%s\n", path);
        replay_stream(file, path);
        fclose(file);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char *inner = odb_xasprintf("%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            done += replay(inner);
        free(inner);
        free(names[i]);
    }
    free(names);
    return done;
}

int main(int argc, char **argv)
{
    size_t done = 0;
    for (int i = 1; i < argc; i++)
        done += replay(argv[i]);
    if (argc < 2)
        replay_stream(stdin, "standard input");
    else
        printf("%zu\n", done);
    return done || argc < 2 ? 0 : 1;
}
