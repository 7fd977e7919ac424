/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of one value, in files: view_tensor.c is its row of functions; tensor_fetch.c fetches
 * what is shown, and tensor_look.c has computed what takes a look at all of it; tensor_place.c
 * places it; tensor_head.c draws the lines above; tensor_parts.c, tensor_histogram.c,
 * tensor_channels.c and tensor_heat.c draw what was computed, tensor_grid.c the numbers themselves,
 * read cell by cell as they come on the screen; tensor_cell.c is one element of them, and how far
 * apart its sides are; tensor_move.c and tensor_find.c go places; tensor_save.c is what leaves the
 * view.
 *
 * The view is a list of rows like any other. Its rows are shared out among parts, which stand side
 * by side where the screen is wide enough. A page is a choice of parts.
 */
#ifndef ODB_UI_TENSOR_TENSOR_INT_H
#define ODB_UI_TENSOR_TENSOR_INT_H

#include "base/mem.h"
#include "compare/criterion.h"
#include "compare/inspect/inspect.h"
#include "compare/inspect/seek.h"
#include "run/value_report.h"
#include "tensor/format/format.h"
#include "tensor/grid.h"
#include "ui/terminal/style.h"
#include "ui/view/pace.h"
#include "ui/view/view.h"

struct odb_buf;
struct odb_channels;
struct odb_command_call;
struct odb_heat;
struct ui_area;

/* Those of a pair, and what is between them. In the order of ODB_TENSOR_MODES, where a last one
 * means all of them. */
enum ui_side { UI_REFERENCE, UI_TARGET, UI_DIFFERENCE, UI_SIDES };

/* What the difference of a pair is measured in. In the order of ODB_TENSOR_MEASURES. */
enum ui_measure { UI_ABSOLUTE, UI_RELATIVE, UI_ULP, UI_MEASURES };

/* In the order of the screen, from the top and from the left. */
enum ui_part_id {
    UI_PART_STATS,
    UI_PART_DISTANCE,
    UI_PART_DECADES,
    UI_PART_VALUES,
    UI_PART_WORST,
    UI_PART_ODD,
    UI_PART_CHANNELS,
    UI_PART_HEAT,
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

/* What the screen shows. In the order of ODB_TENSOR_PARTS. */
enum ui_page { UI_PAGE_ALL, UI_PAGE_NUMBERS, UI_PAGE_CHANNELS, UI_PAGE_HEAT, UI_PAGES };

/* Ways to look at all elements, those that a command asks for first. */
enum ui_look_id {
    UI_LOOK_SLICE,
    UI_LOOK_FIND,
    UI_LOOK_HEAT,
    UI_LOOK_STATS,
    UI_LOOK_CHANNELS,
    UI_LOOK_PLANES,
    UI_LOOKS
};

/* A search by value. */
struct ui_tensor_find {
    bool active; /* n and N are about it */
    struct odb_seek seek;
    int direction; /* wanted: 1 or -1; 0: nothing */
    bool counted;  /* total, and before: how many matches stand before `at` */
    size_t total, before, at;
};

/* A plane, and the size of its picture; rows 0: none. */
struct ui_tensor_picture {
    size_t first, rows, cols, h, w;
    size_t planes; /* whose largest errors are wanted as well; 0: there is but one */
    bool halves;   /* a cell of the screen has two of the picture, one above the other */
    int scale;     /* columns of one of the picture's cells, and with halves its rows */
};

/* What the job reads and writes. While the job is busy no other thread touches it, but for the
 * pace.
 * All that it owns is put away when the look has ended; what it found has become the view's before.
 */
struct ui_tensor_work {
    enum ui_look_id id;
    struct ui_pace pace;
    struct odb_tensor *t[2]; /* owned refs */
    /* What is asked. */
    char *slice; /* owned */
    struct ui_tensor_find find;
    size_t from;
    int axis;
    struct ui_tensor_picture picture;
    /* What is found. */
    enum odb_status status;
    struct odb_error err;
    struct odb_tensor *cut[2]; /* owned refs */
    size_t at;
    unsigned where;
    struct odb_inspection stats;
    struct odb_channels *channels; /* owned */
    struct odb_heat *heat;         /* owned */
    struct odb_heat *planes;       /* owned: a cell for each, or for some of them */
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
    unsigned stopped; /* bits of enum ui_look_id: not begun again by itself */
    char *cutting;    /* owned: a slice that is wanted */
    struct odb_inspection stats;
    const struct odb_inspection *seen; /* borrowed: stats; NULL: not computed */
    char *failure;                     /* owned: why not; NULL: it did not fail */
    struct ui_tensor_find find;
    int axis;                                  /* of the channels; -1: none */
    struct odb_channels *channels;             /* owned; NULL: not computed */
    size_t *order;                             /* owned: of the channels, as they are listed */
    const char *order_by;                      /* static; NULL: the worst first */
    bool order_turned;                         /* the other way round */
    char *told;                                /* owned: where the error is; NULL: nothing to say */
    struct odb_heat *heat;                     /* owned; NULL: not drawn */
    struct odb_heat *planes;                   /* owned: errors of all planes; NULL: not known */
    bool aimed;                                /* the plane was chosen, or is the worst one */
    struct ui_tensor_picture heat_of, picture; /* that was drawn; that is wanted */

    enum ui_page page, before; /* before: where Esc leads from here */
    int mode;                  /* enum ui_side, or UI_SIDES: all */
    struct odb_format format;
    enum ui_measure measure;
    size_t rank;   /* of the worst element that was gone to */
    size_t marked; /* element under the cursor, or where that was; ODB_NOWHERE: none */
    int marked_grid;
    size_t col; /* the cursor's column in the grid; its row is the list's selection */
    int side;   /* and which of the grid's sides it is on */
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

/* --- tensor_histogram.c ----------------------------------------------------------------------- */

size_t ui_tensor__errors_lines(const struct ui_tensor *v, enum ui_part_id id);
int ui_tensor__errors_width(const struct ui_tensor *v);
void ui_tensor__errors_title(const struct ui_tensor *v, enum ui_part_id id,
                             const struct ui_area *area);
void ui_tensor__errors_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                            const struct ui_area *area);
size_t ui_tensor__values_lines(const struct ui_tensor *v, enum ui_part_id id);
int ui_tensor__values_width(const struct ui_tensor *v);
void ui_tensor__values_title(const struct ui_tensor *v, enum ui_part_id id,
                             const struct ui_area *area);
void ui_tensor__values_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                            const struct ui_area *area);

/* --- tensor_cell.c ---------------------------------------------------------------------------- */

#define UI_CELL_TEXT ODB_FORMAT_TEXT
#define UI_CELL_REAL 11   /* columns of -1.2346e-05 */
#define UI_CELL_EXACT 14  /* of -1.2345679e-05 */
#define UI_CELL_STRING 24 /* of a string, where there are more columns of them */
#define UI_CELL_WIDEST 40

/* How far a pair is apart, in the light of the tolerance. */
enum ui_pair { UI_PAIR_SAME, UI_PAIR_DIFFERS, UI_PAIR_BEYOND };

const char *ui_side_name(enum ui_side side);
/* The same, but for the difference, which has the name of its measure. */
const char *ui_tensor__column_name(const struct ui_tensor *v, enum ui_side side);
/* Three letters that stand for it. Static. */
const char *ui_tensor__tag(enum ui_side side, enum ui_measure measure);
/* Five digits. Returns buf, which 32 bytes do for. */
const char *ui_tensor__real(double v, char *buf, size_t size);
/* Element at of a side: in the view's format, or in another. Returns buf. */
const char *ui_tensor__cell(const struct ui_tensor *v, enum ui_side side, size_t at,
                            char buf[UI_CELL_TEXT]);
const char *ui_tensor__text(const struct ui_tensor *v, enum ui_side side,
                            const struct odb_format *format, size_t at, char buf[UI_CELL_TEXT]);
/* How far the target is from the reference; both sides must have the element. Returns buf. */
const char *ui_tensor__distance(const struct ui_tensor *v, enum ui_measure measure,
                                const struct odb_format *format, size_t at, char buf[UI_CELL_TEXT]);
/* Columns that the text of an element needs. */
int ui_tensor__cell_width(const struct ui_tensor *v, enum ui_side side);
/* Both sides must have the element. */
enum ui_pair ui_tensor__judge(const struct ui_tensor *v, size_t at);
/* The style of an element: how it differs, or that it is no number. */
enum ui_style ui_tensor__style(const struct ui_tensor *v, enum ui_side side, size_t at);
/* The largest |difference| that is tolerated where the reference is so large; < 0: not known. */
double ui_tensor__limit(const struct ui_tensor *v, double reference);
bool ui_tensor__is_complex(const struct odb_tensor *t);
bool ui_tensor__is_finite(const struct odb_tensor *t, size_t at);
/* Of a pair: both integers or bools; of kinds that can be subtracted. */
bool ui_tensor__both_whole(const struct ui_tensor *v);
bool ui_tensor__has_difference(const struct ui_tensor *v);
/* All that is to say of the element under the cursor, which there is. */
void ui_tensor__draw_marked(const struct ui_tensor *v, const struct ui_area *area);

/* --- tensor_channels.c ------------------------------------------------------------------------ */

/* Puts the channels into their order; says what there is to say of all of them. */
void ui_tensor__sort_channels(struct ui_tensor *v);
void ui_tensor__tell_channels(struct ui_tensor *v);
/* Another order (NULL: the next column's), another axis (NULL: the table, then the next axis). */
enum ui_answer ui_tensor__order(struct ui_tensor *v, const char *name, struct odb_error *err);
/* The same by a column's name alone, which given again is turned round. UI_NOT_MINE: no column that
 * is shown has it. */
enum ui_answer ui_tensor__sort(struct ui_tensor *v, const char *name);
/* The column of the channels' titles at a column of their part; NULL: none. */
const char *ui_tensor__channels_column(const struct ui_tensor *v, int col);
enum ui_answer ui_tensor__channels(struct ui_tensor *v, const char *axis, struct odb_error *err);
size_t ui_tensor__channels_lines(const struct ui_tensor *v, enum ui_part_id id);
int ui_tensor__channels_width(const struct ui_tensor *v);
void ui_tensor__channels_title(const struct ui_tensor *v, enum ui_part_id id,
                               const struct ui_area *area);
void ui_tensor__channels_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                              const struct ui_area *area);
/* The worst element of the channel in a line; false: none. */
bool ui_tensor__channel_at(const struct ui_tensor *v, size_t line, size_t *at);

/* --- tensor_heat.c ---------------------------------------------------------------------------- */

/* Says what picture there should be on a screen of so many columns. */
void ui_tensor__heat_layout(struct ui_tensor *v, int cols);
size_t ui_tensor__heat_lines(const struct ui_tensor *v, enum ui_part_id id);
void ui_tensor__heat_title(const struct ui_tensor *v, enum ui_part_id id,
                           const struct ui_area *area);
void ui_tensor__heat_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                          const struct ui_area *area);
/* The worst element in a line of the picture; false: none. */
bool ui_tensor__heat_at(const struct ui_tensor *v, size_t line, size_t *at);

/* --- tensor_find.c ---------------------------------------------------------------------------- */

/* UI_NOT_MINE for commands that look for nothing, or for nothing here. */
enum ui_answer ui_tensor__find(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err);
/* Goes to what was found, or says that nothing was. */
void ui_tensor__found(struct ui_tensor *v, struct ui_tensor_work *work);

/* --- tensor_save.c ---------------------------------------------------------------------------- */

/* Writes or copies numbers; UI_NOT_MINE for what is no file of numbers, and other commands. */
enum ui_answer ui_tensor__save(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err);

/* --- tensor_look.c ---------------------------------------------------------------------------- */

/* Tells the screen that the view's job has something. payload: the app. */
void ui_tensor__done(void *payload);
/* Takes what was computed, and has computed what is shown now. */
void ui_tensor__compute(struct ui_tensor *v);
/* All that was computed belongs to another tensor. */
void ui_tensor__forget(struct ui_tensor *v);
/* Waits for a look that goes on. Nothing is left of them. */
void ui_tensor__close_looks(struct ui_tensor *v);
/* Esc: true if something took its time, and was stopped. */
bool ui_tensor__stop(struct ui_tensor *v);
/* "computing … 43 %, 2 s left; Esc stops it", or that it was stopped. */
void ui_tensor__progress(const struct ui_tensor *v, enum ui_look_id id, struct odb_buf *out);
/* The same as a message, of what a command asked for. */
void ui_tensor__say_progress(struct ui_tensor *v);

/* --- tensor_grid.c ---------------------------------------------------------------------------- */

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

/* --- tensor_fetch.c --------------------------------------------------------------------------- */

/* Reads what the session has for the value now. */
void ui_tensor__fetch(struct ui_tensor *v);
/* A new reference, NULL where its values are not here. */
struct odb_tensor *ui_tensor__with_values(const struct odb_tensor *t);
/* Both sides, or a slice of them (NULL: all), where their values are here; the caller's. */
enum odb_status ui_tensor__cut(const struct ui_tensor *v, const char *slice,
                               struct odb_tensor *out[2], struct odb_error *err) ODB_MUST_USE;
/* Of the whole: to cut it would keep the screen waiting. */
bool ui_tensor__is_large(const struct ui_tensor *v);
/* Takes over what is to be shown. Where one looks stays, unless the shape is another. */
void ui_tensor__take(struct ui_tensor *v, struct odb_tensor *t[2]);
/* Makes the text of what has no cells, and puts it away. */
void ui_tensor__print(struct ui_tensor *v);
void ui_tensor__clear_text(struct ui_tensor_text *text);

/* --- tensor_place.c --------------------------------------------------------------------------- */

/* Rows of the list that belong to a line's number: those of one row of a grid go together. */
size_t ui_tensor__lines_per_row(const struct ui_tensor *v, enum ui_part_id id);
/* Lines of a part before its rows, its title among them. */
size_t ui_tensor__heads(const struct ui_tensor *v, enum ui_part_id id);
/* The part of this kind, and the first one that has a row of the list; NULL: none. */
const struct ui_part *ui_tensor__part(const struct ui_tensor *v, enum ui_part_id id);
const struct ui_part *ui_tensor__part_at(const struct ui_tensor *v, size_t row);
/* What a click there sorts the channels by: struct ui_view_ops. */
const char *ui_tensor__column_at(const struct ui_view *view, int row, int col);
/* Lays everything out anew, and keeps the selection where it was, though what is above it may have
 * grown. */
void ui_tensor__layout(struct ui_tensor *v, int cols);
/* The same; then has computed what that shows, and gives what was found at once its room. */
void ui_tensor__arrange(struct ui_tensor *v, int cols);
void ui_tensor__draw_row(const struct ui_view *view, size_t row, const struct ui_area *area);
/* The titles, or the labels, of the rows at the top, when they are out of sight. */
void ui_tensor__draw_lost(const struct ui_tensor *v, const struct ui_area *area);

/* Shows another page. */
void ui_tensor__turn(struct ui_tensor *v, enum ui_page page);

/* --- tensor_head.c ---------------------------------------------------------------------------- */

int ui_tensor__header(const struct ui_view *view, const struct ui_area *area, int rows);

/* --- tensor_move.c ---------------------------------------------------------------------------- */

/* The cell under the cursor is marked, when the selection is in a grid. */
void ui_tensor__follow(struct ui_tensor *v);
/* Shows the plane with the worst element, unless another was chosen. */
void ui_tensor__aim(struct ui_tensor *v);
/* Moves plane, selection and cursor to an element of a side. */
enum ui_answer ui_tensor__goto(struct ui_tensor *v, enum ui_side side, size_t at,
                               struct odb_error *err);
/* What changes the numbers is to be seen. */
void ui_tensor__reveal(struct ui_tensor *v);
/* UI_NOT_MINE for commands that go nowhere. */
enum ui_answer ui_tensor__move(struct ui_tensor *v, const struct odb_command_call *call,
                               struct odb_error *err);

#endif
