// SPDX-License-Identifier: MIT
// Every allocation function once, with a size of its own; and as often a way to give the block back.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>

extern "C" void free_sized(void*, size_t) __attribute__((weak));
extern "C" void free_aligned_sized(void*, size_t, size_t) __attribute__((weak));

static void* volatile sink;
static void* keep(void* block) {
  sink = block;
  return block;
}

int main(int count, char** words) {
  const char* without = count == 1 ? "" : words[1];  // what not every allocator can do
  free(keep(malloc(1001)));
  free(keep(calloc(3, 334)));
  void* grown = keep(realloc(nullptr, 1003));
  grown = keep(realloc(grown, 1004));
  errno = 0;
  size_t huge = PTRDIFF_MAX;
  void* failed = realloc(grown, *const_cast<volatile size_t*>(&huge));
  printf("failed realloc %d %d\n", failed == nullptr, errno == ENOMEM);
  free(realloc(grown, 0));
  if (!strchr(without, 'r')) free(keep(reallocarray(nullptr, 5, 201)));
  free(keep(aligned_alloc(64, 1024 + 64)));
  free(keep(memalign(64, 1007)));
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 64, 1008) == 0) free(keep(aligned));
  free(keep(valloc(1009)));
  if (!strchr(without, 'p')) free(keep(pvalloc(1010)));
  char text[1011];
  memset(text, 'x', sizeof text);
  text[1010] = '\0';
  if (!strchr(without, 's')) free(keep(strdup(text)));
  if (!strchr(without, 's')) free(keep(strndup(text, 1011)));
  char* printed = nullptr;
  if (!strchr(without, 's') && asprintf(&printed, "%s%s", text, "y") > 0) free(keep(printed));
  operator delete(keep(operator new(1021)));
  operator delete[](keep(operator new[](1022)));
  operator delete(keep(operator new(1023, std::nothrow)), std::nothrow);
  operator delete[](keep(operator new[](1024, std::nothrow)), std::nothrow);
  operator delete (keep(operator new(1025)), size_t{1025});
  operator delete[](keep(operator new[](1026)), size_t{1026});
  constexpr auto kAlign = std::align_val_t{128};
  operator delete(keep(operator new(1152, kAlign)), kAlign);
  operator delete[](keep(operator new[](1280, kAlign)), kAlign);
  operator delete(keep(operator new(1408, kAlign, std::nothrow)), kAlign, std::nothrow);
  operator delete[](keep(operator new[](1536, kAlign, std::nothrow)), kAlign, std::nothrow);
  operator delete (keep(operator new(1664, kAlign)), size_t{1664}, kAlign);
  operator delete[](keep(operator new[](1792, kAlign)), size_t{1792}, kAlign);
  bool thrown = false;
  if (!strchr(without, 't')) try {
      sink = operator new(*const_cast<volatile size_t*>(&huge));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
  free(keep(malloc(1900)));  // after the exception as before
  printf("thrown %d\n", thrown);
  if (free_sized != nullptr) free_sized(keep(malloc(1031)), 1031);
  if (free_aligned_sized != nullptr) free_aligned_sized(keep(aligned_alloc(64, 1088)), 64, 1088);
}
