// SPDX-License-Identifier: MIT
// See far_view.h.
#include "far_view.h"

#include "recording/records.h"

namespace penna {

void SentNames::add(std::string_view path, uint64_t address, std::string_view name) {
  const std::lock_guard hold(mutex_);
  by_file_[std::string(path)].insert_or_assign(address, std::string(name));
}

// By the address of the function itself, with which it was sent.
std::vector<SourceFrame> SentNames::code(const NamedFile& file, uint64_t address) {
  if (!own_file_.empty() && file.path == own_file_) return own_->code(file, address);
  const std::lock_guard hold(mutex_);
  const auto names = by_file_.find(file.path);
  if (names == by_file_.end()) return {};
  const auto name = names->second.find(address);
  if (name == names->second.end()) return {};
  return {{name->second, "", 0, false}};
}

void FarView::records(uint32_t process, std::span<const uint8_t> chunk, uint64_t calls, uint64_t others) {
  view_.left_out(process, header_of(chunk).thread_serial, calls, others);
  view_.observer().records(process, chunk);
}

}  // namespace penna
