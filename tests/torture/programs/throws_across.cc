// SPDX-License-Identifier: MIT
// Exceptions that pass alternately through frames of the program and of the given libraries (thrower.cc), and are
// rethrown in each.
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "torture.h"

using Callback = int (*)(int);
struct Library {
  int (*through)(Callback, int);
  int (*catch_here)(int);
  int* passed;
};
static Library libraries[8];
static int count;
static int depth, destroyed;

NOINLINE static int bottom(int value) { throw std::runtime_error("bottom " + std::to_string(value)); }

// Goes `depth` frames down, through one library after the other.
NOINLINE static int next(int value) {
  struct Here {
    ~Here() { ++destroyed; }
  } here;
  if (depth == 0) return bottom(value);
  --depth;
  return libraries[depth % count].through(next, value) + work(1) > 0;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* library = dlopen(argv[i], RTLD_NOW);
    if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
    libraries[count++] = {reinterpret_cast<int (*)(Callback, int)>(dlsym(library, "through")),
                          reinterpret_cast<int (*)(int)>(dlsym(library, "catch_here")),
                          static_cast<int*>(dlsym(library, "passed"))};
  }
  int again = 0, same = 0, inside = 0;
  for (int i = 0; i < 200; ++i) {
    depth = i % 7 + 1;
    try {
      next(i);
    } catch (const std::logic_error&) {
      ++again;
    } catch (const std::runtime_error&) {
      ++same;
    }
    for (int j = 0; j < count; ++j) inside += libraries[j].catch_here(i % 5 + 1);
  }
  std::printf("again %d, same %d, inside %d, destroyed %d, passed", again, same, inside, destroyed);
  for (int j = 0; j < count; ++j) std::printf(" %d", *libraries[j].passed);
  std::puts("");
}
