// SPDX-License-Identifier: MIT
// Every interleaving of ring.h: two writers, one reader, rings of 1 to 4 slots, with and without a writer that dies.
//
// How: PENNA_RING_STEP() switches from the actor to the explorer, so the code under test is ring.h itself. A state is the
// ring, what the actors have seen, and their stacks; the explorer copies it back and forth and follows each actor from
// each state once. Invariant: an actor is a pure function of its stack and the world.
#define PENNA_RING_STEP() (model::step())
namespace model {
void step();
}

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "penna/ring.h"

namespace model {

constexpr uint32_t kMaxSlots = 4, kRecord = 16;
constexpr size_t kRingBytes = sizeof(penna_ring) + kMaxSlots * (8 + kRecord);
constexpr size_t kStack = 2048;
enum Actor { kWriterA, kWriterB, kReader, kActors };

struct Plan {
  uint32_t slots;
  uint8_t records;   // of each writer
  uint8_t reads;     // of the reader, while the writers run
  uint8_t abandons;  // likewise
  uint8_t deaths;    // writers that may die, at any step
};

// Everything that makes up a state. Plain bytes, compared and copied as such.
struct World {
  alignas(64) unsigned char ring[kRingBytes];
  uint8_t reserved_null[2], commit_failed[2], committed[2], begun[2];
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
  if (record == nullptr) {
    ++world.reserved_null[writer];
    return;
  }
  uint64_t value = static_cast<uint64_t>(writer) << 8 | sequence;
  step();
  record[0] = value;
  step();
  record[1] = ~value;
  if (penna_ring_commit(ring(), ticket) == 1)
    ++world.committed[writer];
  else
    ++world.commit_failed[writer];
}

void read_one() {
  uint64_t record[2];
  if (penna_ring_read(ring(), record) == 0) return;
  if (record[1] != ~record[0]) world.torn = 1;
  uint8_t writer = record[0] >> 8 & 1, sequence = record[0] & 0xff;
  for (uint8_t i = 0; i < world.read_count; ++i)
    if (world.read_writer[i] == writer && world.read_sequence[i] >= sequence) world.disordered = 1;
  world.read_writer[world.read_count] = writer;
  world.read_sequence[world.read_count++] = sequence;
}

enum Action : uint8_t { kChoose, kRead, kAbandon };

void run_reader() {
  while (world.reads != 0 || world.abandons != 0) {
    world.action = kChoose;
    step();  // the explorer decides
    if (world.action == kRead) {
      --world.reads;
      read_one();
    } else {
      --world.abandons;
      penna_ring_abandon(ring());
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

  std::string bytes() const {
    std::string all(reinterpret_cast<const char*>(&world), sizeof world);
    for (const auto& part : stack) all.append(reinterpret_cast<const char*>(part.data()), part.size());
    return all;
  }
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
  for (int actor = 0; actor < kActors; ++actor) {
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
  return penna_ring_commit(ring(), ticket) == 1;
}

bool get_record() {
  uint64_t record[2];
  return penna_ring_read(ring(), record) == 1;
}

// After a lap, in which the reader meets slots that came back late, the ring is as good as new but for one slot a death.
void check_room(uint64_t state_number) {
  for (uint32_t i = 0; i < 2 * plan.slots; ++i) {
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
  bool any_dead = world.dead[kWriterA] || world.dead[kWriterB];
  for (int guard = 0; guard < 64; ++guard) {
    uint8_t before = world.read_count;
    read_one();
    if (world.read_count == before && penna_ring_abandon(ring()) == 0) break;
  }
  if (!any_dead) {
    ASSERT_EQ(penna_ring_abandoned(ring()), abandoned_before) << "stuck without a death";
  }
  ASSERT_EQ(ring()->read, ring()->write) << state_number;
  ASSERT_FALSE(world.torn) << state_number;
  ASSERT_FALSE(world.disordered) << state_number;
  uint8_t committed = static_cast<uint8_t>(world.committed[0] + world.committed[1]);
  uint8_t refused = static_cast<uint8_t>(world.reserved_null[0] + world.reserved_null[1] + world.commit_failed[0] +
                                         world.commit_failed[1]);
  // One that died in commit, after its CAS, was read; one that died while it counted a drop, was not counted.
  ASSERT_GE(world.read_count, committed) << state_number;
  ASSERT_LE(world.read_count, committed + world.deaths) << state_number;
  ASSERT_LE(refused, penna_ring_dropped(ring()) + 0u) << state_number;
  ASSERT_LE(penna_ring_dropped(ring()), refused + world.deaths + 0u) << state_number;
  if (plan.abandons == 0 && plan.deaths == 0 && plan.slots >= plan.records * 2u) {
    ASSERT_EQ(refused, 0) << state_number;
  }
  check_room(state_number);
}

// ---- The explorer ---------------------------------------------------------------------------------------------------

struct Explorer {
  std::unordered_set<std::string> seen;
  std::vector<State> open;
  uint64_t ends = 0;

  void add(const State& state) {
    if (seen.insert(state.bytes()).second) open.push_back(state);
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
    bool writers_live = is_live(kWriterA) || is_live(kWriterB);
    if (!writers_live && (!is_live(kReader) || world.action == kChoose)) {
      ++ends;
      check_end(seen.size());
      return;
    }
    for (int writer : {kWriterA, kWriterB}) {
      if (state.world.finished[writer] || state.world.dead[writer]) continue;
      follow(state, writer, kChoose);
      if (state.world.deaths < plan.deaths) kill(state, writer);
    }
    if (state.world.finished[kReader]) return;
    if (state.world.action != kChoose) return follow(state, kReader, kChoose);
    if (state.world.reads != 0) follow(state, kReader, kRead);
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

TEST(RingModel, two_slots) { explore({2, 1, 3, 0, 0}, 1000); }
TEST(RingModel, two_slots_full) { explore({2, 2, 2, 0, 0}, 10'000); }
TEST(RingModel, one_slot) { explore({1, 2, 2, 0, 0}, 10'000); }
TEST(RingModel, four_slots) { explore({4, 2, 2, 0, 0}, 10'000); }
TEST(RingModel, impatient_reader) { explore({2, 1, 2, 2, 0}, 5'000); }
TEST(RingModel, impatient_reader_and_full) { explore({1, 2, 1, 1, 0}, 10'000); }
TEST(RingModel, a_writer_dies) { explore({2, 1, 2, 1, 1}, 5'000); }
TEST(RingModel, a_writer_dies_in_a_full_ring) { explore({1, 2, 1, 1, 1}, 10'000); }
TEST(RingModel, both_writers_die) { explore({2, 1, 2, 2, 2}, 5'000); }

}  // namespace model
