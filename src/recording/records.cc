// SPDX-License-Identifier: MIT
// See records.h. The code off the hot path.
#include "recording/records.h"

#include <algorithm>
#include <string_view>

namespace penna {
namespace {

// The latest possible end of a chunk's content if it was never handed over: the last record may end in zeros, so this
// is as far past the last nonzero word as a record can reach.
size_t latest_end(const uint8_t* chunk, size_t size) {
  size_t end = size;
  while (end > sizeof(penna_chunk) && load_word(chunk + end - 8) == 0) end -= 8;
  return std::min(size, end + (PENNA_MAX_RECORD_WORDS - 1) * size_t{8});
}

size_t content_of(const penna_chunk& header, const uint8_t* chunk, size_t size) {
  size &= ~size_t{7};
  uint64_t written = header.content_bits / 8;
  if (written == 0) return latest_end(chunk, size);
  return static_cast<size_t>(std::clamp<uint64_t>(written & ~uint64_t{7}, sizeof(penna_chunk), size));
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Cuts the next zero-terminated string off `text`.
std::optional<std::string> take_string(std::string_view& text) {
  size_t length = text.find('\0');
  if (length == std::string_view::npos) return std::nullopt;
  std::string result(text.substr(0, length));
  text.remove_prefix(length + 1);
  return result;
}

}  // namespace

RecordCursor::RecordCursor(std::span<const uint8_t> chunk) : data_(chunk.data()) {
  if (chunk.size() < sizeof(penna_chunk)) {
    damaged_ = true;
    return;
  }
  std::memcpy(&header_, data_, sizeof header_);
  pc_high_ = uint64_t{header_.pc_high} << 32;
  end_ = content_of(header_, data_, std::min<size_t>(chunk.size(), PENNA_CHUNK_BYTES));
  at_ = sizeof(penna_chunk);
  first_open_ = end_;
}

// `header` at at_ begins no record to report: a hole, padding, a torn record, or damage (false).
bool RecordCursor::pass_over(uint64_t header) {
  if (header == 0) {
    size_t behind = at_;
    while (behind < end_ && load_word(data_ + behind) == 0) behind += 8;
    if (behind == end_ && header_.content_bits == 0) {  // not a hole: not reserved yet
      if (first_open_ == end_) first_open_ = at_;
      end_ = at_;
      return true;
    }
    note_open();
    ++holes_;
    at_ = behind;
    return true;
  }
  uint32_t kind = penna_header_kind(header);
  size_t bytes = size_t{penna_header_words(header)} * 8;
  bool busy = penna_header_tag(header) == PENNA_TAG_BUSY;
  if (bytes == 0 || bytes > end_ - at_ || kind == 0 || (!busy && kind != PENNA_KIND_PAD)) {
    damaged_ = true;
    return false;
  }
  if (busy) {
    note_open();
    ++torn_;
  }
  at_ += bytes;
  return true;
}

ChunkSummary scan_chunk(std::span<const uint8_t> chunk) {
  return scan_chunk(chunk, [](uint32_t, auto&&) {});
}

std::optional<Module> decode_module(const Record& record) {
  auto info = record.as<penna_module>();
  auto path = text_of(record.after<penna_module>());
  if (record.payload_bytes < sizeof info || info.start >= info.end || info.path_bytes > path.size() ||
      info.build_id_bytes > sizeof info.build_id)
    return std::nullopt;
  Module module;
  module.bias = info.bias;
  module.start = info.start;
  module.end = info.end;
  module.generation = info.generation;
  module.build_id.assign(info.build_id, info.build_id + info.build_id_bytes);
  module.path = path.substr(0, info.path_bytes);
  // The dynamic linker's name for the vDSO, which the agent takes for a file in the current directory.
  if (module.path.ends_with("linux-vdso.so.1")) module.path = "[vdso]";
  module.ticks = record.time;
  return module;
}

std::optional<Site> decode_site(const Record& record) {
  auto info = record.as<penna_site_info>();
  auto text = text_of(record.after<penna_site_info>());
  if (record.payload_bytes < sizeof info || info.text_bytes > text.size() || info.arg_count > PENNA_MAX_ARGS)
    return std::nullopt;
  text = text.substr(0, info.text_bytes);
  Site site;
  site.id = info.site;
  site.line = info.line;
  site.address = info.address;
  site.kind = info.kind != 0 ? info.kind : uint8_t{PENNA_SITE_EVENT};
  for (std::string* field : {&site.provider, &site.name, &site.file}) {
    auto value = take_string(text);
    if (!value) return std::nullopt;
    *field = std::move(*value);
  }
  for (int i = 0; i < info.arg_count; ++i) {
    auto name = take_string(text);
    if (!name) return std::nullopt;
    site.arguments.push_back({info.arg_types[i], std::move(*name)});
  }
  for (SiteArgument& argument : site.arguments) {
    auto format = site.is_of_call() ? take_string(text) : std::nullopt;
    if (format) argument.format = std::move(*format);
  }
  return site;
}

std::string decode_thread_name(const Record& record) {
  auto info = record.as<penna_thread>();
  return {info.name, strnlen(info.name, sizeof info.name)};
}

NamedThread decode_named_thread(const Record& record) {
  if (record.payload_bytes < sizeof(penna_thread_named)) return {};
  const auto info = record.as<penna_thread_named>();
  return {info.serial, info.tid};
}

}  // namespace penna
