/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What no person does: thousands of random events, and keys against the clock.
 *
 * A storm presses everything, and means it: only let it loose on programs that can do no harm. A
 * process viewer that runs as root, for one, will renice and kill what is not yours.
 */
#include "drive.h"
#include <stdlib.h>
#include <string.h>

enum {
    STORM_KEYS = 1024,
    STORM_LAST = 20, /* events that a report names */
};

/* Keys that a storm is made of. Not here: those that a terminal turns into signals or that stop its
 * output (Ctrl with C, Z, \, S and Q), and no key at all that only quits. */
static const char STORM_NAMED[] =
    "<Enter><Esc><Tab><BackTab><Up><Down><Left><Right><PgUp><PgDn><Home><End><Ins><Del>"
    "<Backspace><F1><F2><F3><F4><F5><F6><F7><F8><F9><F10><F11><F12><C-Up><S-Down><M-Left>";
static const char STORM_OTHER[] =
    "<Space>!\"#$%&'()*+,-./0123456789:;<lt>=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
    "abcdefghijklmnopqrstuvwxyz{|}~éß漢<C-a><C-b><C-d><C-e><C-f><C-g><C-h><C-i><C-j><C-k><C-l>"
    "<C-n><C-o><C-p><C-r><C-t><C-u><C-v><C-w><C-x><C-y><M-a><M-x>";

struct storm {
    uint64_t seed;
    const char *keys[STORM_KEYS]; /* borrowed: each begins with its key */
    size_t keys_n;
    char last[STORM_LAST][48];
    long done;
};

static unsigned storm_random(struct storm *s, unsigned below)
{
    uint64_t x = s->seed += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((x ^ x >> 31) % below);
}

static bool storm_avoids(const char *avoid, const char *key, size_t n)
{
    for (size_t m; avoid && *avoid; avoid += m) {
        m = term_key_length(avoid);
        if (m == 0)
            return false;
        if (m == n && memcmp(avoid, key, n) == 0)
            return true;
    }
    return false;
}

static bool storm_add(struct drive *d, struct storm *s, const char *keys)
{
    for (size_t n; *keys; keys += n) {
        n = term_key_length(keys);
        if (n == 0)
            return drive_fail(d, "no such key: %s", keys);
        if (!storm_avoids(d->avoid, keys, n) && s->keys_n < STORM_KEYS)
            s->keys[s->keys_n++] = keys;
    }
    return true;
}

static void storm_event(struct drive *d, struct storm *s)
{
    static const char *const BUTTONS[] = {"left", "middle", "right", "wheel-up", "wheel-down"};
    struct term *t = &d->term;
    char *note = s->last[s->done % STORM_LAST];
    unsigned kind = storm_random(s, 100);
    if (kind < 6) {
        int cols = 20 + (int)storm_random(s, 231), rows = 5 + (int)storm_random(s, 66);
        snprintf(note, sizeof s->last[0], "resize %dx%d", cols, rows);
        term_resize(t, cols, rows);
    } else if (kind < 18) {
        int button = (int)storm_random(s, 5);
        int col = (int)storm_random(s, (unsigned)t->cols);
        int row = (int)storm_random(s, (unsigned)t->rows);
        snprintf(note, sizeof s->last[0], "mouse %s %d %d", BUTTONS[button], col, row);
        term_mouse(t, button + 1, true, col, row);
        if (button < 3)
            term_mouse(t, button + 1, false, col, row);
    } else {
        const char *key = s->keys[storm_random(s, (unsigned)s->keys_n)];
        snprintf(note, sizeof s->last[0], "keys %.*s", (int)term_key_length(key), key);
        term_key(t, &key);
    }
    s->done++;
}

static bool storm_lost(struct drive *d, const struct storm *s, const char *how)
{
    size_t n = (size_t)snprintf(d->why, sizeof d->why,
                                "after event %ld the program %s; last:", s->done, how);
    for (long i = s->done > STORM_LAST ? s->done - STORM_LAST : 0; i < s->done; i++)
        n += (size_t)snprintf(d->why + n, sizeof d->why - n, "\n    %s", s->last[i % STORM_LAST]);
    return false;
}

bool drive_storm(struct drive *d, char *arg)
{
    char *end, *count = drive_word(&arg), *seed = drive_word(&arg);
    struct storm s = {.seed = seed ? strtoull(seed, &end, 10) : 0};
    if (!seed || *end || strtol(count, &end, 10) <= 0 || *end)
        return drive_fail(d, "COUNT SEED?");
    long events = strtol(count, NULL, 10);
    arg += strspn(arg, " \t");
    for (int i = 0; !*arg && i < 3; i++) /* as many named keys as others, roughly */
        if (!storm_add(d, &s, STORM_NAMED))
            return false;
    if (!storm_add(d, &s, *arg ? arg : STORM_OTHER))
        return false;
    if (s.keys_n == 0)
        return drive_fail(d, "no key is left");
    while (s.done < events && !d->term.ended && !d->term.stopped) {
        storm_event(d, &s);
        if (!drive_flush(d))
            return storm_lost(d, &s, "does not read what is typed");
        unsigned ms = s.done % 64 ? storm_random(&s, 4) : 40;
        for (double until = term_now() + ms * 1e-3;;) {
            term_pump(&d->term, until);
            if (term_now() >= until)
                break;
        }
    }
    if (!d->term.ended && !d->term.stopped)
        term_settle(&d->term, 0.2, term_now() + 5);
    if (d->term.ended || d->term.stopped)
        return storm_lost(d, &s, drive_fate(d));
    printf("storm: %ld events with seed %s\n", s.done, seed);
    return true;
}

bool drive_storm_avoid(struct drive *d, char *arg)
{
    for (const char *at = arg; *at; at += term_key_length(at))
        if (term_key_length(at) == 0)
            return drive_fail(d, "no such key: %s", at);
    free(d->avoid);
    d->avoid = strdup(arg);
    return true;
}

/* --- measuring -------------------------------------------------------------------------------- */

struct measure {
    const char *keys[2];
    int keys_n, row; /* -1: any row */
    double *ms, *bytes;
};

static int measure_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* KEY or KEY/KEY2. */
static bool measure_keys(struct measure *m, const char *text)
{
    size_t n = text ? term_key_length(text) : 0;
    if (n == 0)
        return false;
    m->keys[m->keys_n++] = text;
    if (text[n] == '\0')
        return true;
    m->keys[m->keys_n++] = text + n + 1;
    size_t next = term_key_length(text + n + 1);
    return text[n] == '/' && next && text[n + 1 + next] == '\0';
}

/* Sends key number `i`: from the writing of it until the row is another. What comes until the next
 * silence is its output, which a program that draws by itself may never reach: then 50 ms. */
static bool measure_one(struct drive *d, struct measure *m, int i)
{
    struct term *t = &d->term;
    const char *key = m->keys[i % m->keys_n];
    uint64_t before = term_hash(t, m->row), bytes = t->bytes;
    term_key(t, &key);
    double from = term_now(), until = from + 2, now;
    while (term_hash(t, m->row) == before) {
        while (!term_pump(t, until) && term_now() < until && !t->closed)
            continue;
        if (t->closed)
            return drive_fail(d, "at key %d the program %s", i + 1, drive_fate(d));
        if (term_now() >= until && term_hash(t, m->row) == before)
            return drive_fail(d, "key %d changed nothing in 2 s", i + 1);
    }
    now = term_now();
    m->ms[i] = (now - from) * 1e3;
    term_settle(t, 0.008, now + 0.05);
    m->bytes[i] = (double)(t->bytes - bytes);
    return true;
}

bool drive_measure(struct drive *d, char *arg)
{
    char *end, *count = drive_word(&arg), *keys = drive_word(&arg), *row = drive_word(&arg);
    struct measure m = {0};
    long n = count ? strtol(count, &end, 10) : 0;
    if (n <= 0 || n > 1000000 || *end || !measure_keys(&m, keys) || !row)
        return drive_fail(d, "COUNT KEY[/KEY] ROW?");
    m.row = strcmp(row, "*") == 0 ? -1 : (int)strtol(row, &end, 10);
    if (*row != '*') {
        m.row += m.row < 0 ? d->term.rows : 0;
        if (*end || m.row < 0 || m.row >= d->term.rows)
            return drive_fail(d, "no such row: %s", row);
    }
    m.ms = calloc((size_t)n, sizeof *m.ms);
    m.bytes = calloc((size_t)n, sizeof *m.bytes);
    bool good = m.ms && m.bytes;
    term_settle(&d->term, 0.008, term_now() + 0.05);
    for (int i = 0; good && i < n; i++)
        good = measure_one(d, &m, i);
    if (good) {
        qsort(m.ms, (size_t)n, sizeof *m.ms, measure_order);
        qsort(m.bytes, (size_t)n, sizeof *m.bytes, measure_order);
        printf("measure %s: n %ld median %.2f ms p99 %.2f ms max %.2f ms, bytes per key %.0f\n",
               keys, n, m.ms[n / 2], m.ms[(n * 99 + 99) / 100 - 1], m.ms[n - 1], m.bytes[n / 2]);
    }
    free(m.ms);
    free(m.bytes);
    return good;
}
