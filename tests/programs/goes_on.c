// SPDX-License-Identifier: MIT
// ./goes_on: allocates a block and prints a line a millisecond until there is a file named end; its status is 3.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void* volatile block;
int main(void) {
  for (int i = 0; access("end", F_OK) != 0; ++i) {
    block = malloc(100);
    free(block);
    printf("%d\n", i);
    fflush(stdout);
    usleep(1000);
  }
  return 3;
}
