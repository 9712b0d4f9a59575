// SPDX-License-Identifier: MIT
// ring.h shared by all threads, beside its lower bounds.
//
// The third argument: add (one locked add on a shared word), store (the same, and the 24 bytes that it assigns are
// stored), write (a record of 16 bytes into the ring), pair (write, then read), pairs (64 times write, then 64 read at
// once; one thread). There is no reader while `write` is measured: records are skipped unread, half a ring behind.
#include <cstdint>
#include <cstring>

#include "harness.h"
#include "penna/ring.h"

namespace {

constexpr uint32_t kSlots = 1 << 14, kBatch = 64;

struct Record {
  uint64_t value, thread;
};
PENNA_RING_DEFINE(shared_ring, kSlots, sizeof(Record));

alignas(64) uint64_t shared_word;
alignas(64) uint64_t words[kSlots * 3];

long add(long iterations, int) {
  for (long i = 0; i < iterations; ++i) __atomic_fetch_add(&shared_word, 1, __ATOMIC_RELAXED);
  return iterations;
}

long store(long iterations, int thread) {
  for (long i = 0; i < iterations; ++i) {
    uint64_t ticket = __atomic_fetch_add(&shared_word, 1, __ATOMIC_RELAXED);
    uint64_t* to = words + ticket % kSlots * 3;
    to[1] = static_cast<uint64_t>(i);
    to[2] = static_cast<uint64_t>(thread);
    __atomic_store_n(to, ticket, __ATOMIC_RELEASE);
  }
  return iterations;
}

// True if there was room.
inline bool put(uint64_t value, int thread) {
  uint32_t ticket;
  auto* record = static_cast<Record*>(penna_ring_reserve(shared_ring, &ticket));
  if (record == nullptr) return false;
  *record = {value, static_cast<uint64_t>(thread)};
  penna_ring_commit(shared_ring, ticket);
  return true;
}

// The first thread to get here acts as the reader.
void make_room() {
  static bool busy;
  if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE)) return;
  penna_tickets tickets = __atomic_load_n(&shared_ring->tickets, __ATOMIC_RELAXED);
  penna_ticket passed = penna_tickets_passed(tickets),
               waiting = penna_ticket_since(penna_tickets_drawn(tickets), passed);
  if (waiting > kSlots / 2) penna_ring_pass(shared_ring, kSlots, sizeof(Record), passed, waiting - kSlots / 2);
  __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

long write(long iterations, int thread) {
  for (long i = 0; i < iterations; ++i) {
    if (i % 1024 == 0) make_room();
    while (!put(static_cast<uint64_t>(i), thread)) make_room();
  }
  return iterations;
}

template <uint32_t Batch>
long pairs(long iterations, int thread) {
  Record records[Batch];
  long done = 0;
  for (; done < iterations; done += Batch) {
    for (uint32_t i = 0; i < Batch; ++i)
      if (!put(i, thread)) abort();
    if (penna_ring_read_many(shared_ring, records, Batch) != Batch) abort();
    bench::opaque(records[0].value);
  }
  return done;
}

struct Mode {
  const char* name;
  bench::Body body;
};
constexpr Mode kModes[] = {
    {"add", add}, {"store", store}, {"write", write}, {"pair", pairs<1>}, {"pairs", pairs<kBatch>}};

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& mode : kModes)
    if (argc > 3 && strcmp(argv[3], mode.name) == 0) return bench::run(argc, argv, mode.body);
  fprintf(stderr, "usage: %s ITERATIONS THREADS add|store|write|pair|pairs\n", argv[0]);
  return 2;
}
