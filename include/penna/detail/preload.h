/* SPDX-License-Identifier: MIT
 *
 * preload.h: the value of LD_PRELOAD for a program that is recorded: [RUNTIME:]AGENT[:REST].
 *
 * Why: AddressSanitizer as a library refuses to work where another library comes before it; and if hooks ran before any
 * sanitizer's functions, its reports would show their frames. REST is what the user preloads. RUNTIME is present when
 * the program or REST needs it first; if it was in REST, it is repeated there, so that Penna's part, up to AGENT, can
 * be distinguished from REST.
 */
#ifndef PENNA_DETAIL_PRELOAD_H
#define PENNA_DETAIL_PRELOAD_H

#include <stddef.h>

/* How many characters `name` has, a path or library name that ends at a zero, a colon or a space, if nothing may be
 * loaded before it; else 0. */
static inline size_t penna_first_runtime(const char* name) {
  static const char* const kRuntimes[] = {"libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libclang_rt."};
  size_t length = 0, file = 0, i, k;
  for (; name[length] != '\0' && name[length] != ':' && name[length] != ' '; ++length)
    if (name[length] == '/') file = length + 1;
  for (i = 0; i < sizeof kRuntimes / sizeof *kRuntimes; ++i) {
    for (k = 0; kRuntimes[i][k] != '\0' && file + k < length && name[file + k] == kRuntimes[i][k]; ++k) {
    }
    if (kRuntimes[i][k] == '\0') return length;
  }
  return 0;
}

#endif
