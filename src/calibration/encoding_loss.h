/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What encodings cost. The model runs once more in float, on the inputs of the trace, and each
 * value is held against what the simulation has and, where it was read, the target. So a
 * calibration that is at fault is told from a kernel that is: the simulation is far from float, and
 * the target close to it.
 *
 * Signal to quantisation noise is in dB (decibels.h).
 */
#ifndef ODB_CALIBRATION_ENCODING_LOSS_H
#define ODB_CALIBRATION_ENCODING_LOSS_H

#include "reference/trace.h"
#include "report/json.h"

/* An encoding may lose so much more than the range of the numbers would cost, and a value or an
 * output so much at all, before the calibration is called at fault, in dB. */
#define ODB_LOSS_WORSE 10
#define ODB_LOSS_LITTLE 30
#define ODB_LOSS_FAR 20

struct odb_loss_value {
    int value;
    bool encoded;
    double own;       /* what its encoding alone makes of the float value; encoded ones */
    double best;      /* what the range of its numbers would, with as many steps */
    double clipped;   /* share of elements outside the encoding's range */
    double steps;     /* that its numbers take up at most, of one scale, */
    double of;        /* and that there are */
    size_t channel;   /* the scale that is worst; 0 where there is one */
    bool channel_bad; /* that channel is what is wrong */
    bool dead;        /* all of it, or that channel, is lost */
    bool bad;         /* the encoding is at fault */
    double simulated; /* the simulation against float; NAN: not computed */
    double target;    /* the target against float, */
    double apart;     /* and against the simulation; NAN: not had */
};

struct odb_loss {
    const struct odb_model *model;          /* borrowed */
    ODB_VEC(struct odb_loss_value) values;  /* owned: floats; the worst encodings first */
    ODB_VEC(struct odb_loss_value) outputs; /* owned: of the model */
    const struct odb_encodings *encodings;  /* borrowed */
    size_t encoded, in_float;               /* values that nodes make or that are fed */
    ODB_VEC(const char *) unknown;          /* borrowed: names that the model lacks */
    bool bad;                               /* some encoding is at fault */
    bool far;                               /* the simulation's outputs are far from float */
    bool unquantised; /* the target computes in float: the caller's word, false until then */
};

/* given: [n_values] the target's values, NULL where not had; may be NULL. */
enum odb_status odb_loss_measure(struct odb_loss *out, const struct odb_trace *trace,
                                 struct odb_tensor *const *given,
                                 const struct odb_search_hooks *hooks,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_loss_dispose(struct odb_loss *loss);

/* One sentence on the calibration; nothing where it is not at fault. diverges: nodes are. */
void odb_loss_verdict(const struct odb_loss *loss, bool diverges, struct odb_buf *out);
/* Lines: the outputs, and the values that lose most. */
void odb_loss_put(const struct odb_loss *loss, struct odb_buf *out);
json_t *odb_loss_json(const struct odb_loss *loss);

#endif
