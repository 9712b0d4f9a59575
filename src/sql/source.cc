// SPDX-License-Identifier: MIT
// See source.h.
#include "sql/source.h"

#include <fmt/format.h>

#include "analysis/analyses.h"
#include "export/text/utf8.h"
#include "report/locks/lock_names.h"

namespace penna {

SqlSource::SqlSource(std::shared_ptr<const Recording> recording, uint32_t number, std::unique_ptr<SymbolSource> symbols,
                     NameStyle style)
    : recording_(std::move(recording)),
      symbols_(std::move(symbols)),
      summary_(summarize(*recording_)),
      number_(number),
      high_(static_cast<int64_t>(uint64_t{number} << 52)),
      first_ns_(recording_->time().monotonic_ns(summary_.first_time)),
      names_(*recording_, *symbols_, std::move(style)) {}

SqlSource::~SqlSource() = default;

Result<std::unique_ptr<SqlSource>> SqlSource::open(std::shared_ptr<const Recording> recording, uint32_t number,
                                                   std::unique_ptr<SymbolSource> symbols, NameStyle style) {
  if (recording->threads().size() >= kMostThreads || recording->processes().size() >= kMostThreads)
    return Error{fmt::format("{} has {} threads of {} processes, and SQL can tell {} apart: choose some by --tid",
                             recording->path(), recording->threads().size(), recording->processes().size(),
                             kMostThreads - 1)};
  return std::unique_ptr<SqlSource>(new SqlSource(std::move(recording), number, std::move(symbols), std::move(style)));
}

bool SqlSource::thread_of(int64_t id, uint32_t* thread) const {
  const int64_t index = id - high_;
  if (index < 0 || static_cast<uint64_t>(index) >= recording_->threads().size()) return false;
  *thread = static_cast<uint32_t>(index);
  return true;
}

WalkReport SqlSource::walk() const {
  if (!met_unreadable_) return {};
  return for_each_thread_event(*recording_, {.classes = kAllRecords}, [](const auto&) {});
}

std::string_view SqlSource::kept(const std::string& text) {
  auto found = texts_.find(text);
  if (found == texts_.end()) found = texts_.emplace(text, std::make_unique<const std::string>(valid_utf8(text))).first;
  return *found->second;
}

SqlFunction SqlSource::function(const CodePlace& place) {
  return with_names([&](Names& names) {
    const NameFrame& frame = names.at(place).back();
    SqlFunction of;
    of.function = kept(frame.full_name());
    if (frame.module != kNoModule) of.module = kept(names.map().file_name(frame.module));
    of.file = kept(frame.file);
    of.line = frame.line;
    return of;
  });
}

std::string_view SqlSource::origin(uint32_t process, uint32_t stack, bool (*is_way_too)(std::string_view)) {
  if (stack == 0) return {};
  return with_names([&](Names& names) {
    NumberMap<std::string_view>& known = is_way_too == nullptr ? origins_ : wait_origins_;
    const uint64_t key = uint64_t{process} << 32 | stack;
    if (const auto found = known.find(key); found != known.end()) return found->second;
    const NameFrame* frame = names.origin(process, stack, is_way_too);
    const std::string_view text = frame == nullptr ? std::string_view() : kept(frame->full_name());
    known.emplace(key, text);
    return text;
  });
}

std::string_view SqlSource::lock_name(uint32_t object) {
  return with_names([&](Names& names) {
    if (locks_ == nullptr)
      locks_ = std::make_unique<const Analyses>(
          analyse(*recording_, summary_, names.map(), {.classes = kLockEvents}, nullptr));
    if (const auto found = lock_names_.find(object); found != lock_names_.end()) return found->second;
    const Locks& locks = *locks_->locks;
    LockStats stats;
    if (const uint32_t lock = locks.lock_of(object); lock != kNoIndex) {
      stats = locks.all()[lock];
    } else {  // a joined thread, or a lock that was not used in the range
      const SyncObject& of = locks_->holders->objects()[object];
      stats.process = of.process;
      stats.address = of.address;
      stats.first_time = of.first_time;
      stats.kind = lock_kind(of.sync);
    }
    const std::string_view name = kept(LockNames(*recording_, names, locks_->lock_blocks.get())(stats));
    lock_names_.emplace(object, name);
    return name;
  });
}

}  // namespace penna
