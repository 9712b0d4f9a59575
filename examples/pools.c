/* SPDX-License-Identifier: MIT
 * A pool of the program's own that tells what it gives out: fixed slots for requests, and an arena for their text.
 *
 *     cc -O2 -I include examples/pools.c -o pools
 *     penna record -k alloc -- ./pools && penna replay pools.*.penna
 * Without penna each penna_alloc and penna_free is one nop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penna/alloc.h"

enum { SLOTS = 4, ARENA = 256 };

struct request {
  struct request* next; /* in the free list */
  char* text;
};
static struct request slots[SLOTS], *unused;
static char* arena;
static size_t arena_used;

static char* copy_text(const char* from) {
  size_t bytes = strlen(from) + 1;
  if (arena_used + bytes > ARENA) return NULL;
  char* text = memcpy(arena + arena_used, from, bytes);
  arena_used += bytes;
  penna_alloc("texts", text, bytes);
  return text;
}

static struct request* take_request(const char* text) {
  struct request* request = unused;
  if (request == NULL) return NULL;
  unused = request->next;
  penna_alloc("requests", request, sizeof *request); /* behind the pool's own work */
  request->text = copy_text(text);
  return request;
}

static void give_back(struct request* request) {
  penna_free("texts", request->text);
  penna_free("requests", request); /* before it */
  request->next = unused;
  unused = request;
}

int main(void) {
  arena = malloc(ARENA);
  for (int i = 0; i < SLOTS; i++) slots[i].next = unused, unused = &slots[i];
  struct request* first = take_request("GET /");
  struct request* second = take_request("GET /leak");
  give_back(first);
  printf("%s stays\n", second->text);
  free(arena);
  return 0;
}
