// SPDX-License-Identifier: MIT
// See tables.h.
#include "sql/tables.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "sql/columns.h"

namespace penna {
namespace {

constexpr auto kInt = SqlType::kInteger;
constexpr auto kBool = SqlType::kBoolean;
constexpr auto kText = SqlType::kText;
constexpr auto kUtc = SqlType::kUtc;
constexpr auto kJson = SqlType::kJson;

// Columns with the same meaning in every table that has them.
constexpr SqlColumn kOfRecording = {"recording", kInt, "", "recording.id", "which one, from 0"};
constexpr SqlColumn kOfProcess = {"process", kInt, "", "process.id", "of which process"};
constexpr SqlColumn kOfThread = {"thread", kInt, "", "thread.id", "of which thread"};
constexpr SqlColumn kInCall = {"call", kInt, "", "call.id", "the innermost call that was open"};
constexpr SqlColumn kTime = {"time", kInt, "ns", "", "when, or when it began: since the recording's first event"};
constexpr SqlColumn kUtcTime = {"utc", kUtc, "", "", "the same as time and date, UTC"};
constexpr SqlColumn kStack = {"stack", kInt, "", "stack.id", "where; NULL: not recorded"};
constexpr SqlColumn kModule = {"module", kText, "", "", "the file that holds it"};
constexpr SqlColumn kFile = {"file", kText, "", "", "source file, where it is known"};
constexpr SqlColumn kLine = {"line", kInt, "", "", "line there"};
constexpr SqlColumn kArgs = {"args", kJson, "", "", "its arguments by name"};
constexpr SqlColumn kCalls = {"calls", kInt, "events", "", "entries and exits in it"};
constexpr SqlColumn kAllocations = {"allocations", kInt, "events", "", "allocations and frees in it"};
constexpr SqlColumn kLocks = {"locks", kInt, "events", "", "lock events in it"};
constexpr SqlColumn kPoints = {"points", kInt, "events", "", "points in it"};
constexpr SqlColumn kLost = {"lost", kInt, "events", "", "events that could not be recorded"};

constexpr SqlColumn kRecordingColumns[] = {{"id", kInt, "", "key", "its number on the command line, from 0"},
                                           {"path", kText, "", "", "the file"},
                                           {"program", kText, "", "", "the command that was recorded"},
                                           {"host", kText, "", "", "the machine's name"},
                                           {"kernel", kText, "", "", "its kernel"},
                                           {"cpu", kText, "", "", "its processor"},
                                           {"version", kText, "", "", "of the Penna that recorded it"},
                                           {"utc", kUtc, "", "", "its first event"},
                                           {"duration", kInt, "ns", "", "from there to its last event"},
                                           {"bytes", kInt, "bytes", "", "size of the file"},
                                           {"state", kText, "", "",
                                            "complete, damaged, cut, unfinished or unwritten, as its events were not "
                                            "read: see health"},
                                           kCalls,
                                           kAllocations,
                                           kLocks,
                                           kPoints,
                                           kLost};
constexpr SqlColumn kProcessColumns[] = {
    {"id", kInt, "", "key", "its number"},
    kOfRecording,
    {"pid", kInt, "", "", "as the kernel calls it"},
    {"parent", kInt, "", "process.id", "that forked it or ran the exec; NULL: not in the recording"},
    {"parent_pid", kInt, "", "", "the parent's pid, in the recording or not"},
    {"name", kText, "", "", "what people call it"},
    {"command", kText, "", "", "with its arguments"},
    {"executable", kText, "", "", "the file that runs"},
    kTime,
    kUtcTime,
    {"duration", kInt, "ns", "", "to its end, or its last event"},
    {"how", kText, "", "", "exited, killed, exec, stopped or unknown"},
    {"code", kInt, "", "", "exit status or signal; NULL: not known"}};
constexpr SqlColumn kThreadColumns[] = {{"id", kInt, "", "key", "its number"},
                                        kOfRecording,
                                        kOfProcess,
                                        {"tid", kInt, "", "", "as the kernel calls it"},
                                        {"name", kText, "", "", "the last that it had"},
                                        kTime,
                                        kUtcTime,
                                        {"duration", kInt, "ns", "", "from its first event to its last"},
                                        kCalls,
                                        kAllocations,
                                        kLocks,
                                        kPoints,
                                        kLost};
constexpr SqlColumn kModuleColumns[] = {kOfRecording,
                                        kOfProcess,
                                        {"path", kText, "", "", "the file that was mapped"},
                                        {"build_id", kText, "", "", "in hex; NULL: it has none"},
                                        {"address", kInt, "", "", "where it begins"},
                                        {"bytes", kInt, "bytes", "", "how far it reaches"},
                                        {"bias", kInt, "bytes", "", "run-time address less address in the file"},
                                        {"time", kInt, "ns", "", "since when it was there"}};
constexpr SqlColumn kSymbolColumns[] = {kOfRecording,
                                        {"function", kText, "", "", "its name"},
                                        kModule,
                                        kFile,
                                        {"line", kInt, "", "", "the first that was met in it"},
                                        {"called", kBool, "", "", "it has rows in call"},
                                        {"in_stacks", kBool, "", "", "it has rows in frame"}};
constexpr SqlColumn kStackColumns[] = {{"id", kInt, "", "key", "its number, in whatever table"},
                                       kOfRecording,
                                       kOfProcess,
                                       {"parent", kInt, "", "stack.id", "the stack of the caller; NULL: none"},
                                       {"depth", kInt, "frames", "", "how many it has, without inlined ones"},
                                       {"address", kInt, "", "", "return address of the innermost"},
                                       {"function", kText, "", "", "the innermost, without those inlined into it"},
                                       kModule,
                                       kFile,
                                       kLine,
                                       {"text", kText, "", "", "all functions, the outermost first, with ; between"}};
constexpr SqlColumn kFrameColumns[] = {{"stack", kInt, "", "stack.id", "of which stack"},
                                       kOfRecording,
                                       kOfProcess,
                                       {"level", kInt, "", "", "0: the innermost"},
                                       {"function", kText, "", "", "its name"},
                                       kModule,
                                       kFile,
                                       kLine,
                                       {"inlined", kBool, "", "", "into the one of the next level"}};
constexpr SqlColumn kEventColumns[] = {
    kOfRecording,
    kOfProcess,
    kOfThread,
    kTime,
    kUtcTime,
    {"kind", kText, "", "", "as in `penna export csv`: enter, exit, alloc, free, lock"},
    {"name", kText, "", "", "the function, point, lock or allocator"},
    {"address", kInt, "", "", "of the function, block or lock"},
    {"size", kInt, "bytes", "", "of an allocation"},
    {"duration", kInt, "ns", "", "of a wait or hold that ends"},
    {"depth", kInt, "calls", "", "open calls and spans around it"},
    kStack,
    kArgs};
constexpr SqlColumn kCallColumns[] = {
    {"id", kInt, "", "key", "its number"},
    kOfRecording,
    kOfProcess,
    kOfThread,
    {"parent", kInt, "", "call.id", "the call that made it; NULL: none that was recorded"},
    {"depth", kInt, "calls", "", "open calls around it"},
    {"function", kText, "", "", "that was called"},
    kModule,
    kFile,
    kLine,
    kTime,
    kUtcTime,
    {"duration", kInt, "ns", "", "with all that it called"},
    {"self", kInt, "ns", "", "without what it called"},
    {"how", kText, "", "", "exit; jump: longjmp left it; unwound: with an outer one; open: never"}};
constexpr SqlColumn kAllocationColumns[] = {
    kOfRecording,
    kOfProcess,
    {"thread", kInt, "", "thread.id", "that allocated it"},
    kInCall,
    {"time", kInt, "ns", "", "its birth, since the recording's first event"},
    kUtcTime,
    {"duration", kInt, "ns", "", "its life, to the end of the recording if it is not over"},
    {"death", kInt, "ns", "", "when it was freed; NULL: it was not, or nobody saw it"},
    {"state", kText, "", "", "freed, live, or replaced: its address was given again, and its free is missing"},
    {"family", kText, "", "", "heap, or pool:NAME; these lie in the heap, so never add them up"},
    {"kind", kText, "", "", "malloc, calloc, realloc and others"},
    {"address", kInt, "", "", "of the block"},
    {"size", kInt, "bytes", "", "as asked for"},
    {"blocks", kInt, "blocks", "", "what it stands for: 1, unless a sample was recorded"},
    {"bytes", kInt, "bytes", "", "what it stands for: its size, unless a sample was recorded"},
    kStack,
    {"function", kText, "", "", "that is said to have allocated it, as in `report alloc --by function`"},
    {"free_thread", kInt, "", "thread.id", "that freed it"},
    {"free_stack", kInt, "", "stack.id", "where, if stacks of frees were recorded"}};
constexpr SqlColumn kWaitColumns[] = {
    kOfRecording,
    kOfProcess,
    {"thread", kInt, "", "thread.id", "that waited"},
    kInCall,
    kTime,
    kUtcTime,
    {"duration", kInt, "ns", "", "how long"},
    {"how", kText, "", "", "got, timeout, error, owner_died, left or open"},
    {"lock", kText, "", "", "what was waited for, by name"},
    {"kind", kText, "", "", "mutex, rwlock, condition, semaphore, join and others"},
    {"address", kInt, "", "", "of it"},
    kStack,
    {"function", kText, "", "", "that waited"},
    {"side", kText, "", "", "what is known of the other: held, gave_back, woke, nobody, timeout, broken or unknown"},
    {"holder", kInt, "", "thread.id", "that held it, or ended the wait"},
    {"holder_stack", kInt, "", "stack.id", "where that thread took it, gave it back or woke"},
    {"holder_function", kText, "", "", "the function there"},
    {"chain", kInt, "threads", "",
     "waiting in a row when it began: 1, or more if the holder waited, too; NULL: after the signal of a condition"}};
constexpr SqlColumn kHoldColumns[] = {kOfRecording,
                                      kOfProcess,
                                      {"thread", kInt, "", "thread.id", "that held it"},
                                      kTime,
                                      kUtcTime,
                                      {"duration", kInt, "ns", "", "how long"},
                                      {"lock", kText, "", "", "its name"},
                                      {"kind", kText, "", "", "mutex, rwlock and others"},
                                      {"address", kInt, "", "", "of it"},
                                      {"shared", kBool, "", "", "held as a reader"},
                                      {"open", kBool, "", "", "not over at the end"},
                                      kStack,
                                      {"function", kText, "", "", "that took it"},
                                      {"release_stack", kInt, "", "stack.id", "where it was given back"},
                                      {"longest_wait", kInt, "ns", "", "the longest that one thread waited meanwhile"}};
constexpr SqlColumn kPointColumns[] = {kOfRecording,
                                       kOfProcess,
                                       kOfThread,
                                       kInCall,
                                       kTime,
                                       kUtcTime,
                                       {"provider", kText, "", "", "as in PROVIDER:NAME"},
                                       {"name", kText, "", "", "the same"},
                                       kArgs,
                                       kStack};
constexpr SqlColumn kSpanColumns[] = {kOfRecording,
                                      kOfProcess,
                                      kOfThread,
                                      kInCall,
                                      kTime,
                                      kUtcTime,
                                      {"duration", kInt, "ns", "", "from its beginning to its end"},
                                      {"provider", kText, "", "", "as in PROVIDER:NAME"},
                                      {"name", kText, "", "", "the same"},
                                      {"depth", kInt, "calls", "", "open calls and spans around it"},
                                      kArgs,
                                      kStack,
                                      {"how", kText, "", "", "as of a call"}};
constexpr SqlColumn kCounterColumns[] = {kOfRecording,
                                         kOfProcess,
                                         kTime,
                                         kUtcTime,
                                         {"name", kText, "", "", "heap.bytes or heap.blocks"},
                                         {"value", kInt, "", "", "from then on"}};
constexpr SqlColumn kHealthColumns[] = {
    kOfRecording,
    {"name", kText, "", "", "the counter's; NULL: it is a sentence"},
    {"value", kInt, "", "", "what was counted; NULL: it is a sentence"},
    {"severity", kText, "", "", "of a sentence: note, warning or error"},
    {"meaning", kText, "", "", "of the counter; or the sentence, as below every report"}};

#define PENNA_COLUMNS(of, list) static_assert(std::size(list) == of##_column::count)
PENNA_COLUMNS(recording, kRecordingColumns);
PENNA_COLUMNS(process, kProcessColumns);
PENNA_COLUMNS(thread, kThreadColumns);
PENNA_COLUMNS(module, kModuleColumns);
PENNA_COLUMNS(symbol, kSymbolColumns);
PENNA_COLUMNS(stack, kStackColumns);
PENNA_COLUMNS(frame, kFrameColumns);
PENNA_COLUMNS(event, kEventColumns);
PENNA_COLUMNS(call, kCallColumns);
PENNA_COLUMNS(allocation, kAllocationColumns);
PENNA_COLUMNS(wait, kWaitColumns);
PENNA_COLUMNS(hold, kHoldColumns);
PENNA_COLUMNS(point, kPointColumns);
PENNA_COLUMNS(span, kSpanColumns);
PENNA_COLUMNS(counter, kCounterColumns);
PENNA_COLUMNS(health, kHealthColumns);
#undef PENNA_COLUMNS

constexpr SqlTableDescription kTables[] = {
    {SqlTable::kRecording, "recording", "A recording that was opened.", kRecordingColumns, false, false, false},
    {SqlTable::kProcess, "process", "A process; after an exec it is another one.", kProcessColumns, false, false,
     false},
    {SqlTable::kThread, "thread", "A thread that has recorded something.", kThreadColumns, false, false, false},
    {SqlTable::kModule, "module", "A file that was mapped into a process.", kModuleColumns, false, false, false},
    {SqlTable::kSymbol, "symbol", "A function that was called or stands in a stack.", kSymbolColumns, false, false,
     false},
    {SqlTable::kStack, "stack", "A stack of calls; its parent is the same without the innermost frame.", kStackColumns,
     false, false, false},
    {SqlTable::kFrame, "frame", "A frame of a stack, inlined ones included.", kFrameColumns, false, false, false},
    {SqlTable::kEvent, "event", "A record, whatever its kind, in the order of its thread.", kEventColumns, true, true,
     false},
    {SqlTable::kCall, "call",
     "A call of a function, from its entry to its end; of calls that a forked child inherits, what the child does in "
     "them is in no row.",
     kCallColumns, true, true, true},
    {SqlTable::kAllocation, "allocation", "A block of memory, from its birth to its death.", kAllocationColumns, true,
     true, false},
    {SqlTable::kWait, "wait",
     "A wait for a lock or for anything else that blocks, with who held it; after the signal of a condition, one for "
     "its mutex.",
     kWaitColumns, true, true, false},
    {SqlTable::kHold, "hold", "A lock held, from taking it to giving it back.", kHoldColumns, true, true, false},
    {SqlTable::kPoint, "point", "A point that was passed; of a span its beginning.", kPointColumns, true, true, false},
    {SqlTable::kSpan, "span", "A span, from its beginning to its end.", kSpanColumns, true, true, false},
    {SqlTable::kCounter, "counter", "A number that changed: what a process has allocated and not freed.",
     kCounterColumns, false, true, false},
    {SqlTable::kHealth, "health", "What is missing or wrong: a counter, or a sentence.", kHealthColumns, false, false,
     false}};
static_assert(std::size(kTables) == kSqlTables);

std::string parameters_of(const SqlTableDescription& table) {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (has) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  };
  add(table.by_thread, "of_thread");
  add(table.by_time, "since");
  add(table.by_time, "until");
  add(table.by_function, "of_function");
  return text;
}

}  // namespace

const char* sql_type_name(SqlType type) {
  switch (type) {
    case SqlType::kInteger: return "BIGINT";
    case SqlType::kBoolean: return "BOOLEAN";
    case SqlType::kText: return "VARCHAR";
    case SqlType::kUtc: return "TIMESTAMP_NS";
    case SqlType::kJson: return "JSON";
  }
  return "";
}

std::span<const SqlTableDescription> sql_tables() { return kTables; }

const SqlTableDescription* find_sql_table(std::string_view name) {
  for (const SqlTableDescription& table : kTables)
    if (name == table.name) return &table;
  return nullptr;
}

std::string sql_tables_markdown() {
  std::string text;
  for (const SqlTableDescription& table : kTables) {
    text += fmt::format("{}### {}\n\n{}", text.empty() ? "" : "\n", table.name, table.rows);
    if (const std::string parameters = parameters_of(table); !parameters.empty())
      text += fmt::format(" Parameters: {}.", parameters);
    text += "\n\n| column | type | unit | key | |\n|---|---|---|---|---|\n";
    for (const SqlColumn& column : table.columns)
      text += fmt::format("| `{}` | {} | {} | {} | {} |\n", column.name, sql_type_name(column.type), column.unit,
                          column.key, column.meaning);
  }
  return text;
}

}  // namespace penna
