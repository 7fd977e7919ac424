/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphviz as a program of its own: no shell, its files in a folder of ours, and so long and no
 * longer, for a large graph may take it hours.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "drawing/picture.h"
#include "executor/transport/program.h"
#include "system/file.h"
#include "system/scratch.h"

/* The node that the address names is outlined; a dark page gets light lines and text. */
static const char svg_style[] =
    "<style>\n"
    ".node:target polygon,.node:target path,.node:target ellipse{stroke:#d6007f;stroke-width:5}\n"
    "@media (prefers-color-scheme:dark){\n"
    "svg{background:#14191f}\n"
    ".graph>polygon:first-of-type{fill:#14191f}\n"
    ".graph>text,.graph>g>a>text,.edge text{fill:#e4e9ee}\n"
    ".edge path,.edge polygon{stroke:#9aa7b3}.edge polygon{fill:#9aa7b3}\n"
    "}\n"
    "</style>\n";

static enum odb_status svg_read(const char *path, struct odb_buf *out, struct odb_error *err)
{
    char piece[8192];
    size_t n;
    FILE *file;
    ODB_TRY(odb_file_open(&file, path, err));
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        odb_buf_add(out, piece, n);
    bool failed = ferror(file);
    fclose(file);
    return failed ? odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno)) : ODB_OK;
}

/* The style goes in front of the first group, behind the head of the file. */
static enum odb_status svg_styled(const struct odb_buf *plain, struct odb_buf *out,
                                  struct odb_error *err)
{
    const char *at = strstr(odb_buf_text(plain), "<g ");
    if (!at)
        return odb_fail(err, ODB_E_IO, "what Graphviz wrote is no SVG");
    odb_buf_add(out, plain->data, (size_t)(at - plain->data));
    odb_buf_puts(out, svg_style);
    odb_buf_puts(out, at);
    return ODB_OK;
}

/* *late: Graphviz was still laying out when its time was over, which is no error if placed is not
 * set. */
static enum odb_status svg_run(const char *dot, const char *folder, bool placed, bool *late,
                               struct odb_buf *out, struct odb_error *err)
{
    char *to = odb_xasprintf("%s/graph.svg", folder), *from = odb_xasprintf("%s/graph.dot", folder);
    const char *const words[] = {dot, "-Tsvg", "-o", to, from, "-Kneato", "-n2"};
    struct odb_argv argv = {0};
    struct odb_buf plain = ODB_BUF_INIT, said = ODB_BUF_INIT;
    struct odb_program program = {.argv = &argv, .quiet = true, .limit = ODB_DRAWING_SVG_SECONDS};
    for (size_t i = 0; i < ODB_COUNT(words) - (placed ? 0 : 2); i++)
        odb_argv_add(&argv, words[i]);
    enum odb_status status = odb_program_run(&program, err);
    *late = status == ODB_OK && WIFSIGNALED(program.how) && WTERMSIG(program.how) == SIGKILL;
    if (*late && placed) {
        status = odb_fail(err, ODB_E_IO, "Graphviz did not end within %d seconds",
                          ODB_DRAWING_SVG_SECONDS);
        odb_error_remedy(err, "draw less: --around NODE --depth 2, or NODE:NODE; or write DOT: -o "
                              "FILE.dot");
    } else if (status == ODB_OK && !*late && program.how) {
        odb_program_telling_line(&program, &said);
        status = odb_fail(err, ODB_E_IO, "Graphviz failed: %s", odb_buf_text(&said));
        odb_error_remedy(err, "write DOT: -o FILE.dot");
    }
    if (status == ODB_OK && !*late)
        status = svg_read(to, &plain, err);
    if (status == ODB_OK && !*late)
        status = svg_styled(&plain, out, err);
    odb_buf_dispose(&plain);
    odb_buf_dispose(&said);
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    free(from);
    free(to);
    return status;
}

static enum odb_status svg_draw(const char *dot, const char *folder,
                                const struct odb_picture *picture, bool *late, struct odb_buf *out,
                                struct odb_error *err)
{
    char *path = odb_xasprintf("%s/graph.dot", folder);
    struct odb_buf text = ODB_BUF_INIT;
    odb_picture__dot(picture, &text);
    enum odb_status status = odb_file_write(path, odb_buf_text(&text), text.len, err);
    if (status == ODB_OK)
        status = svg_run(dot, folder, picture->placed, late, out, err);
    odb_buf_dispose(&text);
    free(path);
    return status;
}

/* Laid out by Graphviz; where that is too much for it, by layers. */
static enum odb_status svg_make(const char *dot, const char *folder, struct odb_picture *picture,
                                bool large, struct odb_buf *out, struct odb_error *err)
{
    bool late = large;
    if (!large)
        ODB_TRY(svg_draw(dot, folder, picture, &late, out, err));
    if (!late)
        return ODB_OK;
    odb_picture__place(picture);
    return svg_draw(dot, folder, picture, &late, out, err);
}

enum odb_status odb_drawing_svg(const struct odb_drawing *drawing, struct odb_buf *out,
                                struct odb_error *err)
{
    char *dot = odb_file_in_path("dot"), *folder = NULL;
    struct odb_picture picture;
    enum odb_status status = ODB_OK;
    if (!dot) {
        status =
            odb_fail(err, ODB_E_IO, "SVG is made by Graphviz, whose program dot is not in PATH");
        odb_error_remedy(err, "install it (Debian: apt install graphviz), or write DOT: "
                              "-o FILE.dot");
    }
    if (status == ODB_OK)
        status = odb_scratch_new(&folder, err);
    if (status == ODB_OK) {
        bool large = odb_drawing_count(drawing) > ODB_DRAWING_SVG_NODES;
        odb_picture__make(&picture, drawing);
        status = svg_make(dot, folder, &picture, large, out, err);
        odb_picture__dispose(&picture);
    }
    if (folder)
        odb_scratch_remove(folder);
    free(folder);
    free(dot);
    return status;
}
