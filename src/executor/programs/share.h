/* SPDX-License-Identifier: MIT
 *
 * Files of ours that other languages run: share/python, share/node.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_SHARE_H
#define ODB_EXECUTOR_PROGRAMS_SHARE_H

#define ODB_SHARE_ENV "ONNXDBG_SHARE"

/* A file of a folder in share: in $ONNXDBG_SHARE, else beside this program or the child's, where
 * they were built or installed. Owned by the caller; NULL: it is in none of them. */
char *odb_share_find(const char *folder, const char *file);

#endif
