/* SPDX-License-Identifier: MIT
 *
 * A user's program: every macro and every function of every public header, in C and in C++.
 * tests/abi/user.py compiles it with a user's strictest warnings, and fails when a header has a name that is not used here.
 * Invariant: what it includes comes through -I, so that no warning is hidden as one of a system header.
 */
#include "penna/alloc.h"
#include "penna/allow_attach.h"
#include "penna/channel.h"
#include "penna/clock.h"
#include "penna/control.h"
#include "penna/event.h"
#ifdef USE_FOLLY_SPELLING
#include "folly/tracing/StaticTracepoint.h"
#else
#include "penna/folly.h"
#endif
#include "penna/patch_plan.h"
#include "penna/point.h"
#include "penna/point_abi.h"
#include "penna/recorder.h"
#include "penna/ring.h"
#include "penna/sdt.h"
#include "penna/stream.h"
#include "penna/trigger.h"
#include "penna/usdt.h"
#include "penna/value_plan.h"
#include "penna/version.h"

#include "feather_buffer.h"
#include "feather_userspace.h"
#include "ft_event.h"
#include "ft_userspace.h"
#include "gcc-helper.h"

#ifdef __cplusplus
#define USER_NULL nullptr
#define USER_CAST(type, value) static_cast<type>(value)
#else
#define USER_NULL NULL
#define USER_CAST(type, value) ((type)(value))
#endif

enum user_state { USER_IDLE, USER_BUSY = 7 };

struct user_record {
  uint64_t header, value;
};
struct user_parts {
  unsigned flag : 1, three : 3;
  int low : 5;
};
PENNA_RING_DEFINE(user_ring, 8, sizeof(struct user_record));
PENNA_SDT_DECLARE_SEMAPHORE(user, heard);
PENNA_SDT_DEFINE_SEMAPHORE(user, heard);
USDT_DECLARE_SEMA(user_sema);
USDT_DEFINE_SEMA(user_sema);
FOLLY_SDT_DECLARE_SEMAPHORE(user, folly_heard);
FOLLY_SDT_DEFINE_SEMAPHORE(user, folly_heard)

#if PENNA_VERSION_MAJOR < 0 || PENNA_VERSION_MINOR < 0 || PENNA_VERSION_PATCH < 0
#error "the version is three numbers"
#endif
#if PENNA_VERSION_NUMBER < PENNA_VERSION_ENCODE(0, 1, 0)
#error "an older penna than this program was written for"
#endif

static inline void user_call(int number, const char* text) { (void)number, (void)text; }
static inline void user_callback(long number) { (void)number; }
static inline void user_callback2(long a, long b) { (void)a, (void)b; }
static inline void user_callback3(long a, long b, long c) { (void)a, (void)b, (void)c; }
static inline void user_callback4(long a, long b, long c, long d) { (void)a, (void)b, (void)c, (void)d; }
feather_callback static void user_nothing(void) {}

/* ---- Points: every type, every number of arguments ------------------------------------------------------------------ */

static inline int user_points(const char* text, struct user_parts* parts, const volatile void* address) {
  const signed char sc = -1;
  const unsigned char uc = 1;
  const char c = 'c';
  const short s = -2;
  const unsigned short us = 2;
  const long l = -3;
  const unsigned long ul = 3;
  const long long ll = -4;
  const unsigned long long ull = 4;
  const float f = 0.5f;
  const double d = 0.25;
  const long double ld = 0.125L;
  const enum user_state state = USER_BUSY;
  const char letters[8] = "letters";
  const int numbers[3] = {1, 2, 3};
  const double doubles[2] = {1.5, 2.5};
  const char* const names[2] = {"one", "two"};
  int sum = 0;

  PENNA_EVENT(user, nothing);
  PENNA_EVENT(user, small, sc, uc, c, s, us);
  PENNA_EVENT(user, large, l, ul, ll, ull, f, d, ld);
  PENNA_EVENT(user, texts, text, letters, numbers, doubles, names, "literal", address, state);
  PENNA_EVENT(user, parts, parts->flag, parts->three, parts->low, parts);
  PENNA_EVENT(user, named, PENNA_ARG(size, ul), PENNA_ARG(name, text), PENNA_ARG(rate, f));
  PENNA_EVENT(user, twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  PENNA_EVENT_LAZY(user, lazy_nothing);
  PENNA_EVENT_LAZY(user, lazy_small, sc, uc, c, s, us, ++sum);
  PENNA_EVENT_LAZY(user, lazy_texts, text, letters, numbers, doubles, f, d, ld);
  PENNA_EVENT_LAZY(user, lazy_twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  if (sum) PENNA_EVENT(user, alone);
  for (int i = 0; i < 2; i++) {
    PENNA_SPAN(user, turn, i, text);
    PENNA_SPAN(user, inner);
    if (i == sum) continue;
    sum += i;
  }
  {
    PENNA_SPAN(user, span_of_twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    sum++;
  }
  PENNA_SDT(user, probe);
  PENNA_SDT(user, probe_small, sc, uc, c, s, us);
  PENNA_SDT(user, probe_large, l, ul, ll, ull, f, d, ld);
  PENNA_SDT(user, probe_texts, text, letters, numbers, state, address, *parts);
  PENNA_SDT(user, probe_twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  PENNA_SDT_WITH_SEMAPHORE(user, heard);
  PENNA_SDT_WITH_SEMAPHORE(user, heard, text, f);
  if (PENNA_SDT_IS_ENABLED(user, heard)) sum++;
  USDT(user, usdt);
  USDT_WITH_SEMA(user, usdt_own, text, sum);
  USDT_WITH_EXPLICIT_SEMA(user_sema, user, usdt_given, text);
  if (USDT_IS_ACTIVE(user, usdt_own) || USDT_SEMA_IS_ACTIVE(user_sema)) sum++;
  sum += USDT_SEMA(user_sema).active;
  FOLLY_SDT(user, folly);
  FOLLY_SDT(user, folly_values, text, sc, f, ld);
  FOLLY_SDT_WITH_SEMAPHORE(user, folly_heard, text, sum);
  if (FOLLY_SDT_IS_ENABLED(user, folly_heard)) sum++;
#if PENNA_HAVE_SDT /* else there are no semaphores to look at */
  sum += PENNA_SDT_SEMAPHORE(user, heard) != 0;
  sum += FOLLY_SDT_SEMAPHORE(user, folly_heard) != 0;
#endif
  return sum + FOLLY_HAVE_SDT + PENNA_HAVE_SDT;
}

static inline void user_pools(void* block, size_t bytes) {
  PENNA_POOL_ALLOC("user", block, bytes);
  if (block) PENNA_POOL_FREE("user", block);
}

/* ---- Triggers and their switches ------------------------------------------------------------------------------------ */

static inline int user_list(const penna_point_status* point, void* data) {
  *USER_CAST(unsigned*, data) += point->wanted + point->line + point->kind + point->number;
  return point->provider != USER_NULL && point->name != USER_NULL && point->file != USER_NULL;
}

static inline int user_triggers(const char* text) {
  unsigned count = 0;
  PENNA_TRIGGER(user, trigger, user_call, 7, text);
  PENNA_TRIGGER(user, empty, user_nothing);
  PENNA_TRIGGER_ID(25, user_call, 7, text);
  return penna_enable("user:*") + penna_disable("user:*") + penna_is_enabled("user:*") + penna_enable_id(25) +
         penna_disable_id(25) + penna_is_enabled_id(25) + penna_list("*", user_list, &count) + penna_disable_all();
}

/* ---- Feather-Trace ---------------------------------------------------------------------------------------------------- */

static inline long user_feather(int unused(parameter)) {
  struct trace_event table[1] = {{1, 2, 3, 4}};
  struct ft_buffer buffer;
  void* record = USER_NULL;
  void* handle = USER_NULL;
  long sum = init_ft_events();
  INIT_FT_EVENTS();
  ft_event(1, user_nothing);
  ft_event0(2, user_callback);
  ft_event1(3, user_callback2, 1);
  ft_event2(4, user_callback3, 1, 2);
  ft_event3(5, user_callback4, 1, 2, 3);
  sum += ft_enable_event(1) + ft_disable_event(1) + ft_is_event_enabled(1) + ft_disable_all_events();
  sum += ft_enable_event_in_table(1, table, table + 1) + ft_disable_event_in_table(1, table, table + 1) +
         ft_is_event_enabled_in_table(1, table, table + 1) + ft_disable_all_events_in_table(table, table + 1);
  sum += USER_CAST(long, (microtime() & 1)) + USER_CAST(long, (ft_read_tsc() & 1));
  if (!init_ft_buffer(&buffer, 8, sizeof(struct user_record), USER_NULL, USER_NULL)) return sum;
  if (ft_buffer_start_write(&buffer, &record)) ft_buffer_finish_write(&buffer, record);
  {
    struct user_record copy;
    sum += ft_buffer_read(&buffer, &copy);
  }
  {
    struct ft_buffer* one = alloc_ft_buffer(8, 16);
    struct ft_buffer* flushed = alloc_flushed_ft_buffer(8, 16, "/dev/null", &handle);
    void* second = one != USER_NULL ? ft_flush_buffer_async(one, -1) : USER_NULL;
    ft_flush_buffer_stop(handle);
    ft_flush_buffer_stop(second);
    free(flushed);
    free(one);
  }
  return sum;
}

/* ---- Rings and streams ------------------------------------------------------------------------------------------------ */

static inline uint32_t user_rings(void) {
  struct user_record records[4];
  struct penna_ring* const made =
      USER_CAST(struct penna_ring*, calloc(1, PENNA_RING_BYTES(8, 16) + penna_ring_bytes(8, 16)));
  uint32_t ticket = 0, sum = 0;
  struct user_record* const record = USER_CAST(struct user_record*, penna_ring_reserve(user_ring, &ticket));
  if (record) {
    record->header = penna_full_header(PENNA_KIND_POINT, 2, penna_now());
    record->value = penna_call_header(PENNA_TAG_ENTRY, 1, 2);
    penna_ring_commit(user_ring, ticket);
  }
  sum += penna_ring_read_many(user_ring, records, 4) + USER_CAST(uint32_t, penna_ring_read(user_ring, records));
  sum += penna_ring_read_checked(user_ring, 8, sizeof records[0], records, 4);
  sum += USER_CAST(uint32_t, penna_ring_abandon(user_ring)) +
         USER_CAST(uint32_t, penna_ring_abandon_checked(user_ring, 8, 16));
  sum += penna_ring_dropped(user_ring) + penna_ring_abandoned(user_ring);
  if (made && PENNA_RING_IS_VALID(8u))
    sum += USER_CAST(uint32_t, (penna_ring_init(made, 8, 16) + penna_ring_init_zeroed(made, 8, 16)));
  free(made);
  return sum + USER_CAST(uint32_t, PENNA_RING_STRIDE(16)) + penna_header_tag(records[0].header) +
         penna_header_kind(records[0].header) + penna_header_words(records[0].header) +
         USER_CAST(uint32_t, penna_header_time(records[0].header, penna_now())) +
         USER_CAST(uint32_t, penna_extend_time(1, 2, PENNA_CALL_TIME_BITS)) +
         USER_CAST(uint32_t, penna_ticks_per_second());
}

static inline uint32_t user_streams(uint64_t* unit, const char* text) {
  struct penna_stream_header header;
  penna_stream_begin(&header, text, 1, 2);
  penna_unit_site(unit, 1, PENNA_SITE_EVENT, 2, 3, text, 40, 2, PENNA_ARG_INT | PENNA_ARG_STRING << 4);
  penna_unit_thread(unit, 4, text);
  penna_unit_lost_points(unit, 5);
  penna_unit_end(unit, penna_unit_put_string(penna_unit_put_word(penna_unit_point(unit, 4, 1), 7), text, 24));
  penna_unit_end(unit, penna_unit_begin(unit, 1, PENNA_KIND_PAD));
  return penna_unit_bytes(unit) + USER_CAST(uint32_t, (PENNA_ADDRESS_MASK & PENNA_ELEMENTS(PENNA_ARG_INT, 4))) +
         (PENNA_NO_NUMBER == UINT32_MAX) + (PENNA_SOURCE_MARK == '\1') + USER_CAST(uint32_t, sizeof(PENNA_NAME_MARK)) +
         USER_CAST(uint32_t, (PENNA_TEXT_ENDS_AT_ZERO >> 63)) + USER_CAST(uint32_t, (PENNA_TYPES_HAVE_LAYOUT >> 52)) +
         USER_CAST(uint32_t, (PENNA_STREAM_MAGIC & PENNA_CHANNEL_MAGIC & PENNA_PATCH_MAGIC & PENNA_UNIT_MARK));
}

/* ---- A recorder of its own -------------------------------------------------------------------------------------------- */

static inline int user_recorder(const char* file) {
  char error[256];
  penna_recorder_options options = {sizeof options, file, "points", "user:*", USER_NULL, 4, 16, 0, 0};
  return penna_recorder_start(&options, error, sizeof error) + penna_recorder_stop(USER_NULL, 0) + penna_allow_attach();
}

static inline int user_all(const char* text) {
  struct user_parts parts = {1, 2, -3};
  uint64_t unit[PENNA_MAX_UNIT_WORDS];
  long sum = user_points(text, &parts, text) + user_triggers(text) + user_feather(1) + user_recorder(text);
  user_pools(unit, sizeof unit);
  sum += USER_CAST(long, user_rings()) + USER_CAST(long, user_streams(unit, text)) +
         USER_CAST(long, sizeof(PENNA_VERSION));
  return USER_CAST(int, sum);
}
