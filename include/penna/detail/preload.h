/* SPDX-License-Identifier: MIT
 *
 * preload.h: how LD_PRELOAD is written for a program that is recorded: [RUNTIME:]AGENT[:REST].
 *
 * Why: AddressSanitizer as a library refuses to work where another library comes before it; and of what is called in
 * front of any sanitizer's functions, its reports would show the frames. REST is what the user preloads.
 * RUNTIME stands there when the program or REST needs it first; so that what is ours, up to AGENT, can be told from
 * REST, it then stands in REST once more if it was there.
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
