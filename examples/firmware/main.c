/* SPDX-License-Identifier: MIT
 *
 * An image without an operating system that traces itself: points in its work and in its timer interrupt, and a
 * trigger, switched on and off while it runs; points are recorded into a ring. It prints what it recorded, also as a
 * stream for `penna import`.
 *     examples/firmware/run x86_64            (or aarch64; see the script for its options)
 */
#include "machine.h"
#include "penna/firmware.h"
#include "penna/trigger.h"
#include "print.h"
#include "tick.h"

enum { kSlots = 16, kUnitBytes = 96 };
PENNA_RING_DEFINE(ring, kSlots, kUnitBytes);

/* ---- What the image does ------------------------------------------------------------------------------------------ */

/* What a trigger calls while it is on. */
static void on_large(uint32_t job, uint32_t sum) {
  print_number("  trigger: the sum of job ", job, " is ");
  print_number("", sum, "\n");
}

static uint32_t work(uint32_t job, const char* name) {
  PENNA_SPAN(fw, work, job, name);
  uint32_t sum = 0;
  for (uint32_t i = 1; i <= 10 * job; i++) sum += i * i;
  double mean = (double)sum / (10 * job);
  PENNA_EVENT(fw, result, sum, mean, PENNA_ARG(odd, (_Bool)(sum & 1)));
  if (sum > 9000) PENNA_TRIGGER(fw, large, on_large, job, sum);
  return sum;
}

static void wait_for_ticks(uint32_t count) {
  for (uint32_t until = ticks + count; ticks != until;) machine_wait_for_interrupt();
}

/* ---- What it prints ---------------------------------------------------------------------------------------------- */

/* The descriptions of the sites, by id: the units that go into the stream. */
static uint64_t sites[8][PENNA_MAX_UNIT_WORDS];

static void print_record(const uint64_t* unit) {
  const uint64_t* site = sites[(uint32_t)unit[2] - 1];
  const struct penna_site_info* info = (const struct penna_site_info*)(site + 2);
  const char* text = (const char*)(info + 1);
  const uint64_t* value = unit + 3;
  print(unit[0] << 32 >> 32 == kThreadInterrupt ? "  interrupt  " : "  main       ");
  print(text);
  print(":");
  print(text = after(text));
  print(info->kind == PENNA_SITE_SPAN ? " begins" : info->kind == PENNA_SITE_SPAN_END ? " ends" : "");
  text = after(text);
  for (uint32_t i = 0; i < info->arg_count; i++) {
    print(i == 0 ? "  " : ", ");
    print(text = after(text));
    print("=");
    value = print_value(value, info->arg_types[i]);
  }
  print("\n");
}

/* Everything that is in the ring: printed, and kept for the stream. */
static uint64_t kept[256][kUnitBytes / 8];
static uint32_t kept_count, told_lost;

static void drain(void) {
  uint64_t last = 0;
  int in_order = 1;
  while (penna_ring_read(ring, kept[kept_count])) {
    const uint64_t* unit = kept[kept_count++];
    in_order &= unit[1] >> 16 >= last;
    last = unit[1] >> 16;
    print_record(unit);
  }
  uint32_t lost = penna_ring_dropped(ring) - told_lost;
  told_lost += lost;
  print_number("  lost: ", lost, "");
  print(in_order ? ", times grow\n" : ", TIMES DO NOT GROW\n");
}

static void print_bytes(const void* bytes, uint32_t count) {
  static const char kDigits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < count; i++) {
    uint8_t byte = ((const uint8_t*)bytes)[i];
    machine_put(kDigits[byte >> 4]);
    machine_put(kDigits[byte & 15]);
  }
  print("\n");
}

static void print_stream(uint64_t ticks_per_second) {
  struct penna_stream_header header;
  uint64_t unit[4];
  penna_stream_begin(&header, "firmware example", 0, 0);
  header.ticks_per_second = ticks_per_second;
  print("stream:\n");
  print_bytes(&header, sizeof header);
  penna_unit_thread(unit, kThreadMain, "main");
  print_bytes(unit, penna_unit_bytes(unit));
  penna_unit_thread(unit, kThreadInterrupt, "interrupt");
  print_bytes(unit, penna_unit_bytes(unit));
  for (uint32_t i = 0; i < 8 && sites[i][0] != 0; i++) print_bytes(sites[i], penna_unit_bytes(sites[i]));
  for (uint32_t i = 0; i < kept_count; i++) print_bytes(kept[i], penna_unit_bytes(kept[i]));
  penna_unit_lost_points(unit, told_lost);
  print_bytes(unit, penna_unit_bytes(unit));
}

int main(void) {
  print("penna on bare ");
  print(machine_name);
  print_number("\n", penna_firmware_start(ring, who_runs), " points\n");
  for (uint32_t i = 0; i < 8; i++) penna_firmware_site(sites[i], i + 1);
  machine_start_timer();

  print("all off:\n");
  work(1, "unseen");
  wait_for_ticks(1);
  uint64_t begin = penna_now();
  wait_for_ticks(10);
  uint64_t ticks_per_second = penna_ticks_per_second(); /* if the processor does not report it: measured by the timer */
  if (ticks_per_second == 0) ticks_per_second = (penna_now() - begin) * (kTimerRate / 10);
  drain();

  print_number("on: ", penna_firmware_switch("fw:*", 1), "\n");
  work(2, "copper");
  wait_for_ticks(3);
  work(3, "a name that is far too long to be kept whole in one slot of this small ring");
  drain();

  print_number("off: ", penna_firmware_switch("fw:[rtl]*", 0), "\n");
  work(4, "zinc");
  wait_for_ticks(2);
  drain();

  print("more than the ring holds:\n");
  for (uint32_t job = 1; job <= 10; job++) work(job, "");
  drain();

  print_number("off: ", penna_firmware_switch("*", 0), "\n");
  work(5, "unseen");
  drain();
  print_stream(ticks_per_second);
  print("end\n");
  return 0;
}
