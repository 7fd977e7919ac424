/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/instead.h"

#include "base/mem.h"

static const char *const instead_words[] = {
#define INSTEAD_WORD(name, word) word,
    ODB_INSTEAD_LIST(INSTEAD_WORD)
#undef INSTEAD_WORD
};

const char *odb_instead_word(enum odb_instead_why why)
{
    return instead_words[why];
}

bool odb_instead_any(const struct odb_instead *instead)
{
    for (int i = 0; i < ODB_INSTEAD_COUNT; i++)
        if (instead->why[i])
            return true;
    return false;
}

static void instead_put_drawn(const struct odb_instead *instead, const struct odb_graph *graph,
                              struct odb_buf *out)
{
    odb_buf_puts(out, "what ");
    odb_node_put(graph, instead->drawn, out);
    if (instead->n_drawn > 1)
        odb_buf_printf(out, " and %zu other%s draw", instead->n_drawn - 1,
                       instead->n_drawn > 2 ? "s" : "");
    odb_buf_printf(out, "%s at random is an input, fed with what the reference drew",
                   instead->n_drawn > 1 ? "" : " draws");
}

void odb_instead_put(const struct odb_instead *instead, const struct odb_graph *graph,
                     struct odb_buf *out)
{
    static const char *const texts[ODB_INSTEAD_COUNT] = {
        [ODB_INSTEAD_NO_FILE] = "the model was cut out of another one",
        [ODB_INSTEAD_LINKS] = "its weights are behind links, and named by where those lead",
        [ODB_INSTEAD_CHECKPOINTS] = "its checkpoints (Debug nodes), which no runtime knows, are "
                                    "Identity",
        [ODB_INSTEAD_PINNED] = "what was pinned is an input",
        [ODB_INSTEAD_BEGUN] = "a state that begins with a value of the model is an input",
        [ODB_INSTEAD_STATIC] = "its dimensions are fixed, as the target asks for: those of this "
                               "run's inputs",
        [ODB_INSTEAD_PART] = "some of its outputs are not computed",
    };
    const char *between = "";
    for (int i = 0; i < ODB_INSTEAD_COUNT; i++) {
        if (!instead->why[i])
            continue;
        odb_buf_puts(out, between);
        between = "; ";
        if (i == ODB_INSTEAD_DRAWN)
            instead_put_drawn(instead, graph, out);
        else if (i == ODB_INSTEAD_PIECES)
            odb_buf_printf(out,
                           "it runs in %zu pieces, for want of memory: what the target would "
                           "fuse across their borders is not seen",
                           instead->pieces);
        else
            odb_buf_puts(out, texts[i]);
    }
}
