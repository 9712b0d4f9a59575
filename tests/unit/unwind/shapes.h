// SPDX-License-Identifier: MIT
// Functions with all the frame shapes that compilers make; built once for every optimization level.
//
// A shape does something to its frame, then calls chain.next(chain), then uses the result (so that nothing is a tail
// call and nothing is optimized away). The test defines next.
#pragma once

#include <cstddef>
#include <cstdint>

struct Chain {
  void (*next)(Chain&) = nullptr;
  void* context = nullptr;
  uint64_t sum = 0;  // keeps the compiler honest
};

using Shape = void (*)(Chain&);

struct Shapes {
  const char* build;  // flags, for messages
  const Shape* first;
  size_t count;
};

// All builds of the shapes.
extern "C" const Shapes* penna_test_shapes(size_t* count);
