// Limits how often OpenSSL reads a socket within one step: a handshake, a read or a write.
//
// By itself OpenSSL reads records and messages without data (changed keys, tickets, requests for
// another handshake) for as long as the peer sends them. With this limit the step ends as if
// nothing more had arrived, and its caller can check the time or serve others.
#pragma once

#include <cstddef>

struct bio_st;
struct ssl_st;

namespace flyball::http {

class SocketReads {
 public:
  SocketReads() = default;
  SocketReads(const SocketReads&) = delete;
  SocketReads& operator=(const SocketReads&) = delete;

  // To be called once `ssl` has its socket; this object outlives it.
  void Limit(ssl_st* ssl);
  // To be called when a step begins. A record takes two reads.
  void Begin(int most = kInOneStep) { left_ = most; }

 private:
  static constexpr int kInOneStep = 64;

  // The callback for each read of the socket; its result replaces that of the read.
  static long OnSocket(bio_st* bio, int operation, const char* data, size_t size, int number,
                       long argument, int result, size_t* processed);

  int left_ = 0;
};

}  // namespace flyball::http
