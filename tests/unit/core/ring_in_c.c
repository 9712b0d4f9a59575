/* SPDX-License-Identifier: MIT
 * ring.h in C11: the same ring, written here and read by the C++ side of the test. */
#include "penna/ring.h"

_Alignas(64) unsigned char penna_c_ring[4096];

int c_ring_init(uint32_t slots, uint32_t size) {
  return penna_ring_init((struct penna_ring*)penna_c_ring, slots, size);
}

int c_ring_put(uint32_t value) {
  uint32_t ticket;
  uint32_t* record = penna_ring_reserve((struct penna_ring*)penna_c_ring, &ticket);
  if (record == NULL) return 0;
  *record = value;
  penna_ring_commit((struct penna_ring*)penna_c_ring, ticket);
  return 1;
}

/* Room for two: the third is dropped. */
PENNA_RING_DEFINE(c_static_ring, 2, sizeof(uint32_t));

uint32_t c_static_ring_sum(void) {
  for (uint32_t value = 1; value <= 3; value++) {
    uint32_t ticket;
    uint32_t* record = penna_ring_reserve(c_static_ring, &ticket);
    if (record == NULL) continue;
    *record = value;
    penna_ring_commit(c_static_ring, ticket);
  }
  uint32_t sum = 0, value;
  while (penna_ring_read(c_static_ring, &value)) sum += value;
  return sum;
}
