/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Silence alone does not say that a program is done: on a busy machine it may be waiting for its
 * turn. So here is what every thread of the program and of its children is doing.
 */
#include "term.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_DEPTH = 8,   /* of children of children */
    IDLE_MS = 10,     /* between two looks */
    IDLE_TAKEN_S = 2, /* for the program to be woken by what was sent; later nobody reads it */
};

static bool idle_read(char *text, size_t room, int pid, const char *thread, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/%s", pid, thread, name);
    FILE *from = fopen(path, "re");
    size_t n = from ? fread(text, 1, room - 1, from) : 0;
    text[n] = '\0';
    if (from)
        fclose(from);
    return n > 0;
}

static bool idle_thread(int pid, const char *thread)
{
    char text[1024];
    if (!idle_read(text, sizeof text, pid, thread, "stat"))
        return true;
    const char *state = strrchr(text, ')'); /* behind the program's name */
    return !state || !strchr("RD", state[2]);
}

static bool idle_process(int pid, int depth)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    bool idle = true;
    for (struct dirent *thread; threads && idle && (thread = readdir(threads));) {
        if (*thread->d_name == '.')
            continue;
        idle = idle_thread(pid, thread->d_name);
        if (depth > 0 && idle_read(text, sizeof text, pid, thread->d_name, "children"))
            for (char *at = text; idle && *at; at += strspn(at, " "))
                idle = idle_process((int)strtol(at, &at, 10), depth - 1);
    }
    if (threads)
        closedir(threads);
    return idle;
}

bool term_rest(struct term *t, double silence, double until)
{
    for (double from = term_now(); !t->closed;) {
        double now = term_now();
        bool waits =
            t->turns_sent && now < t->sent + IDLE_TAKEN_S && term_reader_turns(t) == t->turns_sent;
        if (waits || !idle_process(t->program, IDLE_DEPTH))
            from = now = term_now();
        double quiet = (t->heard > from ? t->heard : from) + silence;
        if (now >= quiet)
            return true;
        if (now >= until)
            return false;
        double next = now + IDLE_MS * 1e-3;
        term_pump(t, next < quiet ? next : quiet);
    }
    return true;
}

unsigned long term_reader_turns(const struct term *t)
{
    char thread[16], text[128];
    unsigned long turns = 0;
    snprintf(thread, sizeof thread, "%d", (int)t->program);
    if (!idle_read(text, sizeof text, t->program, thread, "schedstat") ||
        sscanf(text, "%*u %*u %lu", &turns) != 1)
        return 0;
    return turns;
}

bool term_reader_rests(struct term *t, unsigned long turns, double silence, double until)
{
    char thread[16];
    snprintf(thread, sizeof thread, "%d", (int)t->program);
    for (double from = term_now(); !t->closed;) {
        if (!idle_thread(t->program, thread) || (turns && term_reader_turns(t) == turns))
            from = term_now();
        double now = term_now();
        if (now >= from + silence)
            return true;
        if (now >= until)
            return false;
        term_pump(t, now + IDLE_MS * 1e-3);
    }
    return true;
}
