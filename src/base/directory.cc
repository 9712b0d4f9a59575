// SPDX-License-Identifier: MIT
// See directory.h.
#include "base/directory.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/whole_number.h"

namespace penna {

Result<std::vector<std::string>> names_in(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  if (!listing) return Error{errno_text(errno)};
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  return names;
}

std::vector<std::string> names_with_ending(const std::string& directory, std::string_view ending) {
  std::vector<std::string> found;
  if (const auto names = names_in(directory))
    for (const std::string& name : *names)
      if (name.ends_with(ending)) found.push_back(name.substr(0, name.size() - ending.size()));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  const auto names = names_in(directory);
  if (!names) return numbers;
  for (const std::string& name : *names)
    if (const auto number = whole_number<pid_t>(name); number && *number >= 0) numbers.push_back(*number);
  return numbers;
}

}  // namespace penna
