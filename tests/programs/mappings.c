/* SPDX-License-Identifier: MIT
 * Mappings that are cut, mapped over, moved and given back; and the end of the data segment. Leaves 3 + 3 + 4 pages. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  char* a = mmap(0, 14 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(a + 10 * 4096, 4 * 4096);
  munmap(a + 3 * 4096, 2 * 4096); /* a hole: 3 + 5 pages */
  char* b = mmap(a + 8 * 4096, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0); /* 2 of a replaced, 2 behind */
  char* c = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  c = mremap(c, 4096, 16 * 4096, MREMAP_MAYMOVE);
  mmap(0, 4096, PROT_READ, MAP_PRIVATE, 9999, 0); /* fails */
  munmap((void*)1, 4096);                         /* fails */
  void* top = sbrk(8192);
  sbrk(-4096);
  brk(top);
  munmap(c, 16 * 4096);
  printf("%d %d\n", b == a + 8 * 4096, top != (void*)-1);
  return 0;
}
