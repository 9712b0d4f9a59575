// SPDX-License-Identifier: MIT
// Result<T>: a value or one sentence that says what failed and what to do next.
//
// Why: errors caused by input (files, targets, users) are values, not exceptions. The interface is the part of
// std::expected that Penna uses, so that it can become std::expected once both compilers have it.
// Invariant: a Result holds exactly one of value and error.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace penna {

// What failed, as a whole sentence for the user: cause first, then the next step.
struct Error {
  std::string text;
};

struct Nothing {};

template <typename T = Nothing>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): return value;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): return Error{...};

  explicit operator bool() const { return has_value(); }
  bool has_value() const { return state_.index() == 0; }

  // Only with has_value().
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Only without has_value().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

inline Result<> ok() { return Nothing{}; }

}  // namespace penna

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define PENNA_TRY(result_expr)                              \
  ({                                                        \
    auto penna_try_result = (result_expr);                  \
    if (!penna_try_result) return penna_try_result.error(); \
    std::move(*penna_try_result);                           \
  })
