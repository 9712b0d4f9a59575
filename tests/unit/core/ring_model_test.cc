// SPDX-License-Identifier: MIT
// Every interleaving of ring.h: two or three writers, one reader, rings of 1 to 4 slots, with a reader that gives up on
// living writers, and with writers that die at any step.
//
// How: PENNA_RING_STEP() switches from the actor to the explorer, so the code under test is ring.h itself. A state is
// the ring, the actors' observations, and their stacks; the explorer saves and restores it and runs each actor from
// each state once. States are identified by 128 bits of hash. Steps are interleaved, not reordered: whether the memory
// orderings suffice is tested by ThreadSanitizer (ring_stress_test). Invariant: an actor is a pure function of its
// stack and the world.
#define PENNA_RING_STEP() (model::step())
namespace model {
void step();
}

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "penna/ring.h"

namespace model {

constexpr uint32_t kMaxSlots = 4, kRecord = 16;
constexpr int kMaxWriters = 3;
constexpr size_t kRingBytes = sizeof(penna_ring) + kMaxSlots * (8 + kRecord);
constexpr size_t kStack = 2048;
enum Actor { kReader = kMaxWriters, kActors };  // writers are 0, 1, 2

struct Plan {
  int writers;
  uint32_t slots;
  uint8_t records;   // of each writer
  uint8_t reads;     // of the reader, while the writers run
  uint8_t abandons;  // likewise
  uint8_t deaths;    // writers that may die, at any step
};

// Everything that makes up a state. Plain bytes, compared and copied as such.
struct World {
  alignas(64) unsigned char ring[kRingBytes];
  uint8_t committed[kMaxWriters], begun[kMaxWriters];
  uint8_t read_count, reads, abandons, deaths, action;
  uint8_t read_writer[16], read_sequence[16];
  uint8_t finished[kActors], dead[kActors];
  uint8_t torn, disordered;
  uint64_t saved_stack_pointer[kActors];
};

World world;
Plan plan;
alignas(64) unsigned char stacks[kActors][kStack];
uint64_t explorer_stack_pointer;
int running = -1;

penna_ring* ring() { return reinterpret_cast<penna_ring*>(world.ring); }

// Saves the callee-saved registers on this stack, and goes on where `to` was saved.
extern "C" void model_switch(uint64_t* from, uint64_t to);
__asm__(
    ".text\n"
    "model_switch:\n"
    "  push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
    "  ret\n");

void step() {
  if (running >= 0) model_switch(&world.saved_stack_pointer[running], explorer_stack_pointer);
}

// ---- Actors ---------------------------------------------------------------------------------------------------------

void write_one(int writer) {
  uint8_t sequence = world.begun[writer]++;
  uint32_t ticket;
  auto* record = static_cast<uint64_t*>(penna_ring_reserve(ring(), &ticket));
  if (record == nullptr) return;
  uint64_t value = static_cast<uint64_t>(writer) << 8 | sequence;
  step();
  record[0] = value;
  step();
  record[1] = ~value;
  penna_ring_commit(ring(), ticket);
  ++world.committed[writer];
}

void note_record(const uint64_t* record) {
  if (record[1] != ~record[0]) world.torn = 1;
  uint8_t writer = record[0] >> 8 & 3, sequence = record[0] & 0xff;
  for (uint8_t i = 0; i < world.read_count; ++i)
    if (world.read_writer[i] == writer && world.read_sequence[i] >= sequence) world.disordered = 1;
  world.read_writer[world.read_count] = writer;
  world.read_sequence[world.read_count++] = sequence;
}

bool read_some(uint32_t most) {
  uint64_t records[2][2];
  uint32_t got = penna_ring_read_many(ring(), records, most);
  for (uint32_t i = 0; i < got; ++i) note_record(records[i]);
  return got != 0;
}

enum Action : uint8_t { kChoose, kRead, kReadTwo, kAbandon };

void run_reader() {
  while (world.reads != 0 || world.abandons != 0) {
    world.action = kChoose;
    step();  // the explorer decides
    if (world.action == kAbandon) {
      --world.abandons;
      penna_ring_abandon(ring());
    } else {
      --world.reads;
      read_some(world.action == kRead ? 1 : 2);
    }
  }
}

void actor_main() {
  int self = running;
  if (self == kReader) {
    run_reader();
  } else {
    while (world.begun[self] < plan.records) write_one(self);
  }
  world.finished[self] = 1;
  for (;;) step();
}

// ---- States ---------------------------------------------------------------------------------------------------------

struct State {
  World world;
  std::vector<unsigned char> stack[kActors];  // from the saved stack pointer up

  std::pair<uint64_t, uint64_t> hash() const {
    uint64_t low = 0x9e3779b97f4a7c15, high = 0xc2b2ae3d27d4eb4f;
    auto mix = [&](const void* from, size_t bytes) {
      for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(from) + at, bytes - at < 8 ? bytes - at : 8);
        low = (low ^ word) * 0xff51afd7ed558ccd;
        low ^= low >> 32;
        high = (high + word) * 0xc4ceb9fe1a85ec53 ^ low;
        high ^= high >> 29;
      }
    };
    mix(&world, sizeof world);
    for (const auto& part : stack) mix(part.data(), part.size());
    return {low, high};
  }
};

struct HashOfPair {
  size_t operator()(const std::pair<uint64_t, uint64_t>& pair) const { return pair.first; }
};

size_t stack_used(int actor) {
  return reinterpret_cast<uint64_t>(stacks[actor]) + kStack - world.saved_stack_pointer[actor];
}

State capture() {
  State state{world, {}};
  for (int actor = 0; actor < kActors; ++actor)
    if (!world.finished[actor] && !world.dead[actor])
      state.stack[actor].assign(stacks[actor] + kStack - stack_used(actor), stacks[actor] + kStack);
  return state;
}

void restore(const State& state) {
  world = state.world;
  for (int actor = 0; actor < kActors; ++actor)
    std::memcpy(stacks[actor] + kStack - state.stack[actor].size(), state.stack[actor].data(),
                state.stack[actor].size());
}

void advance(int actor) {
  running = actor;
  model_switch(&explorer_stack_pointer, world.saved_stack_pointer[actor]);
  running = -1;
}

State first_state() {
  std::memset(&world, 0, sizeof world);
  std::memset(stacks, 0, sizeof stacks);
  penna_ring_init(ring(), plan.slots, kRecord);
  world.reads = plan.reads;
  world.abandons = plan.abandons;
  for (int writer = plan.writers; writer < kMaxWriters; ++writer) world.finished[writer] = 1;
  for (int actor = 0; actor < kActors; ++actor) {
    if (world.finished[actor]) continue;
    auto* top = reinterpret_cast<uint64_t*>(stacks[actor] + kStack);
    *--top = 0;  // as if called from nowhere, with the alignment of a call
    *--top = reinterpret_cast<uint64_t>(&actor_main);
    world.saved_stack_pointer[actor] = reinterpret_cast<uint64_t>(top - 6);  // six registers
    advance(actor);                                                          // to its first step
  }
  return capture();
}

bool is_live(int actor) { return !world.finished[actor] && !world.dead[actor]; }

// ---- What must hold -------------------------------------------------------------------------------------------------

bool put_record() {
  uint32_t ticket;
  auto* record = static_cast<uint64_t*>(penna_ring_reserve(ring(), &ticket));
  if (record == nullptr) return false;
  record[0] = 0;
  record[1] = ~uint64_t{0};
  penna_ring_commit(ring(), ticket);
  return true;
}

bool get_record() {
  uint64_t record[2];
  return penna_ring_read(ring(), record) == 1;
}

bool is_drained() { return penna_tickets_drawn(ring()->tickets) == penna_tickets_passed(ring()->tickets); }

// After a lap, in which the reader meets slots that came back late, the ring is as good as new but for one slot a death.
void check_room(uint64_t state_number) {
  for (uint32_t i = 0; i < 3 * plan.slots; ++i) {
    bool put = put_record();
    ASSERT_EQ(get_record(), put) << state_number;
  }
  uint32_t room = 0;
  while (room < plan.slots && put_record()) ++room;
  ASSERT_GE(room + world.deaths, plan.slots) << state_number;
  while (room-- > 0) ASSERT_TRUE(get_record()) << state_number;
}

// All writers are done or dead: the reader drains, giving up what nobody will finish.
void check_end(uint64_t state_number) {
  uint32_t abandoned_before = penna_ring_abandoned(ring());
  for (int guard = 0; guard < 64 && !is_drained(); ++guard) {
    if (!read_some(1)) penna_ring_abandon(ring());
  }
  ASSERT_TRUE(is_drained()) << state_number;
  ASSERT_FALSE(world.torn) << state_number;
  ASSERT_FALSE(world.disordered) << state_number;
  uint32_t committed = 0, begun = 0, read = world.read_count;
  for (int writer = 0; writer < kMaxWriters; ++writer) {
    committed += world.committed[writer];
    begun += world.begun[writer];
  }
  uint32_t abandoned = penna_ring_abandoned(ring()), dropped = penna_ring_dropped(ring());
  uint32_t accounted = read + dropped + abandoned;
  // One that died may have been counted or not, and read or not.
  ASSERT_LE(accounted, begun) << state_number;
  ASSERT_GE(accounted + world.deaths, begun) << state_number;
  ASSERT_GE(read + abandoned, committed) << state_number;
  ASSERT_LE(read, committed + world.deaths) << state_number;
  if (world.deaths == 0) {
    ASSERT_EQ(abandoned, abandoned_before) << "records were abandoned although no writer died";
    if (plan.abandons == 0 && plan.slots >= begun) {
      ASSERT_EQ(dropped, 0u) << state_number;
    }
  }
  check_room(state_number);
}

// ---- The explorer ---------------------------------------------------------------------------------------------------

struct Explorer {
  std::unordered_set<std::pair<uint64_t, uint64_t>, HashOfPair> seen;
  std::vector<State> open;
  uint64_t ends = 0;

  void add(const State& state) {
    if (seen.insert(state.hash()).second) open.push_back(state);
  }

  void follow(const State& state, int actor, Action action) {
    restore(state);
    if (action != kChoose) world.action = action;
    advance(actor);
    add(capture());
  }

  void kill(const State& state, int actor) {
    restore(state);
    world.dead[actor] = 1;
    ++world.deaths;
    world.saved_stack_pointer[actor] = 0;
    add(capture());
  }

  void expand(const State& state) {
    restore(state);
    bool writers_live = false;
    for (int writer = 0; writer < plan.writers; ++writer) writers_live |= is_live(writer);
    if (!writers_live && (!is_live(kReader) || world.action == kChoose)) {
      ++ends;
      check_end(seen.size());
      return;
    }
    for (int writer = 0; writer < plan.writers; ++writer) {
      if (state.world.finished[writer] || state.world.dead[writer]) continue;
      follow(state, writer, kChoose);
      if (state.world.deaths < plan.deaths) kill(state, writer);
    }
    if (state.world.finished[kReader]) return;
    if (state.world.action != kChoose) return follow(state, kReader, kChoose);
    if (state.world.reads != 0) {
      follow(state, kReader, kRead);
      follow(state, kReader, kReadTwo);
    }
    if (state.world.abandons != 0) follow(state, kReader, kAbandon);
  }

  void run(const Plan& what) {
    plan = what;
    add(first_state());
    while (!open.empty() && !::testing::Test::HasFatalFailure()) {
      State state = std::move(open.back());
      open.pop_back();
      expand(state);
    }
  }
};

void explore(const Plan& what, uint64_t at_least_states) {
  Explorer explorer;
  explorer.run(what);
  ::testing::Test::RecordProperty("states", static_cast<int>(explorer.seen.size()));
  EXPECT_GT(explorer.ends, 0u);
  EXPECT_GT(explorer.seen.size(), at_least_states);  // else the steps are not where they should be
}

// Writers, slots, records of each, reads, abandons, deaths.
TEST(RingModel, two_slots) { explore({2, 2, 1, 3, 0, 0}, 1000); }
TEST(RingModel, two_slots_full) { explore({2, 2, 3, 3, 0, 0}, 10'000); }
TEST(RingModel, one_slot) { explore({2, 1, 3, 3, 0, 0}, 10'000); }
TEST(RingModel, four_slots) { explore({2, 4, 2, 2, 0, 0}, 10'000); }
TEST(RingModel, impatient_reader) { explore({2, 2, 2, 2, 1, 0}, 10'000); }
TEST(RingModel, impatient_reader_and_full) { explore({2, 1, 2, 2, 2, 0}, 10'000); }
TEST(RingModel, a_writer_dies) { explore({2, 2, 2, 2, 1, 1}, 10'000); }
TEST(RingModel, a_writer_dies_in_a_full_ring) { explore({2, 1, 2, 1, 1, 1}, 10'000); }
TEST(RingModel, both_writers_die) { explore({2, 2, 1, 2, 2, 2}, 10'000); }
TEST(RingModel, three_writers_one_slot) { explore({3, 1, 2, 2, 0, 0}, 20'000); }
TEST(RingModel, three_writers_two_slots) { explore({3, 2, 1, 3, 0, 0}, 10'000); }
TEST(RingModel, three_writers_impatient_reader) { explore({3, 1, 1, 1, 2, 0}, 20'000); }
TEST(RingModel, three_writers_one_dies) { explore({3, 2, 1, 1, 1, 1}, 20'000); }

}  // namespace model
