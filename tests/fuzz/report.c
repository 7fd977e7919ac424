/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report from a stranger, in every form. No form may hold what its readers would run.
 */
#include "fuzz.h"

#include "command/verbs/file/publish.h"

/* XML 1.0 has no control characters, not even escaped. */
static void report_check_text(const struct odb_buf *out)
{
    for (size_t i = 0; i < out->len; i++) {
        unsigned char c = (unsigned char)out->data[i];
        if ((c < ' ' && !strchr("\t\n\r", c)) || !c)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const forms[])(const json_t *, struct odb_buf *) = {
        odb_publish_markdown, odb_publish_html, odb_publish_csv, odb_publish_junit};
    json_error_t why;
    json_t *report = json_loadb((const char *)data, size, 0, &why);
    if (!json_is_array(json_object_get(report, "values"))) {
        json_decref(report);
        return 0;
    }
    for (size_t i = 0; i < ODB_COUNT(forms); i++) {
        struct odb_buf out = ODB_BUF_INIT;
        forms[i](report, &out);
        report_check_text(&out);
        odb_buf_dispose(&out);
    }
    json_decref(report);
    return 0;
}
