/* SPDX-License-Identifier: MIT
 * A program's own pool that reports what it hands out: fixed slots for requests, and an arena for their text.
 *
 *     cc -O2 -I include examples/pools.c -o pools
 *     penna record -k alloc -- ./pools && penna replay pools.*.penna
 * Without penna each PENNA_POOL_ALLOC and PENNA_POOL_FREE is one nop. */
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
  PENNA_POOL_ALLOC("texts", text, bytes);
  return text;
}

static struct request* take_request(const char* text) {
  struct request* request = unused;
  if (request == NULL) return NULL;
  unused = request->next;
  PENNA_POOL_ALLOC("requests", request, sizeof *request); /* after the pool's own work */
  request->text = copy_text(text);
  return request;
}

static void give_back(struct request* request) {
  PENNA_POOL_FREE("texts", request->text);
  PENNA_POOL_FREE("requests", request); /* before it */
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
