// SPDX-License-Identifier: MIT
#include "collect/socket_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/fd.h"

namespace penna {
namespace {

// Of another recorder, an hour old, in the directory in which we make ours.
class SocketDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(nullptr, ::mkdtemp(runtime_.data()));
    ASSERT_EQ(0, ::setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1));
    other_ = runtime_ + "/penna-abcdef";
    ASSERT_EQ(0, ::mkdir(other_.c_str(), 0700));
  }
  void TearDown() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    std::filesystem::remove_all(runtime_);
  }

  Fd listen(const std::string& name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (other_ + "/" + name).c_str());
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(0, ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    EXPECT_EQ(0, ::listen(socket.get(), 4));
    return socket;
  }
  void create_later() const {
    for (const char* name : {"/socket", "/control", ""}) {
      const timespec past[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
      ::utimensat(AT_FDCWD, (other_ + name).c_str(), past, 0);
    }
    SocketDirectory ours;
    ASSERT_TRUE(ours.create());
  }

  std::string runtime_ = "/tmp/socket_directory.XXXXXX", other_;
};

TEST_F(SocketDirectoryTest, OfALiveRecorderStaysAndNobodyHasConnectedToBeRecorded) {
  const Fd socket = listen("socket"), control = listen("control");
  create_later();
  EXPECT_TRUE(std::filesystem::exists(other_ + "/socket"));
  EXPECT_EQ(-1, ::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_EQ(EAGAIN, errno);
}

TEST_F(SocketDirectoryTest, OfALiveRecorderWithoutControlStays) {
  const Fd socket = listen("socket");
  (void)listen("control");  // closed
  create_later();
  EXPECT_TRUE(std::filesystem::exists(other_ + "/socket"));
}

TEST_F(SocketDirectoryTest, OfAKilledRecorderIsRemoved) {
  (void)listen("socket");
  (void)listen("control");
  create_later();
  EXPECT_FALSE(std::filesystem::exists(other_));
}

}  // namespace
}  // namespace penna
