// The pods of the services that the front carries, followed by one watch for each namespace that
// has such a service.
//
// Thread-safe, but Follow and Forget are called by one thread. A watch and its thread begin with
// the first service of a namespace and end with the last one. Meanwhile all pods of the namespace
// are kept, since services come and go and selectors change: about 300 bytes each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/selector.h"
#include "kube/watch/object_watch.h"
#include "serve/front/carried_pod.h"

namespace flyball::serve {

class CarriedPods {
 public:
  using Connect = std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()>;
  // Called with all pods of a service, including those that are being deleted: by the watch's
  // thread or within Follow, one call at a time for each namespace.
  using OnPods = std::function<void(const std::string& service, std::vector<front::PodView>)>;

  CarriedPods(Connect connect, Clock& clock, OnPods on_pods);
  ~CarriedPods();  // ends the watches

  // From now on the pods of `ns` that the selector matches are those of the service. They are
  // reported once the first list has arrived, and after each change.
  //   kResourceExhausted   no thread can be made for the watch
  absl::Status Follow(const std::string& service, const std::string& ns, kube::Selector selector,
                      const std::string& target_port);
  // Must not be called within OnPods, since it may wait for the watch's thread.
  void Forget(const std::string& service, const std::string& ns);
  // Ends the watches; nothing is reported any more.
  void Stop();

  // How and where the pod's readiness is probed; nullopt: it does not exist, or can't be probed.
  // `requests` is the address that requests go to.
  struct Question {
    std::string address;
    ReadinessCheck check;
  };
  std::optional<Question> QuestionOf(const std::string& ns, const std::string& uid,
                                     const std::string& requests) const;

 private:
  class Namespace;

  const Connect connect_;
  Clock& clock_;
  const OnPods on_pods_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Namespace>> namespaces_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::serve
