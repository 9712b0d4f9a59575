// SPDX-License-Identifier: MIT
// The hooks of the native interfaces of allocators: one template per shape of function; entered.inc says which function
// has which shape.
//
// Why all six argument registers are passed on: a program may have its own function of such a name, with other
// arguments; it gets all of them.
// Invariant: results, errno and exceptions are those of the function. If hooks nest, only the outermost records.
#pragma once

#include "agent/core/text.h"
#include "agent/hooks/alloc/entered_calls.h"

namespace penna::agent {

inline constexpr int kOne = -1;              // instead of an element count: one element
enum OnFailure : uint8_t { kStays, kEnds };  // of a block that could not be moved

struct Six {
  uintptr_t a, b, c, d, e, f;
  template <int kNumber>
  constexpr uintptr_t at() const {
    const uintptr_t all[] = {a, b, c, d, e, f};
    return all[kNumber];
  }
  template <int kSize, int kCount>
  constexpr size_t bytes() const {
    if constexpr (kCount == kOne)
      return at<kSize>();
    else
      return at<kSize>() * at<kCount>();
  }
};

// Like guarded(), whatever the options are.
class InsideScope {
 public:
  InsideScope() { thread.in_allocator = 1; }
  ~InsideScope() { thread.in_allocator = before_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

 private:
  uint32_t before_ = thread.in_allocator;
};

// Once an allocator is patched there are options (alloc_record.h).
inline void record_native_alloc(uintptr_t block, size_t size, penna_alloc_family family,
                                const unwind::HookFrame* hook) {
  if (block != 0) write_chosen_alloc(reinterpret_cast<void*>(block), size, family, hook);
}
inline bool record_native_free(uintptr_t block, penna_alloc_family family, const unwind::HookFrame* hook) {
  return block != 0 && write_chosen_free(reinterpret_cast<void*>(block), family, hook);
}

template <uint32_t kSet>
struct NativeHooks {
  using Word = uintptr_t;

  template <Entered kWhich>
  static Word pass_on(const Six& of) {
    return reinterpret_cast<Word (*)(Word, Word, Word, Word, Word, Word)>(entered_originals[kSet][kWhich])(
        of.a, of.b, of.c, of.d, of.e, of.f);
  }
  template <Entered kWhich>
  static Word call(const Six& of) {
    InsideScope scope;
    return pass_on<kWhich>(of);
  }
  template <Entered kWhich>
  // Nothing that throws has more than three arguments.
  static Word call_that_throws(const Six& of) {
    InsideScope scope;
    return reinterpret_cast<Word>(penna_call_inside(entered_originals[kSet][kWhich], of.a, of.b, of.c));
  }

  template <Entered kWhich, int kSize, int kCount, penna_alloc_family kFamily>
  static Word gives(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    const Word block = call<kWhich>(all);
    record_native_alloc(block, all.bytes<kSize, kCount>(), kFamily, unwind::HookFrame::here());
    return block;
  }
  template <Entered kWhich, int kSize, int kCount, penna_alloc_family kFamily>
  static Word gives_or_throws(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    const Word block = call_that_throws<kWhich>(all);
    record_native_alloc(block, all.bytes<kSize, kCount>(), kFamily, unwind::HookFrame::here());
    return block;
  }
  template <Entered kWhich, penna_alloc_family kFamily>
  static Word takes(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    record_native_free(a, kFamily, unwind::HookFrame::here());
    return call<kWhich>(all);
  }
  template <Entered kWhich, int kBlock, int kSize, int kCount, OnFailure kFailure>
  static Word moves(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    const bool was_recorded = record_native_free(all.at<kBlock>(), PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    const Word block = call<kWhich>(all);
    const size_t bytes = all.bytes<kSize, kCount>();
    if (block == 0 && was_recorded && bytes != 0 && kFailure == kStays)
      cancel_free(reinterpret_cast<void*>(all.at<kBlock>()));
    record_native_alloc(block, bytes, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    return block;
  }
  template <Entered kWhich, int kSize, int kCount>
  static Word moves_or_throws(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    record_native_free(a, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    const Word block = call_that_throws<kWhich>(all);
    record_native_alloc(block, all.bytes<kSize, kCount>(), PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    return block;
  }

  // xallocx(block, size, extra, flags): the block stays in place; returns its new size, which is less than requested if
  // the block is unchanged.
  template <Entered kWhich>
  static Word resizes(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    const Word size = call<kWhich>(all);
    // After the call, unlike a move: the block stays where it is, so no other thread can get its address in between.
    if (size >= b && record_native_free(a, PENNA_FAMILY_REALLOC, unwind::HookFrame::here()))
      record_native_alloc(a, b, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    return size;
  }
  // posix_memalign(&block, alignment, size).
  template <Entered kWhich>
  static Word gives_there(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC)) return pass_on<kWhich>(all);
    const Word error = call<kWhich>(all);
    if (static_cast<int>(error) == 0)
      record_native_alloc(*reinterpret_cast<Word*>(a), c, PENNA_FAMILY_ALIGNED, unwind::HookFrame::here());
    return error;
  }
  // reallocarr(&block, count, size).
  template <Entered kWhich>
  static Word moves_there(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC) || a == 0) return pass_on<kWhich>(all);
    const Word block = *reinterpret_cast<Word*>(a);
    const bool was_recorded = record_native_free(block, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    const Word error = call<kWhich>(all);
    if (static_cast<int>(error) == 0)
      record_native_alloc(*reinterpret_cast<Word*>(a), b * c, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
    else if (was_recorded)
      cancel_free(reinterpret_cast<void*>(block));
    return error;
  }
  // A string with its terminating zero. kGiven: the argument that is returned unless it is null, like realpath's
  // second; kOne: none.
  template <Entered kWhich, int kGiven, typename Char>
  static Word gives_text(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    bool given = false;
    if constexpr (kGiven != kOne) given = all.at<kGiven>() != 0;
    if (!recording(PENNA_ALLOC) || given) return pass_on<kWhich>(all);
    const Word text = call<kWhich>(all);
    record_native_alloc(text, text != 0 ? text_bytes<Char>(text) : 0, PENNA_FAMILY_MALLOC, unwind::HookFrame::here());
    return text;
  }
  // dupenv_s(&text, &size, name).
  template <Entered kWhich>
  static Word gives_text_there(Word a, Word b, Word c, Word d, Word e, Word f) {
    const Six all{a, b, c, d, e, f};
    if (!recording(PENNA_ALLOC) || a == 0) return pass_on<kWhich>(all);
    const Word before = *reinterpret_cast<Word*>(a), error = call<kWhich>(all), text = *reinterpret_cast<Word*>(a);
    if (static_cast<int>(error) == 0 && text != before && text != 0)
      record_native_alloc(text, text_bytes<char>(text), PENNA_FAMILY_MALLOC, unwind::HookFrame::here());
    return error;
  }

  // Blocks end, now or later, without a free.
  template <Entered kWhich>
  static Word ends_at_once(Word a, Word b, Word c, Word d, Word e, Word f) {
    if (recording(PENNA_ALLOC) && a != 0) count(&penna_counters::ended_at_once);
    return pass_on<kWhich>({a, b, c, d, e, f});
  }
  // mallctl(name, ...): "arena.7.reset" and "arena.7.destroy" do.
  template <Entered kWhich>
  static Word controls(Word a, Word b, Word c, Word d, Word e, Word f) {
    if (recording(PENNA_ALLOC) && a != 0 && ends_an_arena(reinterpret_cast<const char*>(a)))
      count(&penna_counters::ended_at_once);
    return pass_on<kWhich>({a, b, c, d, e, f});
  }

 private:
  template <typename Char>
  static size_t text_bytes(Word text) {
    const Char* const first = reinterpret_cast<const Char*>(text);
    size_t length = 0;
    while (first[length] != 0) ++length;
    return (length + 1) * sizeof(Char);
  }
  // Whichever arena it is: only the last part of the name says what happens.
  static bool ends_an_arena(const char* name) {
    const size_t length = text_length(name);
    const auto ends_with = [&](const char* end, size_t bytes) {
      return length > bytes && text_begins(name + length - bytes, end, bytes);
    };
    return text_begins(name, "arena.", 6) && (ends_with(".reset", 6) || ends_with(".destroy", 8));
  }
};

}  // namespace penna::agent
