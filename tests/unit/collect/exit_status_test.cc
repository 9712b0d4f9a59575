// SPDX-License-Identifier: MIT
// The ends of processes that are not our children.
#include "collect/exit_status.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/fd.h"

namespace penna::exit_status_test {
namespace {

// A child whose own child ends as `end` does, and which does not wait for it before it is told to.
class Family {
 public:
  explicit Family(const std::function<void()>& end) {
    int up[2], down[2];
    EXPECT_EQ(::pipe(up) + ::pipe(down), 0);
    child_ = ::fork();
    if (child_ == 0) {
      const pid_t own = ::fork();
      if (own == 0) {
        end();
        ::_exit(0);
      }
      char byte;
      ::close(down[1]);
      (void)!::write(up[1], &own, sizeof own);
      (void)!::read(down[0], &byte, 1);
      ::waitpid(own, nullptr, 0);
      ::_exit(0);
    }
    EXPECT_EQ(::read(up[0], &pid, sizeof pid), ssize_t{sizeof pid});
    pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    tell_ = Fd(down[1]);
    for (const int fd : {up[0], up[1], down[0]}) ::close(fd);
    pollfd ended{pidfd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 10000), 1);
  }
  void reap() {
    tell_ = Fd();
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  ~Family() {
    if (child_ != 0) reap();
  }
  pid_t pid = 0;
  Fd pidfd;

 private:
  pid_t child_;
  Fd tell_;
};

TEST(ExitStatus, OfAGrandchildIsKnownUntilItsParentHasWaited) {
  const std::pair exited(EndKind::kExited, 7), killed(EndKind::kSignaled, SIGKILL), fine(EndKind::kExited, 0);
  Family one([] { ::_exit(7); });
  EXPECT_EQ(end_of_process(one.pidfd.get(), static_cast<uint32_t>(one.pid)), exited);
  Family two([] { ::raise(SIGKILL); });
  EXPECT_EQ(end_of_process(two.pidfd.get(), static_cast<uint32_t>(two.pid)), killed);
  Family three([] {});
  EXPECT_EQ(end_of_process(three.pidfd.get(), static_cast<uint32_t>(three.pid)), fine);
}

TEST(ExitStatus, AfterwardsTheKernelKnowsOrNobody) {
  Family one([] { ::_exit(7); });
  one.reap();
  const auto [how, code] = end_of_process(one.pidfd.get(), static_cast<uint32_t>(one.pid));
  if (how == EndKind::kUnknown) return;  // before Linux 6.15
  EXPECT_EQ(how, EndKind::kExited);
  EXPECT_EQ(code, 7);
}

TEST(ExitStatus, OfALineOfProc) {
  const std::string numbers =
      " 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0";
  EXPECT_EQ(status_in_stat("12 (a) Z" + numbers + " 768\n"), 768);
  EXPECT_EQ(status_in_stat("12 (a) b) (Z) Z" + numbers + " 9\n"), 9);
  EXPECT_EQ(status_in_stat("12 (a) S" + numbers + " 0\n"), std::nullopt);
  EXPECT_EQ(status_in_stat("12 (a) Z" + numbers), std::nullopt);
  EXPECT_EQ(status_in_stat("12 (a) Z" + numbers + " x\n"), std::nullopt);
  EXPECT_EQ(status_in_stat(""), std::nullopt);
}

}  // namespace
}  // namespace penna::exit_status_test
