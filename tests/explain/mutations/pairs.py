# SPDX-License-Identifier: GPL-3.0-or-later
"""Two mutations of one node at once."""
from mutations import KINDS, NotHere, kind, need

PAIRS = (("bias-missing", "operands-bf16"), ("weight-transposed", "scaled"),
         ("pads-exchanged", "relu-applied"), ("kernel-flipped", "channels-exchanged"),
         ("bias-missing", "doubled"), ("operands-exchanged", "halved"),
         ("zero-point-ignored", "channels-exchanged"), ("epsilon", "channels-exchanged"),
         ("bias-twice", "tail-zero"), ("read-as-nhwc", "bias-missing"),
         ("gates-permuted", "state-zero"), ("resize-mode", "scaled"))


@kind("pair")
def pair(call):
    order = list(PAIRS)
    call.rng.shuffle(order)
    for names in order:
        if all(KINDS[n].takes(call.op) for n in names) and both(call, names):
            return
    need(False)


def both(call, names):
    """Whether both could be applied. A call that took one only is put back."""
    inputs, attributes = list(call.inputs), dict(call.attributes)
    behind, constant = list(call.behind), list(call.constant)
    try:
        for name in names:
            KINDS[name].change(call)
        return True
    except NotHere:
        call.inputs, call.attributes, call.behind, call.constant = (
            inputs, attributes, behind, constant)
        return False
