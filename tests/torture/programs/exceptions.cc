// SPDX-License-Identifier: MIT
// Exceptions through instrumented frames: destructors on the way, rethrow, across threads, from constructors, and a new
// that cannot be satisfied.
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "torture.h"

static int destroyed = 0;

struct Trace {
  explicit Trace(int d) : depth(d), text(std::to_string(d)) {}
  ~Trace() { destroyed++; }
  int depth;
  std::string text;
};

NOINLINE static int dive(int depth) {
  Trace trace(depth);
  if (depth == 0) throw std::runtime_error("bottom");
  try {
    return dive(depth - 1) + trace.depth;
  } catch (const std::logic_error&) {
    return -1;
  } catch (std::runtime_error&) {
    if (depth % 5 == 0) throw;  // rethrown unchanged
    if (depth % 7 == 0) throw std::runtime_error("from " + trace.text);
    throw;
  }
}

struct Half {
  Half() : first(std::make_unique<Trace>(1)), second((throw std::logic_error("half built"), nullptr)) {}
  std::unique_ptr<Trace> first, second;
};

NOINLINE static void quietly(int depth) noexcept {
  try {
    dive(depth);
  } catch (...) {
    work(3);
  }
}

int main() {
  for (int i = 0; i < 300; i++) {
    try {
      dive(30);
    } catch (const std::exception& error) {
      if (i == 0) std::printf("%s, destroyed %d\n", error.what(), destroyed);
    }
    quietly(10);
  }
  try {
    Half half;
  } catch (const std::logic_error& error) {
    std::printf("%s\n", error.what());
  }
  std::exception_ptr carried;
  std::thread([&] {
    try {
      dive(8);
    } catch (...) {
      carried = std::current_exception();
    }
  }).join();
  try {
    std::rethrow_exception(carried);
  } catch (const std::runtime_error& error) {
    std::printf("carried: %s\n", error.what());
  }
  try {
    volatile size_t much = static_cast<size_t>(-1) / 4;
    delete[] new char[much];
  } catch (const std::bad_alloc&) {
    std::puts("bad_alloc");
  }
  std::printf("destroyed %d, work %ld\n", destroyed, work(20));
}
