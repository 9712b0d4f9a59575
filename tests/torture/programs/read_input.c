/* SPDX-License-Identifier: MIT
 * Reads stdin to its end in small pieces and prints its size and a checksum: no byte may be lost or stolen. */
#include "torture.h"

NOINLINE static unsigned long mix(unsigned long sum, const char* piece, size_t size) {
  for (size_t i = 0; i < size; i++) sum = sum * 31 + (unsigned char)piece[i];
  return sum;
}

int main(void) {
  unsigned long sum = 0, total = 0;
  ssize_t size;
  char* piece = malloc(4096);
  while ((size = read(0, piece, 4096)) > 0) sum = mix(sum, piece, (size_t)size), total += (unsigned long)size;
  free(piece);
  printf("%lu bytes, sum %lx, end %zd\n", total, sum, size);
}
