// SPDX-License-Identifier: MIT
// A library that exceptions begin in, pass through and return to: built with and without instrumentation, and with a
// bundled unwinder (-static-libgcc -static-libstdc++).
#include <stdexcept>
#include <string>

extern "C" {
int passed;  // destructors that ran here

using Callback = int (*)(int);

// Calls back, from within a frame with a destructor; rethrows what arrives, every third time as a new exception.
__attribute__((noinline)) int through(Callback callback, int value) {
  struct Passed {
    ~Passed() { ++passed; }
  } here;
  try {
    return callback(value) + 1;
  } catch (const std::runtime_error& error) {
    if (value % 3 == 0) throw std::logic_error(std::string("again: ") + error.what());
    throw;
  }
}

// Caught in the throwing library, one frame further out.
__attribute__((noinline)) int throw_here(int value) {
  if (value < 0) throw std::runtime_error("negative");
  return value;
}
__attribute__((noinline)) int catch_here(int value) {
  try {
    return throw_here(value) + throw_here(-value);
  } catch (const std::runtime_error&) {
    return -1;
  }
}
}
