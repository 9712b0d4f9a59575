/* SPDX-License-Identifier: MIT
 *
 * A program in the style of Feather-Trace: two events, and a buffer that a thread saves to kettle.ft.
 *     gcc $(pkg-config --cflags penna) -I$(pkg-config --variable=compatdir penna)/feather-trace examples/kettle.c -o kettle
 * Invariant: an event that is off does nothing.
 */
#include <stdio.h>

#include "ft_userspace.h"

#define WARMER 10
#define BOILS 20

/* What a slot of the buffer holds. */
struct reading {
  int event;
  int degrees;
  unsigned long long when;
};

static struct ft_buffer* readings;

feather_callback static void keep(int event, int degrees) {
  struct reading* reading;
  if (ft_buffer_start_write(readings, (void**)&reading)) {
    reading->event = event;
    reading->degrees = degrees;
    reading->when = microtime();
    ft_buffer_finish_write(readings, reading);
  }
}

feather_callback static void whistle(int event) { printf("event %d: it boils\n", event); }

static void heat(const char* kettle) {
  printf("%s kettle\n", kettle);
  for (int degrees = 20; degrees <= 100; degrees += 20) {
    ft_event1(WARMER, keep, degrees);
    if (degrees == 100) ft_event0(BOILS, whistle);
  }
}

int main(void) {
  void* flusher;
  if (!init_ft_events()) return 1;
  readings = alloc_flushed_ft_buffer(64, sizeof(struct reading), "kettle.ft", &flusher);
  heat("first"); /* nothing is on */
  printf("%d and %d triggers are on\n", ft_enable_event(WARMER), ft_enable_event(BOILS));
  heat("second");
  ft_disable_event(BOILS);
  heat("third");
  ft_disable_all_events();
  heat("fourth");
  ft_flush_buffer_stop(flusher);
  printf("%u readings without room\n", readings->failed_writes);
  free(readings);
  return 0;
}
