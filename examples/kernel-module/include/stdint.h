/* SPDX-License-Identifier: MIT
 * The kernel has the types of <stdint.h>, but not the file. */
#ifndef EXAMPLE_STDINT_H
#define EXAMPLE_STDINT_H
#include <linux/limits.h>
#include <linux/types.h>
#define UINT32_C(number) number##u
#define UINT64_C(number) number##ull
#endif
