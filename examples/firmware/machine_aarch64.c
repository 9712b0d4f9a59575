/* SPDX-License-Identifier: MIT
 * machine.h for QEMU's machine "virt": PL011, the generic timer through GICv2, PSCI. */
#include "machine.h"

const char machine_name[] = "AArch64";

static volatile uint32_t* at(uintptr_t address) { return (volatile uint32_t*)address; }

enum { kSerial = 0x09000000, kDistributor = 0x08000000, kInterface = 0x08010000, kVirtualTimer = 27 };

void machine_begin(void) {}

void machine_end(int status) {
  if (status != 0) /* QEMU's end by PSCI is always 0; by semihosting it is what we say */ {
    uint64_t block[2] = {0x20026, (uint64_t)status}; /* ADP_Stopped_ApplicationExit */
    register uint64_t operation __asm__("x0") = 0x18;
    register uint64_t parameters __asm__("x1") = (uintptr_t)block;
    __asm__ volatile("hlt #0xf000" : : "r"(operation), "r"(parameters) : "memory");
  }
  register uint64_t function __asm__("x0") = 0x84000008; /* SYSTEM_OFF */
  __asm__ volatile("hvc #0" : "+r"(function) : : "memory");
  for (;;) __asm__ volatile("wfi");
}

void machine_put(char c) {
  while ((*at(kSerial + 0x18) & 1 << 5) != 0) { /* transmit FIFO full */
  }
  *at(kSerial) = (uint8_t)c;
}

static void arm_timer(void) {
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  __asm__ volatile("msr cntv_tval_el0, %0" : : "r"(frequency / kTimerRate));
  __asm__ volatile("msr cntv_ctl_el0, %0; isb" : : "r"((uint64_t)1));
}

void machine_start_timer(void) {
  *at(kDistributor) = 1;
  *at(kDistributor + 0x100) = 1u << kVirtualTimer; /* enabled */
  *at(kInterface + 4) = 0xff;                      /* all priorities */
  *at(kInterface) = 1;
  arm_timer();
}

void machine_wait_for_interrupt(void) {
  /* Waits with interrupts masked; the interrupt that ended the wait is taken when they are unmasked. */
  __asm__ volatile("wfi; msr daifclr, #2; isb; msr daifset, #2" : : : "memory");
}

void machine_interrupt(void) {
  uint32_t interrupt = *at(kInterface + 0xc);
  if ((interrupt & 0x3ff) == kVirtualTimer) {
    arm_timer();
    on_tick();
  }
  *at(kInterface + 0x10) = interrupt; /* end of interrupt */
}
