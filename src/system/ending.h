/* SPDX-License-Identifier: MIT
 *
 * A process that is asked to end (SIGTERM, SIGHUP) puts away what it has at hand, between two nodes
 * or tensors. What lies between may take long: so the process ends by the signal after a while,
 * wherever it is. Nothing is lost by that: files have their names when they are complete, and a
 * session is written before what it is about begins.
 */
#ifndef ODB_SYSTEM_ENDING_H
#define ODB_SYSTEM_ENDING_H

/* Once, of a program that wants to be ended so. */
void odb_ending_catch(void);
/* This signal has come, and is going to be heeded; for signal handlers. Does nothing where
 * odb_ending_catch() has not been called. */
void odb_ending_begin(int number);

/* Processes that this one starts from now on, and that call the other function, are asked to end
 * (SIGTERM) when this one, or its thread that calls, is gone, however that ended. */
void odb_ending_pass_on(void);
void odb_ending_with_parent(void);

#endif
