/* SPDX-License-Identifier: MIT
 *
 * What libpenna-functracer.so, inside a program, sends to functracer when the program gets SIGUSR1 or SIGUSR2: a
 * datagram to the socket whose path is in the environment.
 * Invariant: one size; both sides are of one build.
 */
#pragma once

#include <stdint.h>

#define FUNCTRACER_VARIABLE "PENNA_FUNCTRACER"
#define FUNCTRACER_MAGIC UINT32_C(0x46543031)

/* No pointers and fixed widths: a 64-bit functracer may receive it from any process that has the library. */
struct functracer_signal {
  uint32_t magic;
  int32_t pid;
  int32_t signal;
  uint32_t reserved;
  uint64_t ticks; /* penna_now(), when it came */
};
