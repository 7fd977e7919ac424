/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model's graph as the search core wants it.
 */
#ifndef ODB_BISECT_NODE_DAG_H
#define ODB_BISECT_NODE_DAG_H

#include "search/search.h"
#include "model/model.h"

/* Every node with those whose values it reads, its bodies' captures included. cut: [n_values]
 * values that lead from no node, because they are fed; NULL: none. odb_dag_dispose() frees it. */
struct odb_dag odb_dag_of(const struct odb_graph *graph, const bool *cut);

#endif
