// SPDX-License-Identifier: MIT
// See ask_process.h.
#include "reach/control/ask_process.h"

#include "collect/control/control_request.h"

namespace penna {

Result<penna_control> ask_process(uint32_t pid, ControlPage& page, const penna_control& request, const CallIn& call) {
  return ask_patiently(pid, [&]() -> Result<penna_control> {
    PENNA_TRY(page.ask(request));
    PENNA_TRY(call(static_cast<pid_t>(pid), {page.entry(), page.end(), page.stack_top(), page.inode()}));
    return page.answer();
  });
}

}  // namespace penna
