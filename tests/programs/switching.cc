// SPDX-License-Identifier: MIT
// switching THREADS ROUNDS: THREADS run through 1,000 sites, half of them events and half triggers, while all of these are
// switched on and off ROUNDS times, a library with sites comes and goes, and signal handlers pass sites. Says what went
// wrong: values that do not belong together, code that is not as in the file afterwards, pages writable and executable.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penna/trigger.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<uint64_t> called{0}, wrong{0}, handled{0};
std::atomic<unsigned> visits{0};  // of the library

void check(uint64_t number, uint64_t mirrored) {
  called.fetch_add(1, std::memory_order_relaxed);
  if (mirrored != ~number) wrong.fetch_add(1);
}

// Values that must survive in registers and in the red zone.
template <int kNumber>
__attribute__((noinline)) uint64_t pass(uint64_t value) {
  volatile uint64_t zone[4] = {value, value + 1, value + 2, value + 3};
  uint64_t a = value * 3, b = value ^ 5;
  PENNA_TRIGGER_ID(kNumber, check, value, ~value);
  PENNA_EVENT(many, event, value, PENNA_ARG(mirrored, ~value));
  return a + b + zone[0] + zone[3];
}

uint64_t expected(uint64_t value) { return value * 3 + (value ^ 5) + value + value + 3; }

template <int... kNumbers>
uint64_t pass_all(uint64_t value, std::integer_sequence<int, kNumbers...>) {
  uint64_t bad = 0;
  ((bad += pass<kNumbers>(value + kNumbers) != expected(value + kNumbers)), ...);
  return bad;
}

void run(uint64_t seed, bool sparing) {
  for (uint64_t value = seed << 32; !stop.load(std::memory_order_relaxed); value += 1000) {
    wrong.fetch_add(pass_all(value, std::make_integer_sequence<int, 500>{}));
    // So that who switches has its turn; and of recorded events, a few million are enough.
    std::this_thread::sleep_for(std::chrono::microseconds(sparing ? 20'000 : 4'000));
  }
}

void come_and_go(const char* library) {
  while (!stop.load(std::memory_order_relaxed)) {
    void* handle = dlopen(library, RTLD_NOW);
    if (handle == nullptr) {
      wrong.fetch_add(1);
      visits = 1u << 30;
      return;
    }
    auto passing = reinterpret_cast<unsigned (*)(unsigned)>(dlsym(handle, "pass_plugin"));
    for (unsigned i = 0; i < 100; ++i) wrong.fetch_add(passing(i) != i + 1);
    dlclose(handle);
    visits.fetch_add(1);
  }
}

void handler(int) {
  uint64_t number = handled.fetch_add(1);
  if (pass<500>(number) != expected(number)) wrong.fetch_add(1);
}

// Bytes of code that differ from the program's file.
size_t changed_code() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), {});
  ElfW(Ehdr) header;
  std::memcpy(&header, image.data(), sizeof header);
  extern const char start_of_image[] __asm__("__executable_start") __attribute__((visibility("hidden")));
  size_t changed = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, image.data() + header.e_phoff + static_cast<size_t>(i) * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const char* loaded = start_of_image + (header.e_type == ET_DYN ? segment.p_vaddr : 0);
    for (size_t at = 0; at < segment.p_filesz; ++at) changed += loaded[at] != image[segment.p_offset + at];
  }
  return changed;
}

int writable_code() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(" rwx") != std::string::npos;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int threads = std::atoi(argv[1]), rounds = std::atoi(argv[2]);
  const bool sparing = argc > 4;
  penna::disable_all();
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval interval{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &interval, nullptr);

  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(run, i + 1, sparing);
  all.emplace_back(come_and_go, argv[3]);
  long matched = 0;
  for (int round = 0; round < rounds; ++round) {
    matched += penna::enable("*") >= 502;
    matched += penna::disable("*") >= 502;
  }
  // However the turns fell, the library has now come and gone while its sites were on.
  penna::enable("*");
  for (const unsigned before = visits; visits < before + 3;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  penna::disable("*");
  stop = true;
  for (std::thread& thread : all) thread.join();
  itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);

  std::printf("wrong %llu\n", static_cast<unsigned long long>(wrong.load()));
  std::printf("all sites met in %ld of %d requests\n", matched, rounds * 2);
  std::printf("on %d\n", penna::is_enabled("*"));
  std::printf("changed code %zu, writable %d\n", changed_code(), writable_code());
  std::printf("%s, %s\n", called.load() > 0 ? "called" : "never called",
              handled.load() > 0 ? "handled" : "never handled");
}
