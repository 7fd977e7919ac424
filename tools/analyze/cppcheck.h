/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands before every file that cppcheck looks at, which does not read the headers of libraries:
 * their macros that look like statements. */
#define json_array_foreach(array, index, value)                                                    \
    for (index = 0; (value = json_array_get(array, index)); index++)
#define json_object_foreach(object, key, value)                                                    \
    for (key = first(object); (value = json_object_get(object, key)); key = next(object, key))
