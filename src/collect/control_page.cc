// SPDX-License-Identifier: MIT
// See control_page.h.
#include "collect/control_page.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace penna {
namespace {

constexpr size_t kPageBytes = 4096;
static_assert(sizeof(penna_channel) <= kPageBytes);

}  // namespace

ControlPage ControlPage::map(const Fd& memory) {
  ControlPage control;
  void* data = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  struct stat file {};
  if (data != MAP_FAILED && ::fstat(memory.get(), &file) == 0) {
    control.page_ = Mapping(data, kPageBytes);
    control.inode_ = file.st_ino;
  }
  return control;
}

Result<> ControlPage::ask(const penna_control& request) {
  if (!page_) return Error{"the memory of this process could not be mapped"};
  std::memcpy(page_.data() + offsetof(penna_channel, control), &request, sizeof request);
  return ok();
}

penna_control ControlPage::answer() const {
  penna_control copy{};
  if (page_) std::memcpy(&copy, &page()->control, sizeof copy);
  return copy;
}

uint64_t ControlPage::entry() const { return page_ ? page()->control_entry : 0; }
uint64_t ControlPage::end() const { return page_ ? page()->control_end : 0; }
uint64_t ControlPage::stack_top() const { return page_ ? page()->control_stack : 0; }

}  // namespace penna
