// SPDX-License-Identifier: MIT
// The processors that reading may use: how many, which of them are free, and work for several.
//
// Why counted for the whole process: unpacking ahead and reading several threads of a recording at once must not start
// more threads together than there are processors.
// Invariant: all helpers in use at a time and one caller are at most usable_processors(). Thread-safe.
#pragma once

#include <cstddef>
#include <functional>

namespace penna {

// Those that this process may run on (sched_setaffinity(2), taskset(1)); at least 1.
size_t usable_processors();

// Processors reserved for threads that help the one that asks; given back by the destructor.
class Helpers {
 public:
  // At most `wanted`, and at most as many as are free.
  explicit Helpers(size_t wanted);
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  size_t count() const { return count_; }

 private:
  size_t count_;
};

// Calls work() on this thread and on as many helpers as are free, up to `workers` in all, and returns when all have
// returned. Each must take what is left of a shared list; this thread calls `first` before. With no helpers, all of it
// happens here.
void work_together(size_t workers, const std::function<void()>& work, const std::function<void()>& first = {});

}  // namespace penna
