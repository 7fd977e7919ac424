/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "doctor/doctor.h"
#include "system/file.h"

#define MACHINE_ROWS 24 /* a screen that is smaller shows little */
#define MACHINE_COLUMNS 80
#define MACHINE_ROOM                                                                               \
    ((uint64_t)1 << 30) /* bytes that memory and temporary folder should have free */

static void machine_add_take(struct odb_doctor_items *items, const char *what, char *text,
                             char *way)
{
    odb_push(&items->list, ((struct odb_doctor_item){what, !way, text, way}));
}

/* --- terminal --------------------------------------------------------------------------------- */

static void machine_terminal(struct odb_doctor_items *items, int out)
{
    const char *term = getenv("TERM"), *colours = getenv("COLORTERM");
    struct winsize size = {0};
    bool dumb = !term || !*term || !strcmp(term, "dumb"),
         utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
    struct odb_buf text = ODB_BUF_INIT;
    char *way = NULL;
    if (!isatty(out) || ioctl(out, TIOCGWINSZ, &size) < 0) {
        odb_buf_puts(&text, "what is printed goes to no terminal");
    } else {
        odb_buf_put_shown(&text, dumb ? "no type (TERM)" : term);
        odb_buf_printf(&text, ", %d columns, %d rows", size.ws_col, size.ws_row);
    }
    if (dumb && size.ws_col)
        way =
            odb_xstrdup("set TERM to what the terminal is, as TERM=xterm-256color; --linear needs "
                        "no screen");
    else if (size.ws_col && (size.ws_col < MACHINE_COLUMNS || size.ws_row < MACHINE_ROWS))
        way = odb_xasprintf("give it %d columns and %d rows or more, to see more at once",
                            MACHINE_COLUMNS, MACHINE_ROWS);
    if (!dumb && size.ws_col)
        odb_buf_printf(&text, ", %s",
                       colours && *colours        ? "true colours (COLORTERM)"
                       : strstr(term, "256color") ? "256 colours"
                                                  : "colours as its type has");
    machine_add_take(items, "terminal", odb_buf_take(&text), way);
    machine_add_take(items, "characters", odb_xstrdup(nl_langinfo(CODESET)),
                     utf8 ? NULL
                          : odb_xstrdup("set LANG=C.UTF-8, or lines and bars are drawn with "
                                        "letters"));
}

/* --- processor and memory --------------------------------------------------------------------- */

/* The value of the first line of a file that begins with a word; the caller's, NULL: none. */
static char *machine_line(const char *path, const char *word)
{
    char line[512], *found = NULL;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        if (!strncmp(line, word, strlen(word)) && strchr(line, ':')) {
            char *value = strchr(line, ':') + 1;
            value += strspn(value, " \t");
            value[strcspn(value, "\n")] = '\0';
            found = odb_xstrdup(value);
        }
    if (file)
        fclose(file);
    return found;
}

static void machine_processor(struct odb_doctor_items *items)
{
    char *name = machine_line("/proc/cpuinfo", "model name");
    const char *coretype = getenv("OPENBLAS_CORETYPE"), *loops = "the compiler's own";
    struct odb_buf text = ODB_BUF_INIT;
#if defined(__x86_64__) && defined(__GNUC__)
    loops = __builtin_cpu_supports("avx512f")                                 ? "AVX-512"
            : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "AVX2 and FMA"
                                                                              : "SSE2";
#endif
    odb_buf_put_shown(&text, name ? name : "not known");
    odb_buf_printf(&text, ", %ld of it; the reference's loops: ", sysconf(_SC_NPROCESSORS_ONLN));
#ifdef ODB_SIMD_ONLY
    odb_buf_puts(&text, ODB_SIMD_ONLY " alone, as it was built (SIMD=)");
#else
    odb_buf_puts(&text, loops);
#endif
    if (coretype) {
        odb_buf_puts(&text, "; OPENBLAS_CORETYPE holds OpenBLAS, which NumPy takes, to ");
        odb_buf_put_shown(&text, coretype);
    }
    machine_add_take(items, "processor", odb_buf_take(&text), NULL);
    free(name);
}

static void machine_memory(struct odb_doctor_items *items)
{
    char *total = machine_line("/proc/meminfo", "MemTotal");
    char *spare = machine_line("/proc/meminfo", "MemAvailable");
    uint64_t has = total ? strtoull(total, NULL, 10) << 10 : 0;
    uint64_t left = spare ? strtoull(spare, NULL, 10) << 10 : 0;
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_put_bytes(&text, left);
    odb_buf_puts(&text, " free of ");
    odb_buf_put_bytes(&text, has);
    machine_add_take(items, "memory", odb_buf_take(&text),
                     left >= MACHINE_ROOM ? NULL
                                          : odb_xstrdup("larger models need --mem, which runs them "
                                                        "in pieces"));
    free(total);
    free(spare);
}

static void machine_temporary(struct odb_doctor_items *items)
{
    char *name = odb_file_temporary("doctor"), *folder = odb_xstrdup(name), *way = NULL;
    struct statvfs disk = {0};
    struct odb_buf text = ODB_BUF_INIT;
    int fd = mkstemp(name); /* it is tried, for a folder may be there and full, or not ours */
    *strrchr(folder, '/') = '\0';
    odb_buf_put_shown(&text, folder);
    if (fd < 0) {
        odb_buf_printf(&text, ": no file can be made there: %s", strerror(errno));
        way = odb_xstrdup("name another folder in TMPDIR");
    } else if (fstatvfs(fd, &disk) == 0) {
        uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
        odb_buf_puts(&text, ", ");
        odb_buf_put_bytes(&text, left);
        odb_buf_puts(&text, " free");
        if (left < MACHINE_ROOM)
            way = odb_xstrdup("name a folder with more room in TMPDIR");
    }
    if (fd >= 0) {
        unlink(name);
        close(fd);
    }
    machine_add_take(items, "temporary", odb_buf_take(&text), way);
    free(folder);
    free(name);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Where the program was installed, man finds its pages beside it. */
static void machine_manual(struct odb_doctor_items *items)
{
    char *self = odb_file_self(), *slash = self ? strrchr(self, '/') : NULL, *page = NULL;
    if (slash)
        *slash = '\0';
    if (self)
        page = odb_xasprintf("%s/../share/man/man1/onnxdbg.1", self);
    if (page && odb_file_is_regular(page))
        machine_add_take(items, "manual", odb_xstrdup("man onnxdbg"), NULL);
    else
        machine_add_take(items, "manual",
                         odb_xstrdup("not installed beside the program, which prints it itself: "
                                     "onnxdbg manual | man -l -"),
                         NULL);
    free(page);
    free(self);
}

void odb_doctor_file(struct odb_doctor_items *items, const char *what, const char *path)
{
    struct stat st;
    struct odb_buf text = ODB_BUF_INIT;
    char *way = NULL;
    odb_buf_put_shown(&text, path ? path : "no home: nothing is kept");
    if (path && lstat(path, &st) < 0)
        odb_buf_printf(&text, errno == ENOENT ? ", not there yet" : ": %s", strerror(errno));
    else if (path && (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))) {
        struct odb_buf shown = ODB_BUF_INIT;
        odb_buf_put_shown(&shown, path);
        odb_buf_puts(&text, st.st_uid != geteuid() ? ": it belongs to another user"
                                                   : ": others may write it");
        way = st.st_uid != geteuid()
                  ? odb_xasprintf("look into it, then make it yours: chown %lu '%s'",
                                  (unsigned long)geteuid(), odb_buf_text(&shown))
                  : odb_xasprintf("look into it, then: chmod go-w '%s'", odb_buf_text(&shown));
        odb_buf_dispose(&shown);
    }
    machine_add_take(items, what, odb_buf_take(&text), way);
}

void odb_doctor_machine(struct odb_doctor_items *items, int out)
{
    *items = (struct odb_doctor_items){0};
    machine_terminal(items, out);
    machine_processor(items);
    machine_memory(items);
    machine_temporary(items);
    machine_manual(items);
}

void odb_doctor_items_dispose(struct odb_doctor_items *items)
{
    for (size_t i = 0; i < items->list.n; i++) {
        free(items->list.items[i].text);
        free(items->list.items[i].way);
    }
    free(items->list.items);
    *items = (struct odb_doctor_items){0};
}
