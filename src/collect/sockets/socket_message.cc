// SPDX-License-Identifier: MIT
// See socket_message.h.
#include "collect/sockets/socket_message.h"

#include <cstring>

namespace penna {
namespace {

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int))];
};

}  // namespace

bool send_with_descriptors(int socket, const void* bytes, size_t size, std::initializer_list<int> descriptors) {
  iovec part{const_cast<void*>(bytes), size};
  Control control{};
  msghdr message = message_of(&part, &control);
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(&control.header), descriptors.begin(), descriptors.size() * sizeof(int));
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

Fd receive_descriptor(const Fd& socket) {
  char byte;
  iovec part{&byte, 1};
  Control control{};
  msghdr message = message_of(&part, &control);
  if (::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int fd;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return Fd(fd);
}

}  // namespace penna
