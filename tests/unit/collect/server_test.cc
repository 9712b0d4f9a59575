// SPDX-License-Identifier: MIT
// Server: peers that request a plan in every wrong way. They are answered or dropped; no peer is blocked, and the next
// one is served. And when a process counts as ended.
#include "collect/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "collect/budget.h"
#include "fake_channel.h"
#include "penna/detail/starts.h"
#include "recording/writer.h"

namespace penna::server_test {
namespace {

class Asking : public testing::Test {
 protected:
  void SetUp() override {
    auto path = directory_.create();
    ASSERT_TRUE(path);
    path_ = *path;
    recording_ = path_ + ".penna";
    auto doorbell = Doorbell::create();
    auto writer = RecordingWriter::create(recording_, {.overwrite = true});
    ASSERT_TRUE(doorbell && writer);
    doorbell_ = std::make_unique<Doorbell>(std::move(*doorbell));
    collector_ = std::make_unique<Collector>(std::move(*writer), *doorbell_);
    penna_config config{};
    config.magic = PENNA_CHANNEL_MAGIC;
    config.version = PENNA_ABI_VERSION;
    config.chunk_count = FakeChannel::kChunks;
    config.max_nodes = FakeChannel::kNodes;
    auto server = Server::listen(path_, config, *doorbell_, *collector_);
    ASSERT_TRUE(server);
    server_ = std::move(*server);
    server_->set_planner([this](std::span<const penna_patch_question> questions, uint32_t) {
      asked_.push_back(questions.size());
      return std::vector<uint8_t>(100, 'p');
    });
  }
  void TearDown() override { ::unlink(recording_.c_str()); }

  Fd connect_unanswered() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  static void expect_config(const Fd& socket) {
    penna_config config;
    EXPECT_EQ(::recv(socket.get(), &config, sizeof config, 0), static_cast<ssize_t>(sizeof config));
    EXPECT_EQ(config.plans, 1u);
  }
  // A connection that has its configuration.
  Fd connect() {
    Fd socket = connect_unanswered();
    server_->work();
    expect_config(socket);
    return socket;
  }
  static void ask(const Fd& socket, int descriptor, size_t bytes = sizeof(penna_hello),
                  uint32_t what = PENNA_HELLO_ASKS) {
    penna_hello hello{};
    hello.magic = PENNA_CHANNEL_MAGIC;
    hello.version = PENNA_ABI_VERSION;
    hello.parent = 77;
    hello.after_exec = what;
    send(socket, descriptor, hello, bytes);
  }
  static void send(const Fd& socket, int descriptor, penna_hello hello, size_t bytes = sizeof(penna_hello)) {
    iovec part{&hello, bytes};
    union {
      cmsghdr header;
      char room[CMSG_SPACE(sizeof(int))];
    } control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
      control.header.cmsg_level = SOL_SOCKET;
      control.header.cmsg_type = SCM_RIGHTS;
      control.header.cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    }
    ASSERT_EQ(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  static Fd questions(size_t bytes) {
    Fd memory(::memfd_create("questions", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
    return memory;
  }
  // What comes back within this call: 1 with an answer, 0 when the server has let go, -1 when nothing came.
  static ssize_t answered(const Fd& socket) {
    char byte;
    return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
  }

  SocketDirectory directory_;
  std::string path_, recording_;
  std::unique_ptr<Doorbell> doorbell_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Server> server_;
  std::vector<size_t> asked_;  // questions, by peer
};

TEST_F(Asking, GetsAPlan) {
  const Fd socket = connect();
  const Fd memory = questions(3 * sizeof(penna_patch_question));
  ask(socket, memory.get());
  server_->work();
  EXPECT_EQ(answered(socket), 1);
  EXPECT_EQ(asked_, std::vector<size_t>{3});
}

TEST_F(Asking, TooLittleOrTooMuchIsCut) {
  for (size_t bytes : {sizeof(penna_patch_question) - 1, 600 * sizeof(penna_patch_question) + 7}) {
    const Fd socket = connect();
    ask(socket, questions(bytes).get());
    server_->work();
    EXPECT_EQ(answered(socket), 1);
  }
  EXPECT_EQ(asked_, (std::vector<size_t>{0, size_t{PENNA_PATCH_MAX_MODULES}}));
}

TEST_F(Asking, AStartIsHandedOnWithItsConnection) {
  std::vector<Server::AnnouncedStart> starts;
  server_->on_start([&](Server::AnnouncedStart start) { starts.push_back(std::move(start)); });
  const Fd socket = connect();
  ask(socket, -1, sizeof(penna_hello), PENNA_HELLO_SPAWNS);
  server_->work();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].pid, static_cast<uint32_t>(::getpid()));
  EXPECT_EQ(starts[0].thread, 77u);
  EXPECT_TRUE(starts[0].spawns);
  EXPECT_EQ(answered(socket), -1);
  ASSERT_EQ(::send(socket.get(), "", 1, 0), 1);
  server_->work();  // what comes is not the server's any more
  EXPECT_EQ(answered(starts[0].socket), 1);
  starts.clear();
  EXPECT_EQ(answered(socket), 0);
}

TEST_F(Asking, AStartWithADescriptorOrWithNobodyToTellIsLetGo) {
  const Fd socket = connect(), other = connect();
  ask(socket, -1, sizeof(penna_hello), PENNA_HELLO_STARTS);
  server_->work();
  EXPECT_EQ(answered(socket), 0);
  server_->on_start([](Server::AnnouncedStart) { ADD_FAILURE() << "handed on"; });
  ask(other, questions(8).get(), sizeof(penna_hello), PENNA_HELLO_STARTS);
  server_->work();
  EXPECT_EQ(answered(other), 0);
}

TEST_F(Asking, WithWhatIsNoMemory) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const Fd reading(pipe[0]), writing(pipe[1]), zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC)),
      file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), empty = questions(0);
  for (int descriptor : {reading.get(), writing.get(), zero.get(), file.get(), empty.get(), -1}) {
    const Fd socket = connect();
    ask(socket, descriptor);
    server_->work();
    EXPECT_EQ(answered(socket), 0) << descriptor;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Asking, HalfAHelloAndGoneBeforeTheAnswer) {
  const Fd memory = questions(sizeof(penna_patch_question));
  {
    const Fd half = connect();
    ask(half, memory.get(), sizeof(penna_hello) / 2);
    server_->work();
    EXPECT_EQ(answered(half), 0);
    const Fd gone = connect();
    ask(gone, memory.get());
  }
  { const Fd silent = connect(); }
  server_->work();
  const Fd socket = connect();
  ask(socket, memory.get());
  server_->work();
  EXPECT_EQ(answered(socket), 1);
}

// In one turn: connections make room for two others, one of which gets the number of a socket that an event was for.
TEST_F(Asking, WhoeverGetsTheNumberOfAClosedSocketIsKept) {
  std::vector<Fd> before;
  for (size_t i = 0; i < Budget::kConnectionsOfOne; ++i) before.push_back(connect());
  ::usleep(2000);  // age is known in milliseconds
  const Fd one = connect_unanswered(), other = connect_unanswered();
  before.front().reset();
  server_->work();
  for (const Fd* socket : {&one, &other}) {
    expect_config(*socket);
    const Fd memory = questions(sizeof(penna_patch_question));
    ask(*socket, memory.get());
    server_->work();
    EXPECT_EQ(answered(*socket), 1);
  }
}

// The last descriptor is that of a connection that has said nothing for a while.
TEST_F(Asking, ASilentConnectionMakesWayForTheNext) {
  const Fd silent = connect();
  ::usleep(150'000);
  const Fd late = connect_unanswered();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{200, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<Fd> taken;
  do taken.emplace_back(::fcntl(late.get(), F_DUPFD_CLOEXEC, 0));
  while (taken.back());
  server_->work();
  taken.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(answered(silent), 0);
  EXPECT_EQ(answered(late), 1);
}

TEST_F(Asking, WithoutAPlanner) {
  const Fd socket = connect();
  server_->set_planner({});
  const Fd memory = questions(sizeof(penna_patch_question));
  ask(socket, memory.get());
  server_->work();
  EXPECT_EQ(answered(socket), 0);
}

// A process whose channel is written by this one, on its behalf.
class Introducing : public Asking {
 protected:
  void SetUp() override {
    Asking::SetUp();
    server_->set_introducer(static_cast<uint32_t>(::getpid()));
    channel_.seal();
    process_ = ::fork();
    if (process_ == 0) {
      for (;;) ::pause();
    }
  }
  void TearDown() override {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    Asking::TearDown();
  }
  Fd introduce() {
    Fd socket = connect();
    penna_hello hello{};
    hello.magic = PENNA_CHANNEL_MAGIC;
    hello.version = PENNA_ABI_VERSION;
    hello.pid = static_cast<uint32_t>(process_);
    hello.after_exec = 1;
    hello.channel_bytes = channel_.size();
    send(socket, channel_.memory().get(), hello);
    server_->work();
    EXPECT_EQ(answered(socket), 1);
    EXPECT_EQ(server_->living_pids(), std::vector<uint32_t>{hello.pid});
    return socket;
  }
  void end_process() const {
    ::kill(process_, SIGKILL);
    siginfo_t info;
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT), 0);
    server_->work();
  }

  FakeChannel channel_;
  pid_t process_ = 0;
};

TEST_F(Introducing, IsAwaitedAfterTheProcessHasEnded) {
  Fd socket = introduce();
  end_process();
  EXPECT_EQ(server_->living(), 1u);  // something may be unwritten
  EXPECT_TRUE(server_->living_pids().empty());
  socket.reset();
  server_->work();
  EXPECT_EQ(server_->living(), 0u);
}

TEST_F(Introducing, IsNotMissedWhileTheProcessRuns) {
  introduce().reset();
  server_->work();
  EXPECT_EQ(server_->living(), 1u);
  end_process();
  EXPECT_EQ(server_->living(), 0u);
}

}  // namespace
}  // namespace penna::server_test
