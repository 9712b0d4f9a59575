// SPDX-License-Identifier: MIT
// See traced_module.h.
#include "breakpoint/traced_module.h"

#include <algorithm>

#include "unwind/arch.h"

namespace penna {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

unwind::Section section(std::span<const uint8_t> bytes, uint64_t address) {
  return {bytes.data(), bytes.size(), address};
}

}  // namespace

TracedModule::TracedModule(ProcessModule module)
    : path_(std::move(module.path)),
      file_(std::make_shared<const ElfFile>(std::move(module.file))),
      bias_(module.bias) {
  constexpr uint64_t kPage = 4096;
  start_ = UINT64_MAX;
  for (const AddressRange& range : file_->load_ranges()) {
    start_ = std::min(start_, (range.begin + bias_) & ~(kPage - 1));
    end_ = std::max(end_, range.end + bias_);
  }
  find_eh_frame();
}

void TracedModule::find_eh_frame() {
  for (const GElf_Phdr& segment : file_->segments()) {
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    eh_frame_.header = section(file_->bytes_at(segment.p_vaddr, kMostBytes), segment.p_vaddr + bias_);
    unwind::Cursor in(eh_frame_.header);
    // .eh_frame_hdr: version, encodings of the pointer, the count, and the table; then the pointer to .eh_frame (LSB
    // core).
    in.skip(1);
    const uint8_t encoding = in.u8();
    in.skip(2);
    uint64_t frame = 0;
    if (!unwind::read_pointer(in, encoding, eh_frame_.header.address, frame)) frame = 0;
    eh_frame_.frame = section(file_->bytes_at(frame - bias_, kMostBytes), frame);
    if (frame != 0 && eh_frame_.frame.size != 0) return;
  }
  eh_frame_.header = {};
  // Static programs may have no PT_GNU_EH_FRAME; without the table, a rule is searched from the beginning.
  if (const ElfSection* frames = file_->section(".eh_frame"); frames != nullptr && frames->allocated())
    eh_frame_.frame = section(file_->bytes_at(frames->address, frames->size), frames->address + bias_);
}

std::string TracedModule::key() const { return path_ + '\0' + build_id_text(file_->build_id()); }

bool TracedModule::is_behind_call(uint64_t address) const {
  // From the file's bytes: memory may contain our breakpoints.
  if (!is_code(address - 1)) return false;
  const std::span<const uint8_t> code = file_->bytes_at(address - bias_ - unwind::kLongestCall, unwind::kLongestCall);
  return code.size() == unwind::kLongestCall && unwind::preceded_by_call(code.data() + code.size());
}

}  // namespace penna
