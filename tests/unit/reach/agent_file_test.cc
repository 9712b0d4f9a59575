// SPDX-License-Identifier: MIT
// This test program stands for the agent: it has debugging sections, too.
#include "reach/inject/agent_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"

namespace penna {
namespace {

constexpr char kSelf[] = "/proc/self/exe";

// A test with its debug information and sanitizers: not byte by byte.
std::string whole(const std::string& path) {
  const auto text = read_file(path, 1 << 30);
  return text ? *text : "";
}

class AgentFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(nullptr, ::mkdtemp(directory_.data())); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& bytes) const {
    std::ofstream(directory_ + "/agent", std::ios::binary) << bytes;
    return directory_ + "/agent";
  }

  std::string directory_ = "/tmp/agent_file.XXXXXX";
};

TEST_F(AgentFileTest, IsCopiedAsFarAsItIsLoaded) {
  const auto agent = AgentFile::open(kSelf);
  ASSERT_TRUE(agent) << agent.error().text;
  const Fd memory(::memfd_create("copy", MFD_CLOEXEC));
  ASSERT_TRUE(agent->copy_to(memory));
  std::string copy = whole("/proc/self/fd/" + std::to_string(memory.get()));
  const std::string original = whole(kSelf);
  ASSERT_GT(copy.size(), sizeof(Elf64_Ehdr));
  ASSERT_LT(copy.size(), original.size());
  Elf64_Ehdr header;
  std::memcpy(&header, copy.data(), sizeof header);
  EXPECT_EQ(0, header.e_shnum + header.e_shstrndx);
  EXPECT_EQ(0u, header.e_shoff);
  std::memcpy(copy.data(), original.data(), sizeof header);
  EXPECT_EQ(original.substr(0, copy.size()), copy);
}

TEST_F(AgentFileTest, ThatIsCutIsRefused) {
  const std::string original = whole(kSelf);
  for (const size_t bytes : {size_t{0}, size_t{10}, sizeof(Elf64_Ehdr), size_t{100}, size_t{4096}}) {
    const auto agent = AgentFile::open(write(original.substr(0, bytes)));
    ASSERT_FALSE(agent) << bytes;
    EXPECT_NE(std::string::npos, agent.error().text.find("is truncated: reinstall Penna")) << agent.error().text;
  }
  EXPECT_FALSE(AgentFile::open(directory_ + "/none"));
  EXPECT_FALSE(AgentFile::open(directory_));
}

TEST_F(AgentFileTest, ThatIsCutLaterIsNotCopied) {
  const std::string path = write(whole(kSelf));
  const auto agent = AgentFile::open(path);
  ASSERT_TRUE(agent);
  ASSERT_EQ(0, ::truncate(path.c_str(), 4096));
  const Fd memory(::memfd_create("copy", MFD_CLOEXEC));
  EXPECT_FALSE(agent->copy_to(memory));
  EXPECT_EQ(EIO, errno);
}

}  // namespace
}  // namespace penna
