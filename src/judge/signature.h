/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a failure looks like, so that it can be distinguished from another one. A search that
 * follows a failure from probe to probe takes its signature once, at the start, and asks of every
 * later probe whether it shows the same. A target that fails in another way shows another bug: that
 * is no evidence about this one, neither way.
 */
#ifndef ODB_JUDGE_SIGNATURE_H
#define ODB_JUDGE_SIGNATURE_H

#include "base/buf.h"
#include "search/search.h"
#include "run/value_report.h"
#include "tensor/tensor.h"

/* Errors of one failure may differ by this factor, either way. */
#define ODB_SIGNATURE_FACTOR 10.0

/* What the target has where the reference has none, and the other way round. */
enum odb_oddness {
    ODB_ODD_NAN = 1,
    ODB_ODD_POS_INF = 2,
    ODB_ODD_NEG_INF = 4,
    ODB_ODD_LACKS = 8 /* the reference's NaN or Inf are not there */
};

struct odb_signature {
    enum odb_verdict verdict; /* pass; fail, nan, shape, dtype, crash, timeout, refused; untestable:
                                 what was asked says nothing, because it could not be built or run
                               */
    char output[128];         /* the value that shows it, as far as it fits; "": any, or none */
    unsigned odd;             /* verdict nan: ODB_ODD_* */
    double error;             /* verdict fail: relative, as in odb_value_report */
    char fate[240];           /* verdict crash: "SIGSEGV", "exit 3", "memory"; refused: words of
                                 the message, without what names this cut */
};

/* Of a value that was judged. name may be NULL; t is what the target gave, base what it was
 * measured from. */
void odb_signature_value(struct odb_signature *out, const char *name,
                         const struct odb_value_report *report, const struct odb_tensor *t,
                         const struct odb_tensor *base);
/* Of a probe that ended with this status, err saying how. ODB_OK is a pass. */
void odb_signature_status(struct odb_signature *out, enum odb_status status,
                          const struct odb_error *err);

/* Of a probe that was refused, where that is known to be a failure: the target's words in err,
 * without names, numbers and paths, which differ from cut to cut. */
void odb_signature_refusal(struct odb_signature *out, const struct odb_error *err);

/* Whether shown is the failure sought: good (it passes), bad (the same verdict; of NaN and Inf, the
 * same kinds; an error within ODB_SIGNATURE_FACTOR; the same end, or
 * nearly the same words; at the same output, where both name one), or untestable: anything else,
 * and anything that says nothing. */
enum odb_answer odb_signature_match(const struct odb_signature *sought,
                                    const struct odb_signature *shown);

/* "fail at y, relative error 0.0123 (0.00123 to 0.123 counts as the same)", "crash by SIGSEGV".
 * Shown safely. */
void odb_signature_put(const struct odb_signature *signature, struct odb_buf *out);

/* One line that odb_signature_parse() reads, for journals: "fail error=0.0123 output=y". False: it
 * is none. */
void odb_signature_text(const struct odb_signature *signature, struct odb_buf *out);
bool odb_signature_parse(struct odb_signature *out, const char *text);

#endif
