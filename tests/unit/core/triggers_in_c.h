/* SPDX-License-Identifier: MIT
 * Triggers in C, called from triggers_test.cc. */
#ifndef TRIGGERS_IN_C_H
#define TRIGGERS_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

extern int c_calls[3];
void c_pass(int value);
int c_enable(const char* pattern);
int c_enable_id(unsigned id);
int c_disable_id(unsigned id);
int c_list_two(void); /* 2: the listing stopped when it was asked to */

#ifdef __cplusplus
}
#endif
#endif
