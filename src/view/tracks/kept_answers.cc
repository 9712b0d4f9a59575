// SPDX-License-Identifier: MIT
// See kept_answers.h. What the index holds: the key, then names and texts in turn.
#include "view/tracks/kept_answers.h"

#include <span>
#include <utility>

#include "view/tracks/index_file.h"
#include "view/tracks/packed_numbers.h"

namespace penna {
namespace {

void put(NumberWriter& out, const std::string& text) {
  out.number(text.size());
  for (const char one : text) out.number(static_cast<uint8_t>(one));
}

std::string take(NumberReader& in) {
  std::string text(in.count(), '\0');
  for (char& one : text) one = static_cast<char>(in.number());
  return text;
}

}  // namespace

KeptAnswers::KeptAnswers(std::vector<std::string> paths, uint64_t identity, const std::string& key)
    : paths_(key.empty() ? std::vector<std::string>() : std::move(paths)), identity_(identity), key_(key) {
  for (const std::string& path : paths_) {
    const std::optional<std::vector<uint8_t>> plain = unpack(IndexFile::read_answers(path, identity_));
    if (!plain) continue;
    NumberReader in(*plain);
    if (take(in) != key_) continue;
    const size_t count = in.count();
    std::map<std::string, std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      std::string name = take(in);
      texts.emplace(std::move(name), take(in));
    }
    if (!in.ok() || !in.at_end()) continue;
    texts_ = std::move(texts);
    return;
  }
}

std::optional<std::string> KeptAnswers::find(const std::string& name) const {
  const std::lock_guard hold(mutex_);
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

void KeptAnswers::keep(const std::string& name, const std::string& text) {
  const std::lock_guard hold(mutex_);
  texts_[name] = text;
  if (is_made_) write();
}

void KeptAnswers::index_is_made() {
  const std::lock_guard hold(mutex_);
  is_made_ = true;
  if (!texts_.empty()) write();
}

void KeptAnswers::write() const {
  NumberWriter out;
  put(out, key_);
  out.number(texts_.size());
  for (const auto& [name, text] : texts_) put(out, name), put(out, text);
  const std::vector<uint8_t> bytes = pack(out);
  for (const std::string& path : paths_)
    if (IndexFile::read_answers(path, identity_) == bytes || IndexFile::write_answers(path, identity_, bytes)) return;
}

}  // namespace penna
