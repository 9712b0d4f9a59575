/* SPDX-License-Identifier: MIT
 * Points on any processor, in C and in C++, recorded by penna/firmware.h into a ring: the same results with sites on and
 * off, every value, and the code's own bytes afterwards. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "penna/firmware.h"
#include "penna/trigger.h"

#define CHECK(condition)                                   \
  do {                                                     \
    if (!(condition)) {                                    \
      printf("FAIL: line %d: %s\n", __LINE__, #condition); \
      return 1;                                            \
    }                                                      \
  } while (0)

enum { kSlots = 64, kSlotBytes = 256, kPoints = 7, kPointsAndEnds = 8, kTriggers = 2 };
PENNA_RING_DEFINE(ring, kSlots, kSlotBytes);

extern const char __executable_start, etext;
static uint32_t thread_seven(void) { return 7; }

/* Each call runs the site. */
#define APART __attribute__((noinline))

/* Many values live across the site, in registers of both kinds. */
APART static double mixture(int n, double x) {
  int a = n + 1, b = n * 3, c = n ^ 5, d = n - 7, e = n << 2, f = n + 11;
  double p = x + 0.5, q = x * 2, r = x - 3, s = x / 4;
  PENNA_EVENT(port, mixture, a, p);
  return a + b * 2 + c * 3 + d * 5 + e * 7 + f * 11 + p + q * 2 + r * 3 + s * 5;
}
APART static void integers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g,
                           unsigned long long h) {
  PENNA_EVENT(port, integers, a, b, c, d, e, f, g, h);
}
APART static void others(bool yes, char letter, float half, const void* at, const char* text) {
  PENNA_EVENT(port, others, yes, letter, half, at, text);
}
APART static void twelve(int n) {
  PENNA_EVENT(port, twelve, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11);
}
APART static void nothing(void) { PENNA_EVENT(port, nothing); }
APART static int span(int n) {
  PENNA_SPAN(port, span, n);
  if (n > 3) return n;
  nothing();
  return n + 1;
}
APART static void lazy(int* evaluated) { PENNA_EVENT_LAZY(port, lazy, ++*evaluated); }

/* A callback may do anything: this one uses registers of both kinds, and a site of its own. */
static double called;
static void on_call(int n, double x) {
  nothing();
  called = called * 2 + n + x;
}
APART static double triggers(int n, double x) {
  double kept = x * 3;
  PENNA_TRIGGER(port, by_name, on_call, n, x);
  PENNA_TRIGGER_ID(25, on_call, n + 1, kept);
  return kept + n;
}

static uint64_t unit[kSlotBytes / 8];
/* The next record; its values, or NULL. */
static const uint64_t* next_record(uint32_t* site, uint32_t* words) {
  if (!penna_ring_read(ring, unit)) return NULL;
  *site = (uint32_t)unit[2];
  *words = penna_header_words(unit[1]) - 2;
  return (uint32_t)unit[0] == 7 && penna_header_kind(unit[1]) == PENNA_KIND_POINT ? unit + 3 : NULL;
}

static int all_values(void) {
  static const char text[] = "a string of more than sixteen letters";
  uint32_t site, words;
  integers(-128, 255, -32768, 65535, -2147483647 - 1, 4294967295u, -9223372036854775807LL - 1, 18446744073709551615ULL);
  const uint64_t* v = next_record(&site, &words);
  CHECK(v && words == 8);
  CHECK((int64_t)v[0] == -128 && v[1] == 255 && (int64_t)v[2] == -32768 && v[3] == 65535);
  CHECK((int64_t)v[4] == INT32_MIN && v[5] == UINT32_MAX && (int64_t)v[6] == INT64_MIN && v[7] == UINT64_MAX);
  others(1, 'x', 0.5f, &site, text);
  double half = 0.5;
  v = next_record(&site, &words);
  CHECK(v && words == 4 + 1 + (sizeof text - 1 + 7) / 8);
  CHECK(v[0] == 1 && v[1] == 'x' && memcmp(&v[2], &half, 8) == 0 && v[3] == (uintptr_t)&site);
  CHECK(v[4] == sizeof text - 1 && memcmp(v + 5, text, sizeof text - 1) == 0);
  others(0, 'y', 0, NULL, NULL);
  v = next_record(&site, &words);
  CHECK(v && v[3] == 0 && v[4] == 6 && memcmp(v + 5, "(null)\0", 8) == 0);
  char longer[1000];
  memset(longer, 'l', sizeof longer);
  longer[999] = '\0';
  others(0, 'z', 0, NULL, longer);
  v = next_record(&site, &words);
  CHECK(v && v[4] >> 32 == PENNA_STRING_CUT && (uint32_t)v[4] == (kSlotBytes / 8 - 3 - 5) * 8);
  CHECK(memcmp(v + 5, longer, (uint32_t)v[4]) == 0);
  twelve(100);
  v = next_record(&site, &words);
  CHECK(v && words == 12);
  for (int i = 0; i < 12; i++) CHECK(v[i] == 100u + (unsigned)i);
  nothing();
  v = next_record(&site, &words);
  CHECK(v && words == 0);
  uint32_t of_nothing = site, begin = 0;
  CHECK(span(3) == 4 && span(4) == 4);
  for (int n = 3; n <= 4; n++) { /* the span's beginning, what is in it, its end */
    v = next_record(&site, &words);
    CHECK(v && words == 1 && v[0] == (unsigned)n && (begin == 0 || begin == site));
    begin = site;
    if (n == 3) CHECK(next_record(&site, &words) && site == of_nothing);
    CHECK(next_record(&site, &words) && words == 0 && site != begin && site != of_nothing);
  }
  CHECK(next_record(&site, &words) == NULL);
  return 0;
}

static int switching(void) {
  uint32_t site, words;
  int evaluated = 0;
  lazy(&evaluated);
  CHECK(evaluated == 0);
  CHECK(penna_firmware_switch("port:lazy", 1) == 1 && penna_firmware_switch("port:l*", 1) == 1);
  lazy(&evaluated);
  CHECK(evaluated == 1);
  const uint64_t* v = next_record(&site, &words);
  CHECK(v && words == 1 && v[0] == 1);
  CHECK(penna_firmware_switch("port:lazy", 0) == 1); /* switched on twice, off once */
  lazy(&evaluated);
  CHECK(evaluated == 2 && next_record(&site, &words));
  CHECK(penna_firmware_switch("port:lazy", 0) == 1 && penna_firmware_switch("port:lazy", 0) == 1);
  lazy(&evaluated);
  CHECK(evaluated == 2 && !next_record(&site, &words));
  CHECK(penna_firmware_switch("port:lazy", 1) == 1); /* once too often off does not count */
  lazy(&evaluated);
  CHECK(evaluated == 3 && next_record(&site, &words));
  CHECK(penna_firmware_switch("*", 0) == kPoints + kTriggers);
  CHECK(penna_firmware_switch("other:*", 1) == 0);
  return 0;
}

static int triggering(void) {
  uint32_t site, words;
  CHECK(triggers(1, 0.5) == 2.5 && called == 0);
  CHECK(penna_firmware_switch("25", 1) == 1 && penna_firmware_switch("port:by*", 1) == 1);
  CHECK(triggers(1, 0.5) == 2.5 && called == 2 * 1.5 + 3.5);
  CHECK(penna_firmware_switch("25", 0) == 1);
  CHECK(triggers(2, 1) == 5 && called == 6.5 * 2 + 3);
  CHECK(!next_record(&site, &words));
  CHECK(penna_firmware_switch("port:nothing", 1) == 1);
  CHECK(triggers(2, 1) == 5 && next_record(&site, &words) && !next_record(&site, &words));
  CHECK(penna_firmware_switch("*", 0) == kPoints + kTriggers);
  called = 0;
  CHECK(triggers(2, 1) == 5 && called == 0);
  return 0;
}

#ifdef __cplusplus
extern "C" /* without a hosted library it is a name like others */
#endif
    int
    main(void) {
  uintptr_t start = (uintptr_t)&__executable_start & ~(uintptr_t)4095, end = (uintptr_t)&etext;
  static unsigned char code[1 << 20];
  uint32_t site, words;
  uint64_t unit_of_site[PENNA_MAX_UNIT_WORDS];
  CHECK(end - start <= sizeof code);
  CHECK(mprotect((void*)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  CHECK(penna_firmware_start(ring, thread_seven) == kPointsAndEnds);
  for (uint32_t id = 1; id <= kPointsAndEnds; id++) CHECK(penna_firmware_site(unit_of_site, id));
  CHECK(!penna_firmware_site(unit_of_site, kPointsAndEnds + 1) && !penna_firmware_site(unit_of_site, 0));
  memcpy(code, (void*)start, end - start);

  double off = 0, on = 0, again = 0;
  for (int i = 0; i < 20; i++) off += mixture(i, i * 1.25);
  CHECK(!next_record(&site, &words));
  CHECK(penna_firmware_switch("port:[!lb]*", 1) == kPoints - 1);
  for (int i = 0; i < 20; i++) on += mixture(i, i * 1.25);
  for (int i = 0; i < 20; i++) {
    const uint64_t* v = next_record(&site, &words);
    double p = i * 1.25 + 0.5;
    CHECK(v && words == 2 && v[0] == (unsigned)i + 1 && memcmp(&v[1], &p, 8) == 0);
  }
  if (all_values()) return 1;
  for (int i = 0; i < kSlots + 9; i++) nothing();
  CHECK(penna_ring_dropped(ring) == 9);
  for (int i = 0; i < kSlots; i++) CHECK(next_record(&site, &words));
  CHECK(penna_firmware_switch("*:*", 0) == kPoints + kTriggers);
  for (int i = 0; i < 20; i++) again += mixture(i, i * 1.25);
  CHECK(!next_record(&site, &words));
  CHECK(off == on && off == again);
  if (switching() || triggering()) return 1;
  CHECK(memcmp(code, (void*)start, end - start) == 0);
  printf("ok\n");
  return 0;
}
