/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "film.h"
#include "show.h"
#include <stdlib.h>
#include <string.h>

/* A row as it looked, and when. */
struct film_look {
    char *svg; /* owned */
    struct film_time {
        double from, to;
    } * times; /* owned */
    int n;
};

struct film_row {
    struct film_look *looks; /* owned */
    int n;
};

static void *film_more(void *list, int n, size_t size)
{
    void *more = realloc(list, ((size_t)n + 1) * size);
    if (!more)
        abort();
    return more;
}

static char *film_draw(const struct film *film, const struct term *t, int row)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&svg, &size);
    if (!to)
        abort();
    if (row < t->rows)
        show_svg_rows(t, row, row + 1, to);
    else if (film->caption[0])
        show_svg_caption(film->caption, row + 1, to); /* a row between is left free */
    fclose(to);
    return svg;
}

static void film_add(struct film_row *row, char *svg_take, double from, double to)
{
    struct film_look *look = row->looks;
    while (look < row->looks + row->n && strcmp(look->svg, svg_take) != 0)
        look++;
    if (look == row->looks + row->n) {
        row->looks = film_more(row->looks, row->n, sizeof *row->looks);
        look = &row->looks[row->n++];
        *look = (struct film_look){.svg = svg_take};
    } else {
        free(svg_take);
    }
    if (look->n && look->times[look->n - 1].to >= from) {
        look->times[look->n - 1].to = to;
        return;
    }
    look->times = film_more(look->times, look->n, sizeof *look->times);
    look->times[look->n++] = (struct film_time){from, to};
}

bool film_take(struct film *film, const struct term *t, double seconds)
{
    if (!film->n_rows) {
        film->n_rows = t->rows + 1;
        film->cols = t->cols;
        film->rows = calloc((size_t)film->n_rows, sizeof *film->rows);
    }
    if (!film->rows || film->n_rows != t->rows + 1 || film->cols != t->cols)
        return false;
    double end = film->seconds + seconds;
    for (int row = 0; row < film->n_rows; row++)
        film_add(&film->rows[row], film_draw(film, t, row), film->seconds, end);
    film->seconds = end;
    return true;
}

/* One that is not moved shows the end. */
static void film_look_write(const struct film *film, const struct film_look *look, FILE *to)
{
    bool at_end = look->times[look->n - 1].to >= film->seconds;
    bool always = at_end && look->n == 1 && look->times[0].from <= 0;
    if (!*look->svg)
        return;
    if (always) {
        fputs(look->svg, to);
        return;
    }
    fprintf(to,
            "<g%s><animate attributeName=\"visibility\" dur=\"%.2fs\" calcMode=\"discrete\" "
            "repeatCount=\"indefinite\" values=\"",
            at_end ? "" : " visibility=\"hidden\"", film->seconds);
    const char *first = look->times[0].from > 0 ? "hidden;" : "";
    fputs(first, to);
    for (int i = 0; i < look->n; i++)
        fprintf(to, "%svisible%s", i ? ";" : "",
                look->times[i].to < film->seconds ? ";hidden" : "");
    fprintf(to, "\" keyTimes=\"%s", *first ? "0;" : "");
    for (int i = 0; i < look->n; i++) {
        fprintf(to, "%s%.4g", i ? ";" : "", look->times[i].from / film->seconds);
        if (look->times[i].to < film->seconds)
            fprintf(to, ";%.4g", look->times[i].to / film->seconds);
    }
    fprintf(to, "\"/>\n%s</g>\n", look->svg);
}

void film_write(struct film *film, FILE *to)
{
    show_svg_begin(film->n_rows + 1, film->cols, to);
    for (int row = 0; row < film->n_rows; row++) {
        for (int i = 0; i < film->rows[row].n; i++) {
            struct film_look *look = &film->rows[row].looks[i];
            film_look_write(film, look, to);
            free(look->svg);
            free(look->times);
        }
        free(film->rows[row].looks);
    }
    show_svg_end(to);
    free(film->rows);
    *film = (struct film){0};
}
