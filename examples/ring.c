// SPDX-License-Identifier: MIT
#include "penna/ring.h"
#include <stdio.h>

struct sample {
  unsigned channel, value;
};
PENNA_RING_DEFINE(samples, 1024, sizeof(struct sample)); /* static, ready before any code runs */

static void on_sample(unsigned channel, unsigned value) {
  uint32_t ticket;
  struct sample* sample = penna_ring_reserve(samples, &ticket);
  if (sample == NULL) return; /* full: counted */
  *sample = (struct sample){channel, value};
  penna_ring_commit(samples, ticket);
}

int main(void) {
  struct sample batch[16];
  on_sample(1, 42);
  on_sample(2, 43);
  uint32_t count = penna_ring_read_many(samples, batch, 16);
  for (uint32_t i = 0; i < count; i++) printf("%u: %u\n", batch[i].channel, batch[i].value);
  printf("%u dropped\n", penna_ring_dropped(samples));
}
