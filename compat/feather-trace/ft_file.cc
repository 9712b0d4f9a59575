// SPDX-License-Identifier: MIT
// See ft_file.h.
#include "ft_file.h"

#include <fmt/core.h>

#include <array>
#include <cstring>

#include "base/count_text.h"

namespace penna {
namespace {

class FtReader {
 public:
  explicit FtReader(CriticalSections& sections) : sections_(sections) {}

  // Takes the whole records at the start of `bytes`, and returns how many bytes they are. A record that cannot be one
  // ends it: with fixed sizes and no marks there is no way to find the next one.
  Result<size_t> take(std::span<const uint8_t> bytes) {
    size_t at = 0;
    for (; bytes.size() - at >= sizeof(FtRecord); at += sizeof(FtRecord)) {
      FtRecord record;
      std::memcpy(&record, bytes.data() + at, sizeof record);
      PENNA_TRY(add(record));
    }
    return at;
  }
  std::string records_before() const {
    const auto count = static_cast<int64_t>(sections_.events());
    return count == 0 ? "there are none before it" : plural_text(count, "record") + " before it are shown";
  }

 private:
  // Threads are numbered in the order of their first events. The record's own nesting is ignored: it was never written.
  Result<> add(const FtRecord& record) {
    if (record.event != kFtTaken && record.event != kFtReleased)
      return Error{fmt::format("no record of a mutex at byte {}: its event is {}, not {} or {}; {}",
                               sections_.events() * sizeof record, record.event, uint64_t{kFtTaken},
                               uint64_t{kFtReleased}, records_before())};
    const auto [thread, is_new] = threads_.try_emplace(record.thread, 0);
    if (is_new) thread.value() = sections_.add_thread(record.thread);
    const bool added = record.event == kFtTaken ? sections_.taken(thread->second, record.lock, record.time)
                                                : sections_.released(thread->second, record.lock, record.time);
    if (!added) return Error{fmt::format("too many records: {}", records_before())};
    return ok();
  }

  CriticalSections& sections_;
  NumberMap<uint32_t> threads_;  // by pthread_self()
};

}  // namespace

// A read may end anywhere: what is left of a record is moved to the front of the buffer for the next read.
Result<> read_ft(const ReadBytes& read, CriticalSections& sections) {
  FtReader reader(sections);
  std::array<uint8_t, 1000 * sizeof(FtRecord)> buffer;
  size_t kept = 0;  // bytes of a record that has only begun
  for (;;) {
    const size_t got = PENNA_TRY(read(std::span(buffer).subspan(kept)));
    if (got == 0) break;
    const size_t taken = PENNA_TRY(reader.take(std::span(buffer).first(kept + got)));
    kept = kept + got - taken;
    std::memmove(buffer.data(), buffer.data() + taken, kept);
  }
  if (kept == 0) return ok();
  return Error{fmt::format("it ends within a record, {} bytes of {} at byte {}; {}", kept, sizeof(FtRecord),
                           sections.events() * sizeof(FtRecord), reader.records_before())};
}

}  // namespace penna
