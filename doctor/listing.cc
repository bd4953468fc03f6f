#include "doctor/listing.h"

#include "base/status_macros.h"
#include "kube/objects/object_json.h"
#include "kube/watch/object_list.h"
#include "kube/watch/object_watch.h"

namespace flyball::doctor {
namespace {

constexpr size_t kMaxObjects = 50'000;

class Collector : public kube::WatchHandler {
 public:
  void ListStarted() override { objects_.clear(); }
  void Listed(absl::string_view object_json) override { objects_.emplace_back(object_json); }
  absl::Status Acceptable() override {
    return objects_.size() <= kMaxObjects
               ? absl::OkStatus()
               : absl::ResourceExhaustedError("more than 50,000 objects");
  }

  std::vector<std::string> Take() && { return std::move(objects_); }

 private:
  std::vector<std::string> objects_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ListObjects(http::HttpTransport& server,
                                                     const kube::ResourceInfo& resource,
                                                     absl::string_view ns, absl::string_view labels,
                                                     absl::Duration timeout) {
  kube::ObjectReader reader;
  Collector collector;
  kube::ObjectWatchOptions options;
  options.resource = resource;
  options.ns = std::string(ns);
  options.label_selector = std::string(labels);
  options.list_timeout = timeout;
  RETURN_IF_ERROR(kube::ListPages(server, options, reader, collector).status());
  return std::move(collector).Take();
}

}  // namespace flyball::doctor
