// SPDX-License-Identifier: MIT
// A recorder that is stopped accepts nobody: here, one at whose socket as many clients wait as may.
#include "reach/control/find_recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "collect/control/control_server.h"
#include "penna/channel.h"

namespace penna {
namespace {

class BusyRecorder : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(nullptr, ::mkdtemp(directory_.data()));
    control_ = control_path(directory_ + "/socket");
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, control_.c_str(), control_.size() + 1);
    ASSERT_EQ(0, ::bind(listener_.get(), address(), sizeof address_));
    ASSERT_EQ(0, ::listen(listener_.get(), 1));
    do {
      waiting_.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    } while (::connect(waiting_.back().get(), address(), sizeof address_) == 0);
    ASSERT_EQ(EAGAIN, errno);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  std::string directory_ = "/tmp/penna-XXXXXX", control_;
  sockaddr_un address_{};
  Fd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<Fd> waiting_;
};

// A program that this recorder has started.
class StartedProgram {
 public:
  explicit StartedProgram(const std::string& directory) {
    std::string variable = std::string(PENNA_SOCKET_VARIABLE "=") + directory + "/socket";
    char name[] = "sleep", seconds[] = "1000";
    char* const words[] = {name, seconds, nullptr};
    char* const environment[] = {variable.data(), nullptr};
    int done[2];
    EXPECT_EQ(0, ::pipe2(done, O_CLOEXEC));
    pid_ = ::fork();
    if (pid_ == 0) ::execve("/bin/sleep", words, environment), ::_exit(1);
    ::close(done[1]);
    char none = 0;
    EXPECT_EQ(0, ::read(done[0], &none, 1));  // closed by exec: it has the environment now
    ::close(done[0]);
  }
  ~StartedProgram() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST_F(BusyRecorder, IsFoundByItsPid) {
  const StartedProgram program(directory_);
  const auto found = find_recorder(::getpid());
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(control_, found->control);
  EXPECT_EQ(0, found->asked_pid);
}

TEST_F(BusyRecorder, IsThere) {
  EXPECT_TRUE(is_recorder_at(control_));
  listener_.reset();
  EXPECT_FALSE(is_recorder_at(control_));
  EXPECT_FALSE(is_recorder_at(directory_ + "/none"));
}

TEST_F(BusyRecorder, OfWhatItDoesNotRecordIsNotFound) {
  const StartedProgram program("/tmp/penna-000000");
  EXPECT_FALSE(find_recorder(::getpid()));
}

TEST_F(BusyRecorder, DoesNotAnswer) {
  const auto socket = connect_to_recorder(control_);
  ASSERT_FALSE(socket);
  EXPECT_NE(std::string::npos, socket.error().text.find("is it stopped?")) << socket.error().text;
}

}  // namespace
}  // namespace penna
