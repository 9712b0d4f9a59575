// SPDX-License-Identifier: MIT
// The columns of each table by number, in the order of their descriptions in tables.cc.
//
// Invariant: the last of each enum is the number of its table's columns (checked in tables.cc).
#pragma once

namespace penna {

namespace recording_column {
enum {
  id,
  path,
  program,
  host,
  kernel,
  cpu,
  version,
  utc,
  duration,
  bytes,
  state,
  calls,
  allocations,
  locks,
  points,
  lost,
  count
};
}
namespace process_column {
enum { id, recording, pid, parent, parent_pid, name, command, executable, time, utc, duration, how, code, count };
}
namespace thread_column {
enum { id, recording, process, tid, name, time, utc, duration, calls, allocations, locks, points, lost, count };
}
namespace module_column {
enum { recording, process, path, build_id, address, bytes, bias, time, count };
}
namespace symbol_column {
enum { recording, function, module, file, line, called, in_stacks, count };
}
namespace stack_column {
enum { id, recording, process, parent, depth, address, function, module, file, line, text, count };
}
namespace frame_column {
enum { stack, recording, process, level, function, module, file, line, inlined, count };
}
namespace event_column {
enum { recording, process, thread, time, utc, kind, name, address, size, duration, depth, stack, args, count };
}
namespace call_column {
enum {
  id,
  recording,
  process,
  thread,
  parent,
  depth,
  function,
  module,
  file,
  line,
  time,
  utc,
  duration,
  self,
  how,
  count
};
}
namespace allocation_column {
enum {
  recording,
  process,
  thread,
  call,
  time,
  utc,
  duration,
  death,
  state,
  family,
  kind,
  address,
  size,
  blocks,
  bytes,
  stack,
  function,
  free_thread,
  free_stack,
  count
};
}
namespace wait_column {
enum {
  recording,
  process,
  thread,
  call,
  time,
  utc,
  duration,
  how,
  lock,
  kind,
  address,
  stack,
  function,
  side,
  holder,
  holder_stack,
  holder_function,
  chain,
  count
};
}
namespace hold_column {
enum {
  recording,
  process,
  thread,
  time,
  utc,
  duration,
  lock,
  kind,
  address,
  shared,
  open,
  stack,
  function,
  release_stack,
  longest_wait,
  count
};
}
namespace point_column {
enum { recording, process, thread, call, time, utc, provider, name, args, stack, count };
}
namespace span_column {
enum { recording, process, thread, call, time, utc, duration, provider, name, depth, args, stack, how, count };
}
namespace counter_column {
enum { recording, process, time, utc, name, value, count };
}
namespace health_column {
enum { recording, name, value, severity, meaning, count };
}

}  // namespace penna
