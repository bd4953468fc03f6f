#include "http/testing/fake_dns_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::http {
namespace {

constexpr size_t kHead = 12;
constexpr char kTypeA = 1;

// The name at `at`, which is moved behind it.
std::string ReadName(const std::string& message, size_t& at) {
  std::string name;
  while (at < message.size() && message[at] != 0) {
    const auto length = static_cast<uint8_t>(message[at]);
    absl::StrAppend(&name, name.empty() ? "" : ".", message.substr(at + 1, length));
    at += length + 1u;
  }
  ++at;
  return name;
}

}  // namespace

FakeDnsServer::FakeDnsServer() {
  socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

FakeDnsServer::~FakeDnsServer() {
  shutdown(socket_, SHUT_RDWR);  // ends the read
  thread_.join();
  close(socket_);
}

void FakeDnsServer::Set(const std::string& name, std::vector<std::string> addresses) {
  absl::MutexLock lock(&mutex_);
  names_[name] = std::move(addresses);
}

void FakeDnsServer::Hang() {
  absl::MutexLock lock(&mutex_);
  hangs_ = true;
}

std::vector<std::string> FakeDnsServer::asked() const {
  absl::MutexLock lock(&mutex_);
  return asked_;
}

DnsSettings FakeDnsServer::Settings(const std::string& resolv_conf) const {
  std::string path = std::filesystem::temp_directory_path() / "flyball-resolv.conf.XXXXXX";
  close(mkstemp(path.data()));
  std::ofstream(path) << resolv_conf;
  return {.resolv_conf = path, .servers = absl::StrCat("127.0.0.1:", port_)};
}

void FakeDnsServer::Run() {
  while (true) {
    char buffer[512];
    sockaddr_in from = {};
    socklen_t size = sizeof from;
    const ssize_t got =
        recvfrom(socket_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < static_cast<ssize_t>(kHead)) return;
    const std::string answer = AnswerTo(std::string(buffer, static_cast<size_t>(got)));
    if (answer.empty()) continue;
    sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

std::string FakeDnsServer::AnswerTo(const std::string& question) {
  size_t end = kHead;
  const std::string name = ReadName(question, end);
  const bool wants_v4 = question[end + 1] == kTypeA;
  end += 4;  // type and class
  absl::MutexLock lock(&mutex_);
  if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) asked_.push_back(name);
  if (hangs_) return "";
  const auto known = names_.find(name);
  const std::vector<std::string> addresses =
      known != names_.end() && wants_v4 ? known->second : std::vector<std::string>();
  std::string answer = question.substr(0, end);
  answer[2] = static_cast<char>(0x81);  // an answer, recursion was wanted
  answer[3] = static_cast<char>(known == names_.end() ? 0x83 : 0x80);
  answer[7] = static_cast<char>(addresses.size());
  answer[9] = answer[11] = 0;  // nothing additional
  for (const std::string& address : addresses) {
    // The question's name, type A, class IN, one second, four bytes.
    answer.append("\xc0\x0c\0\1\0\1\0\0\0\1\0\4", 12);
    in_addr bytes = {};
    inet_pton(AF_INET, address.c_str(), &bytes);
    answer.append(reinterpret_cast<const char*>(&bytes), 4);
  }
  return answer;
}

}  // namespace flyball::http
