/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of one value's numbers, in three files: tensor.c fetches, has computed, and places what
 * there is to see; tensor_parts.c draws what was computed; tensor_grid.c draws the numbers
 * themselves, read cell by cell as they come on the screen.
 *
 * The view is a list of rows like any other. Its rows are shared out among parts, which stand side
 * by side where the screen is wide enough.
 */
#ifndef ODB_UI_TENSOR_INT_H
#define ODB_UI_TENSOR_INT_H

#include "base/job.h"
#include "compare/criterion.h"
#include "compare/inspect.h"
#include "tensor/grid.h"
#include "ui/view.h"

/* Those of a pair, and what is between them. In the order of ODB_TENSOR_MODES, where a last one
 * means all of them. */
enum ui_side { UI_REFERENCE, UI_TARGET, UI_DIFFERENCE, UI_SIDES };

/* In the order of the screen, from the top and from the left. */
enum ui_part_id {
    UI_PART_STATS,
    UI_PART_DISTANCE,
    UI_PART_DECADES,
    UI_PART_VALUES,
    UI_PART_WORST,
    UI_PART_ODD,
    UI_PART_TEXT,
    UI_PART_TEXT_TARGET,
    UI_PART_GRID,
    UI_PART_GRID_TARGET,
    UI_PARTS
};

/* A part where it stands: its title in a row of the list, its lines below. */
struct ui_part {
    enum ui_part_id id;
    size_t row, lines;
    int col, width;
};

/* A plane of cells. n_sides 0: there is none. */
struct ui_tensor_grid {
    struct odb_grid at;
    enum ui_side sides[UI_SIDES]; /* shown for each row */
    int n_sides;
    bool beside;     /* one row of the list has all of them; else they are below one another */
    int label, cell; /* columns of a row's label, and of a cell with the blank before it and the
                        mark behind it */
    int heads;       /* lines of labels above the rows */
};

struct ui_tensor_text {
    ODB_VEC(char *) lines; /* owned */
};

/* What the job reads and writes. Nobody else touches it while the job is busy, but for cancel. */
struct ui_tensor_work {
    struct odb_tensor *t[2]; /* owned refs */
    struct odb_inspection result;
    enum odb_status status;
    struct odb_error err;
    atomic_bool cancel;
};

struct ui_tensor {
    struct ui_view view;
    int value; /* ODB_NO_VALUE: none was opened yet */
    bool stale;
    unsigned long generation;           /* of the session when it was read last */
    struct odb_tensor *whole[2], *t[2]; /* owned refs: all of it, what is shown; NULL: not known,
                                           or without values */
    char *slice;                        /* owned: what is shown of it; NULL: all */
    struct odb_value_report report;
    struct odb_criterion tolerance;
    double rms; /* of the reference, all of it; NaN: not known */

    struct odb_job *job; /* owned */
    struct ui_tensor_work work;
    const struct odb_inspection *seen; /* borrowed: work; NULL: not computed */
    char *failure;                     /* owned: why not; NULL: it did not fail */

    int mode;      /* enum ui_side, or UI_SIDES: all */
    size_t rank;   /* of the worst element that was gone to */
    size_t marked; /* element; ODB_NOWHERE: none */
    int marked_grid;
    struct ui_tensor_grid grids[2]; /* one for both sides, or one for each */
    bool paired;                    /* both sides have this element: one grid */
    struct ui_tensor_text texts[2]; /* of what has no cells */
    struct ui_part parts[UI_PARTS];
    int n_parts;
    size_t rows;
    int cols;  /* that it was laid out for */
    bool tall; /* and whether there was room for more lines of some parts */
};

/* What a kind of part is. */
struct ui_part_kind {
    size_t (*lines)(const struct ui_tensor *v, enum ui_part_id id); /* below the title; 0: absent */
    int (*width)(const struct ui_tensor *v); /* the least; NULL: all of the screen */
    void (*title)(const struct ui_tensor *v, enum ui_part_id id, const struct ui_area *area);
    void (*draw)(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                 const struct ui_area *area);
};

/* --- tensor_parts.c --------------------------------------------------------------------------- */

extern const struct ui_part_kind ui_tensor__kinds[UI_PARTS];

/* The name of a part; returns the column behind it. */
int ui_tensor__title(const struct ui_area *area, const char *text);
/* The same, and a line to the end of the area. */
void ui_tensor__rule(const struct ui_area *area, const char *text);
/* Words over a column of numbers. */
void ui_tensor__column(const struct ui_area *area, int col, int width, const char *text);
/* The first rank that is on the screen. */
size_t ui_tensor__first_worst(const struct ui_tensor *v);
/* The element that a line of the part is about, on a side; false: none. */
bool ui_tensor__odd_at(const struct ui_tensor *v, size_t line, size_t *at, enum ui_side *side);

/* --- tensor_grid.c ---------------------------------------------------------------------------- */

#define UI_CELL_TEXT 160

/* How far a pair is apart, in the light of the tolerance. */
enum ui_pair { UI_PAIR_SAME, UI_PAIR_DIFFERS, UI_PAIR_BEYOND };

const char *ui_side_name(enum ui_side side);
/* Five digits. Returns buf, which 32 bytes do for. */
const char *ui_tensor__real(double v, char *buf, size_t size);
/* Element at of a side. Returns buf. */
const char *ui_tensor__cell(const struct ui_tensor *v, enum ui_side side, size_t at,
                            char buf[UI_CELL_TEXT]);
/* Both sides must have the element. */
enum ui_pair ui_tensor__judge(const struct ui_tensor *v, size_t at);
/* The style of an element: how it differs, or that it is no number. */
enum ui_style ui_tensor__style(const struct ui_tensor *v, enum ui_side side, size_t at);
/* The largest |difference| that is tolerated where the reference is so large; < 0: not known. */
double ui_tensor__limit(const struct ui_tensor *v, double reference);

/* Makes v->grids for as many columns. */
void ui_tensor__grid_layout(struct ui_tensor *v, int cols);
/* Cells of one side that a line has room for, at least one. */
size_t ui_tensor__grid_room(const struct ui_tensor_grid *g, int cols);
size_t ui_tensor__grid_lines(const struct ui_tensor *v, enum ui_part_id id);
void ui_tensor__grid_title(const struct ui_tensor *v, enum ui_part_id id,
                           const struct ui_area *area);
void ui_tensor__grid_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                          const struct ui_area *area);
/* A string in a line of the grid, on the screen or beside it, has this text. */
bool ui_tensor__grid_matches(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                             const char *text);

#endif
