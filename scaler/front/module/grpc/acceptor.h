// The listening socket of the front's port. gRPC does not count connections, so this class accepts
// them, and at once closes those that the admission window refuses.
//
// One thread, from Start to the destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/server/listener.h"
#include "scaler/front/module/admission_window.h"

namespace flyball::front {

class Acceptor {
 public:
  // `address` is HOST:PORT. A host of zeros, or none, means all addresses of both families. Nobody
  // else can listen on the same port. kUnavailable: the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(const std::string& address,
                                                          std::shared_ptr<AdmissionWindow> window);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Passes each accepted connection to `take`, which then owns `fd`. Called once; `clock` outlives
  // this object. kResourceExhausted: no thread can be made.
  absl::Status Start(const Clock& clock, std::function<void(int listener, int fd)> take);

  uint16_t port() const { return static_cast<uint16_t>(listener_.port); }

 private:
  Acceptor(const http::Listener& listener, int stop, std::shared_ptr<AdmissionWindow> window)
      : listener_(listener), stop_(stop), window_(std::move(window)) {}
  void Run(const Clock& clock, const std::function<void(int listener, int fd)>& take);

  const http::Listener listener_;
  const int stop_;  // eventfd; readable: the thread ends
  const std::shared_ptr<AdmissionWindow> window_;
  std::thread thread_;
};

}  // namespace flyball::front
