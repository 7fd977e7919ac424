/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen as text that people read and diff.
 */
#include "show.h"
#include <stdlib.h>
#include <string.h>

/* Colours that are no hex digit get letters as they come. */
struct show_legend {
    VTermColor known[20];
    int n;
};

void show_text(struct term *t, FILE *to)
{
    for (int row = 0; row < t->rows; row++)
        fprintf(to, "%s\n", term_row(t, row));
}

static char show_attribute(const VTermScreenCell *cell, struct show_legend *legend)
{
    static const struct {
        int mask;
        char letter;
    } NAMES[] = {{0, '.'},  {1, 'b'},  {2, 'r'}, {4, 'u'}, {8, 'i'}, {16, 'k'},
                 {32, 's'}, {64, 'd'}, {3, 'R'}, {5, 'U'}, {66, 'D'}};
    int mask = cell->attrs.bold | cell->attrs.reverse << 1 | (cell->attrs.underline != 0) << 2 |
               cell->attrs.italic << 3 | cell->attrs.blink << 4 | cell->attrs.strike << 5 |
               (cell->attrs.font == TERM_DIM) << 6;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].mask == mask)
            return NAMES[i].letter;
    return '+';
}

static char show_colour(const VTermColor *colour, bool plain, struct show_legend *legend)
{
    if (plain)
        return '.';
    if (VTERM_COLOR_IS_INDEXED(colour) && colour->indexed.idx < 16)
        return "0123456789abcdef"[colour->indexed.idx];
    int i = 0;
    while (i < legend->n && !vterm_color_is_equal(&legend->known[i], colour))
        i++;
    if (i == (int)(sizeof legend->known / sizeof *legend->known))
        return '?';
    if (i == legend->n)
        legend->known[legend->n++] = *colour;
    return (char)('g' + i);
}

static char show_fg(const VTermScreenCell *cell, struct show_legend *legend)
{
    return show_colour(&cell->fg, VTERM_COLOR_IS_DEFAULT_FG(&cell->fg), legend);
}

static char show_bg(const VTermScreenCell *cell, struct show_legend *legend)
{
    return show_colour(&cell->bg, VTERM_COLOR_IS_DEFAULT_BG(&cell->bg), legend);
}

static void show_block(struct term *t, FILE *to, const char *title,
                       char (*letter)(const VTermScreenCell *cell, struct show_legend *legend))
{
    struct show_legend legend = {0};
    VTermScreenCell cell;
    fprintf(to, "--- %s\n", title);
    for (int row = 0; row < t->rows; row++) {
        int n = 0;
        for (int col = 0; col < t->cols && term_cell(t, row, col, &cell); col++) {
            t->text[col] = letter(&cell, &legend);
            if (t->text[col] != '.')
                n = col + 1;
        }
        if (n)
            fprintf(to, "%3d %.*s\n", row, n, t->text);
    }
    for (int i = 0; i < legend.n; i++) {
        const VTermColor *c = &legend.known[i];
        fprintf(to, "%s%c=", i ? " " : "    ", 'g' + i);
        if (VTERM_COLOR_IS_INDEXED(c))
            fprintf(to, "%d", c->indexed.idx);
        else
            fprintf(to, "#%02x%02x%02x", c->rgb.red, c->rgb.green, c->rgb.blue);
    }
    if (legend.n)
        fputc('\n', to);
}

void show_attrs(struct term *t, FILE *to)
{
    show_text(t, to);
    show_block(t, to, "attributes", show_attribute);
    show_block(t, to, "text colours", show_fg);
    show_block(t, to, "background colours", show_bg);
}
