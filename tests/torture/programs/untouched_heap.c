/* SPDX-License-Identifier: MIT
 * The state of its heap before it allocates, and the addresses of its first blocks: no earlier allocation may have been
 * made there. */
#include <malloc.h>

#include "torture.h"

int main(void) {
  struct mallinfo2 before = mallinfo2();
  char* bottom = sbrk(0);
  char *small = malloc(24), *text = malloc(88), *large = malloc(5000);
  printf("before: %zu bytes of heap, %zu of them in use\n", before.arena, before.uordblks);
  printf("blocks at %td, %td and %td\n", small - bottom, text - bottom, large - bottom);
  free(small), free(text), free(large);
  printf("work: %ld\n", work(10));
  return 0;
}
