// SPDX-License-Identifier: MIT
// Raw system calls by processor: sys(number, ...) and sys_failed(result).
#pragma once

#if defined(__x86_64__)
#include "agent/sys_x86_64.h"
#else
#error "the agent is not yet ported to this processor"
#endif
