/* SPDX-License-Identifier: MIT
 * Programs that walk their own stack, in three ways: they must see the same functions as without a recorder. libunwind
 * is used without our help, and may see more frames: those without a name are left out. */
#define UNW_LOCAL_ONLY
#include <execinfo.h>
#include <libunwind.h>
#include <unwind.h>

#include "torture.h"

enum { kMost = 100 };
typedef struct {
  void* pcs[kMost];
  int count;
} Frames;
typedef void (*Look)(Frames* frames);

static void outer(Look look, int depth);
static void inner(Look look, int depth);
int main(void);

/* The last function that begins before `pc`, and near it. */
static const char* name_of(void* pc) {
  static const struct {
    const char* name;
    void* start;
  } known[] = {{"outer", (void*)outer}, {"inner", (void*)inner}, {"main", (void*)main}};
  const char* name = NULL;
  uintptr_t distance = 600;
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
    if ((uintptr_t)pc - (uintptr_t)known[i].start < distance) {
      distance = (uintptr_t)pc - (uintptr_t)known[i].start;
      name = known[i].name;
    }
  return name;
}

__attribute__((noinline, no_instrument_function)) static void by_backtrace(Frames* frames) {
  frames->count = backtrace(frames->pcs, kMost);
}
__attribute__((no_instrument_function)) static _Unwind_Reason_Code add(struct _Unwind_Context* context, void* into) {
  Frames* frames = into;
  if (frames->count < kMost) frames->pcs[frames->count++] = (void*)_Unwind_GetIP(context);
  return _URC_NO_REASON;
}
__attribute__((noinline, no_instrument_function)) static void by_unwinder(Frames* frames) {
  _Unwind_Backtrace(add, frames);
}
__attribute__((noinline, no_instrument_function)) static void by_libunwind(Frames* frames) {
  unw_context_t context;
  unw_cursor_t cursor;
  unw_word_t pc;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  do {
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    if (frames->count < kMost) frames->pcs[frames->count++] = (void*)pc;
  } while (unw_step(&cursor) > 0);
}

static void show(const char* how, const Frames* frames, int all) {
  printf("%s:", how);
  for (int i = 0; i < frames->count; i++)
    if (name_of(frames->pcs[i]) != NULL) printf(" %s", name_of(frames->pcs[i]));
  if (all) printf(" of %d", frames->count);
  printf("\n");
}

NOINLINE static void inner(Look look, int depth) {
  if (depth > 0) {
    outer(look, depth - 1);
    work(1);
    return;
  }
  Frames frames = {.count = 0};
  look(&frames);
  if (look == by_libunwind)
    show("libunwind", &frames, 0);
  else
    show(look == by_backtrace ? "backtrace" : "_Unwind_Backtrace", &frames, 1);
}
NOINLINE static void outer(Look look, int depth) {
  inner(look, depth);
  work(2);
}

/* Called by functions of libc that have a hook. */
static void look_inside(void) {
  inner(by_backtrace, 0);
  inner(by_unwinder, 0);
}

int main(void) {
  static pthread_once_t flag = PTHREAD_ONCE_INIT;
  pthread_once(&flag, look_inside);
  for (int i = 0; i < 200; i++) {
    outer(by_backtrace, i % 6);
    outer(by_unwinder, i % 6);
    outer(by_libunwind, i % 6);
  }
  printf("%ld\n", work(3));
}
