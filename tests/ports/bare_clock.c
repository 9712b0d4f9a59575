/* SPDX-License-Identifier: MIT
 * clock.h on a bare ARMv7 in QEMU's machine "virt", for under qemu-user its counter cannot be read: prints whether it grows,
 * and its rate, over the PL011, and ends by PSCI. */
#include "penna/clock.h"

enum { kStackTop = 0x44000000, kSerial = 0x09000000 };

static void print(const char* text) {
  for (; *text != '\0'; text++) *(volatile uint32_t*)kSerial = (uint32_t)*text;
}

__attribute__((used)) static void run(void) {
  uint64_t first = penna_now(), last = first;
  int grows = 1;
  for (int i = 0; i < 100000; i++) {
    uint64_t now = penna_now();
    grows &= now >= last;
    last = now;
  }
  char rate[] = "rate 0000000000\n";
  uint32_t left = (uint32_t)penna_ticks_per_second();
  for (int at = 14; at >= 5; at--, left /= 10) rate[at] = (char)('0' + left % 10);
  print(grows && last > first ? "grows\n" : "does not grow\n");
  print(rate);
  register uint32_t function __asm__("r0") = 0x84000008; /* SYSTEM_OFF */
  __asm__ volatile(".arch_extension virt\n hvc #0" : "+r"(function) : : "memory");
}

__attribute__((naked, section(".text.start"))) void _start(void) {
  __asm__ volatile("mov sp, %0\n bl run\n 1: b 1b" : : "i"(kStackTop));
}
