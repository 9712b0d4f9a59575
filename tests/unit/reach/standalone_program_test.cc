// SPDX-License-Identifier: MIT
#include "reach/start/standalone_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "reach/inject/standalone_agent.h"
#include "reach/inject/target.h"

namespace penna {
namespace {

// This test is linked dynamically.
TEST(StandaloneProgram, IsNoneThatADynamicLinkerHasLoaded) {
  EXPECT_FALSE(is_standalone(::getpid()));
  EXPECT_NE(why_no_standalone_agent("/proc/self/exe"), "");
  EXPECT_NE(why_no_standalone_agent("/nowhere"), "");
  EXPECT_EQ(why_no_standalone_agent("/proc/self/status"), "runs a program file that cannot be read");
}

TEST(StandaloneProgram, CountsItsTableFromWhereItLies) {
  StandaloneProgram program;
  constexpr uint64_t kCode = 0x401000, kEntry = 0x480000, kAt = 0x3f0000;
  program.made_frames = std::string(16, 'h');
  for (const uint64_t address : {kCode, kEntry})
    program.made_frames.append(reinterpret_cast<const char*>(&address), sizeof address);
  const std::string table = frames_at(program, RemotePtr<char>(kAt));
  ASSERT_EQ(table.size(), 16u + 8);
  int32_t row[2];
  std::memcpy(row, table.data() + 16, sizeof row);
  EXPECT_EQ(row[0], static_cast<int32_t>(kCode - kAt));
  EXPECT_EQ(row[1], static_cast<int32_t>(kEntry - kAt));
  EXPECT_EQ(table.substr(0, 16), program.made_frames.substr(0, 16));
}

TEST(StandaloneProgram, FindsItsFunctionsByName) {
  StandaloneProgram program;
  program.functions["malloc"] = CodePtr(7);
  EXPECT_EQ(program.function("malloc"), CodePtr(7));
  EXPECT_FALSE(program.function("free"));
}

TEST(StandaloneAgent, LiesBesideTheOther) {
  EXPECT_EQ(standalone_agent_file("/usr/lib/libpenna-agent.so"), "/usr/lib/libpenna-agent-standalone.so");
  EXPECT_EQ(standalone_agent_file("libpenna-agent.so"), "libpenna-agent-standalone.so");
  EXPECT_FALSE(StandaloneAgent::load("/nowhere/libpenna-agent.so"));
}

}  // namespace
}  // namespace penna
