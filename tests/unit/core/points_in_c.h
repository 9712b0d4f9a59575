/* SPDX-License-Identifier: MIT
 * Points in C, one function each, called from points_test.cc. */
#ifndef POINTS_IN_C_H
#define POINTS_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

enum c_colour { C_RED = -2, C_BLUE = 7 };

void c_nothing(void);
void c_integers(void);
void c_others(const char* text, void* address);
void c_strings(const char* text, char* writable);
void c_twelve(int first);
void c_bits(void);
void c_lazy_bits(void);
void c_names(int a);
void c_values(void);
void c_arrays(void);
int c_lazy(int* evaluated, const char* text); /* how often an argument was evaluated */
int c_spans(int way);                         /* left by break, return or goto for 1, 2, 3 */
int c_evaluations(void);                      /* how often the argument was evaluated in one pass */
extern char c_array[8];
extern int c_line_of_nothing;

#ifdef __cplusplus
}
#endif
#endif
