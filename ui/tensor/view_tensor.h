/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The view of a tensor.
 */
#ifndef ODB_UI_TENSOR_VIEW_TENSOR_H
#define ODB_UI_TENSOR_VIEW_TENSOR_H

struct ui_view;

/* Another value is shown from now on. */
void ui_tensor_show(struct ui_view *view, int value);

#endif
