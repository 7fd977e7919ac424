/* SPDX-License-Identifier: MIT
 *
 * What there is to say of names that were matched by rule, and of those that were not.
 */
#include "executor/recorded/mangled_int.h"

#include <string.h>

enum odb_mangled_fate odb_mangled_fate(const struct odb_mangled *m, size_t item)
{
    for (size_t i = 0; m && i < m->files.n; i++) {
        const struct mangled_file *file = &m->files.items[i];
        if (file->item != item || file->value >= 0 || !file->left)
            continue;
        for (size_t c = 0; c < file->choices.n; c++)
            if (m->values.items[file->choices.items[c]].file < 0)
                return ODB_MANGLED_SEVERAL;
        return ODB_MANGLED_MISFIT;
    }
    return ODB_MANGLED_OTHER;
}

static void said_part(struct odb_buf *out, const char *before, const char *what, const char *behind)
{
    if (*what)
        odb_buf_printf(out, ", %s'%s' %s", before, what, behind);
}

bool odb_mangled_tell(const struct odb_mangled *m, struct odb_buf *out)
{
    size_t n = 0, first = 0;
    for (size_t i = m ? m->files.n : 0; i-- > 0;)
        if (m->files.items[i].value >= 0) {
            n++;
            first = i;
        }
    if (!n)
        return false;
    odb_buf_printf(out, "%zu recorded name%s matched by rule (what is no letter or digit is '_'", n,
                   n == 1 ? " was" : "s were");
    if (m->by_folding)
        odb_buf_puts(out, ", capitals do not count");
    if (m->has_numbers)
        odb_buf_puts(out, ", numbers in the order of nodes, as values tell");
    for (size_t r = 0; r < m->used.n; r++) {
        const struct mangled_rule *rule = &m->used.items[r];
        odb_buf_puts(out, r ? "; for others" : "");
        odb_buf_puts(out, rule->index < 0 ? "" : ", an index in front");
        said_part(out, "", rule->lead, "before it");
        said_part(out, "", rule->tail, "behind it");
        said_part(out, "without ", rule->unlead, "in front");
        said_part(out, "without ", rule->untail, "at the end");
    }
    odb_buf_puts(out, "), as ");
    odb_buf_put_shown(out, m->names[first]);
    odb_buf_puts(out, " = ");
    odb_buf_put_shown(out, m->called[m->values.items[m->files.items[first].value].index]);
    return true;
}

/* A map cannot say it: lines end at a newline, blanks at both ends and around the = go, a * stands
 * for others, and # begins a remark. */
static bool said_in_map(const char *name)
{
    static const char blanks[] = " \t\r";
    size_t n = strlen(name);
    return n && !strpbrk(name, "*\n\r") && !strstr(name, " =") && !strstr(name, "= ") &&
           *name != '#' && !strchr(blanks, *name) && !strchr(blanks, name[n - 1]);
}

static void said_line(struct odb_buf *out, const char *remark, const char *value, const char *name)
{
    if (said_in_map(value) && said_in_map(name))
        odb_buf_printf(out, "%s%s = %s\n", remark, value, name);
}

bool odb_mangled_likely(const struct odb_mangled *m, size_t item)
{
    for (size_t i = 0; m && i < m->files.n; i++)
        if (m->files.items[i].item == item)
            return m->files.items[i].value < 0 && m->files.items[i].likely >= 0;
    return false;
}

void odb_mangled_map(const struct odb_mangled *m, bool choices, struct odb_buf *out)
{
    for (size_t i = 0; m && i < m->files.n; i++) {
        const struct mangled_file *file = &m->files.items[i];
        int known = choices && file->value < 0 ? file->likely : file->value;
        if (known >= 0)
            said_line(out, "", m->called[m->values.items[known].index], m->names[i]);
        for (size_t c = 0; choices && known < 0 && c < file->choices.n; c++) {
            const struct mangled_value *value = &m->values.items[file->choices.items[c]];
            if (value->file < 0)
                said_line(out, "# ", m->called[value->index], m->names[i]);
        }
    }
}
