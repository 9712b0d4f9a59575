// SPDX-License-Identifier: MIT
// The functions of Feather-Trace one after the other, as its users expect them (FT1 to FT3, FT5, FT6, FT9, FT12). In C and C++.
// Invariant: exits with the line of the first check that fails modulo 255, or with 0.
#include "feather_trace.h"

#define CHECK(condition) \
  if (!(condition)) return fprintf(stderr, "line %d: %s\n", __LINE__, #condition), 1 + __LINE__ % 255

enum { WRITERS = 4, EACH = 20000 };
static char seen[200];
static struct ft_buffer* shared;
static int is_over;

feather_callback static void nothing(void) { strcat(seen, "-"); }
feather_callback static void just(int id) { sprintf(seen + strlen(seen), "%d ", id); }
feather_callback static void one(int id, char* text) { sprintf(seen + strlen(seen), "%d:%s ", id, text); }
feather_callback static void two(long id, void* a, int b) {
  sprintf(seen + strlen(seen), "%ld:%d:%d ", id, a != NULL, b);
}
feather_callback static void three(int id, unsigned char a, long b, const char* c) {
  sprintf(seen + strlen(seen), "%d:%d:%ld:%s ", id, a, b, c);
}

static const char* fire(void) {
  static char text[] = "text";
  seen[0] = '\0';
  ft_event(11, nothing);
  ft_event0(25, just);
  ft_event1(99, one, text);
  ft_event2(25, two, &text, -7);
  ft_event3(99, three, 200, -1234567890123, "x");
  return seen;
}

// FT1, FT3: enables count, and never fall below none.
static int switches(void) {
  CHECK(init_ft_events());
  CHECK(strcmp(fire(), "") == 0);
  CHECK(ft_enable_event(25) == 2 && ft_is_event_enabled(25) == 2 && ft_is_event_enabled(99) == 0);
  CHECK(strcmp(fire(), "25 25:1:-7 ") == 0);
  CHECK(ft_enable_event(99) == 2 && ft_enable_event(11) == 1);
  CHECK(strcmp(fire(), "-25 99:text 25:1:-7 99:200:-1234567890123:x ") == 0);
  CHECK(ft_enable_event(25) == 2 && ft_disable_event(25) == 2 && ft_is_event_enabled(25) == 2);
  CHECK(ft_disable_event(25) == 2 && ft_is_event_enabled(25) == 0);
  CHECK(ft_disable_event(25) == 2 && ft_enable_event(25) == 2 && ft_is_event_enabled(25) == 2);
  CHECK(ft_enable_event(1234) == 0 && ft_enable_event(1ul << 40) == 0);
  PENNA_EVENT(test, recorded, 1);
  CHECK(ft_disable_all_events() == 5 && strcmp(fire(), "") == 0);
  return 0;
}

// FT2, FT5.
static int buffers(void) {
  struct ft_buffer own;
  char states[4], data[4 * sizeof(long)];
  for (unsigned count = 0; count <= 64; count++)
    CHECK(init_ft_buffer(&own, count, sizeof(long), NULL, NULL) == (count != 0 && (count & (count - 1)) == 0));
  CHECK(alloc_ft_buffer(0, 8) == NULL && alloc_ft_buffer(3, 8) == NULL);
  CHECK(init_ft_buffer(&own, 4, sizeof(long), states, data) == 1);
  for (long round = 0; round < 3; round++) {
    for (long i = 0; i < 5; i++) {
      long* slot;
      CHECK(ft_buffer_start_write(&own, (void**)&slot) == (i < 4) && (slot != NULL) == (i < 4));
      if (slot == NULL) continue;
      *slot = round * 10 + i;
      ft_buffer_finish_write(&own, slot);
    }
    CHECK(own.failed_writes == round + 1);
    long got = -1;
    for (long i = 0; i < 4; i++) CHECK(ft_buffer_read(&own, &got) == 1 && got == round * 10 + i);
    CHECK(ft_buffer_read(&own, &got) == 0);
  }
  return 0;
}

// FT6: each record once, those of a thread in their order, or counted.
static void* write_many(void* number) {
  for (long i = 0; i < EACH; i++) {
    long* slot;
    if (!ft_buffer_start_write(shared, (void**)&slot)) continue;
    slot[0] = (long)number;
    slot[1] = i;
    slot[2] = ~i;
    ft_buffer_finish_write(shared, slot);
  }
  __atomic_fetch_add(&is_over, 1, __ATOMIC_RELEASE);
  return NULL;
}
static int many_writers(void) {
  pthread_t threads[WRITERS];
  long record[3], last[WRITERS], count = 0;
  shared = alloc_ft_buffer(64, sizeof record);
  for (long i = 0; i < WRITERS; i++) {
    last[i] = -1;
    pthread_create(&threads[i], NULL, write_many, (void*)i);
  }
  for (int is_last = 0;;) {
    while (ft_buffer_read(shared, record)) {
      CHECK(record[0] >= 0 && record[0] < WRITERS && record[2] == ~record[1] && record[1] > last[record[0]]);
      last[record[0]] = record[1];
      count++;
    }
    if (is_last) break;
    is_last = __atomic_load_n(&is_over, __ATOMIC_ACQUIRE) == WRITERS;
  }
  for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
  CHECK(count > 0 && count + shared->failed_writes == WRITERS * EACH);
  free(shared);
  return 0;
}

// FT9: a writer that never finishes keeps nobody's record back; and the end is not a second away.
static int flushing(const char* path) {
  void* flusher;
  void* never;
  struct ft_buffer* buffer = alloc_flushed_ft_buffer(8, sizeof(long), path, &flusher);
  for (long i = 0; i < 6; i++) {
    long* slot;
    CHECK(ft_buffer_start_write(buffer, (void**)&slot));
    *slot = i;
    ft_buffer_finish_write(buffer, slot);
    if (i == 2) CHECK(ft_buffer_start_write(buffer, &never));
  }
  const unsigned long long start = microtime(), cycles = ft_read_tsc();
  ft_flush_buffer_stop(flusher);
  CHECK(microtime() - start < 500000);
  CHECK(ft_read_tsc() > cycles && penna_ring_abandoned(buffer->ring) == 1);
  free(buffer);
  ft_flush_buffer_stop(NULL);
  return 0;
}

// Several that never finish, in a buffer that is full because of them: writers have room again long before a second is over.
static int crowded(const char* path) {
  enum { SLOTS = 8, NEVER = 5, MANY = 1000 };
  void* flusher;
  void* never;
  struct ft_buffer* buffer = alloc_flushed_ft_buffer(SLOTS, sizeof(long), path, &flusher);
  for (int i = 0; i < NEVER; i++) CHECK(ft_buffer_start_write(buffer, &never));
  const unsigned long long start = microtime();
  for (long i = 0; i < MANY; i++) {
    long* slot;
    while (!ft_buffer_start_write(buffer, (void**)&slot)) poll(NULL, 0, 1);
    *slot = i;
    ft_buffer_finish_write(buffer, slot);
    CHECK(i > SLOTS || microtime() - start < 900000);
  }
  ft_flush_buffer_stop(flusher);
  CHECK(penna_ring_abandoned(buffer->ring) == NEVER);
  free(buffer);
  FILE* file = fopen(path, "rb");
  for (long i = 0, got; i < MANY; i++) CHECK(fread(&got, sizeof got, 1, file) == 1 && got == i);
  CHECK(getc(file) == EOF);
  fclose(file);
  return 0;
}

int main(int argc, char** argv) {
  int line = switches();
  if (line == 0) line = buffers();
  if (line == 0) line = many_writers();
  if (line == 0 && argc > 1) line = crowded(argv[1]);
  if (line == 0 && argc > 1) line = flushing(argv[1]);
  return line;
}
