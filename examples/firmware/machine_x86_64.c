/* SPDX-License-Identifier: MIT
 * machine.h for a PC: 16550 on port 0x3f8, the 8254's timer through the 8259's interrupt 0, QEMU's isa-debug-exit. */
#include "machine.h"

const char machine_name[] = "x86-64";

static void out(uint16_t port, uint8_t value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }
static uint8_t in(uint16_t port) {
  uint8_t value;
  __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

enum { kSerial = 0x3f8, kPicMaster = 0x20, kPicSlave = 0xa0, kTimer = 0x40, kDebugExit = 0xf4, kTimerVector = 32 };

struct gate {
  uint16_t low, selector, flags, middle;
  uint32_t high, zero;
};
static struct gate gates[256];
extern char interrupt_entry[];

void machine_begin(void) {
  uintptr_t entry = (uintptr_t)interrupt_entry;
  gates[kTimerVector] = (struct gate){(uint16_t)entry, 8, 0x8e00, (uint16_t)(entry >> 16), (uint32_t)(entry >> 32), 0};
  struct __attribute__((packed)) {
    uint16_t limit;
    uint64_t at;
  } where = {sizeof gates - 1, (uintptr_t)gates};
  __asm__ volatile("lidt %0" : : "m"(where));
}

void machine_end(int status) {
  out(kDebugExit, (uint8_t)status); /* QEMU ends with 2 * status + 1 */
  for (;;) __asm__ volatile("cli; hlt");
}

void machine_put(char c) {
  while ((in(kSerial + 5) & 0x20) == 0) {
  }
  out(kSerial, (uint8_t)c);
}

void machine_start_timer(void) {
  static const uint8_t kMaster[] = {0x11, kTimerVector, 4, 1}, kSlave[] = {0x11, kTimerVector + 8, 2, 1};
  for (int i = 0; i < 4; i++) {
    out(kPicMaster + (i != 0), kMaster[i]);
    out(kPicSlave + (i != 0), kSlave[i]);
  }
  out(kPicMaster + 1, 0xfe); /* only the timer's */
  out(kPicSlave + 1, 0xff);
  uint16_t divisor = 1193182 / kTimerRate;
  out(kTimer + 3, 0x34); /* channel 0, both bytes, rate generator */
  out(kTimer, (uint8_t)divisor);
  out(kTimer, (uint8_t)(divisor >> 8));
}

void machine_wait_for_interrupt(void) { __asm__ volatile("sti; hlt; cli" : : : "memory"); }

void machine_interrupt(void) {
  on_tick();
  out(kPicMaster, 0x20); /* end of interrupt */
}
