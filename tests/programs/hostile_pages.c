/* SPDX-License-Identifier: MIT
 * A target that gives up root, then writes what it likes into every page that it shares with the recorder, until it ends.
 *     hostile_pages UID [SEED [ROUNDS]]
 * Says how many of them it could write. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 16 };
static struct {
  uint8_t* begin;
  size_t bytes;
} pages[MOST];

static int find_pages(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && found < MOST && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    char rights[8];
    if (strstr(line, "memfd:penna-") == NULL || sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    if (rights[1] != 'w' && mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE) != 0) continue;
    pages[found].begin = (uint8_t*)begin;
    pages[found++].bytes = end - begin;
  }
  if (maps != NULL) fclose(maps);
  return found;
}

/* Values at which checks break, or any. */
static uint64_t value(void) {
  static const uint64_t kBorders[] = {0,          1,          0x41414140, 0x4242424041414140, 0x7fffffff,
                                      0x80000000, 0xffffffff, UINT64_MAX, 1ull << 63,         1ull << 26,
                                      0xC1FC1FC1, 65536,      4096};
  const long pick = random();
  return pick % 2 != 0 ? kBorders[(size_t)(pick / 2) % (sizeof kBorders / sizeof *kBorders)]
                       : (uint64_t)random() << 40 ^ (uint64_t)random() << 16 ^ (uint64_t)random();
}

int main(int argc, char** argv) {
  const int found = find_pages();
  long round, rounds = argc > 3 ? atol(argv[3]) : 20000;
  uint64_t* first = NULL;
  int i;
  if (argc < 2 || setresgid(65534, 65534, 65534) != 0 ||
      setresuid((uid_t)atoi(argv[1]), (uid_t)atoi(argv[1]), (uid_t)atoi(argv[1])) != 0)
    return 1;
  srandom(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
  printf("%d pages\n", found);
  fflush(stdout);
  for (i = 0; i < found; ++i) {
    if (pages[i].bytes == 4096) first = (uint64_t*)pages[i].begin;
    /* The reported case: a pthread_mutex_t lay at 64, with its list in these words. */
    if (pages[i].bytes == 4096) first[8 + 3] = 0x41414140, first[8 + 4] = 0x42424240;
  }
  for (round = 0; round < rounds && found > 0; ++round) {
    const int page = (int)(random() % found);
    /* Headers lie in front: most writes go there. */
    const size_t span = random() % 4 != 0 && pages[page].bytes > 8192 ? 8192 : pages[page].bytes;
    const size_t at = ((size_t)random() * 8) % span;
    const uint64_t chosen = value();
    memcpy(pages[page].begin + at, &chosen, sizeof chosen);
    if (round % 64 == 0) free(malloc((size_t)(random() % 1000)));
  }
  _exit(7);
}
