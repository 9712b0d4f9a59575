// SPDX-License-Identifier: MIT
// A shared library that the module test loads and unloads: calls back from its own frame.
#include <cstddef>

extern "C" [[gnu::visibility("default")]] int penna_test_plugin_call(void (*callback)(void*), void* argument) {
  char bytes[PENNA_PLUGIN_SIZE] = {};
  asm volatile("" : : "r"(bytes) : "memory");
  callback(argument);
  asm volatile("" : : "r"(bytes) : "memory");
  return bytes[0] & 1;
}
