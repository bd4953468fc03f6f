#include "serve/front/list_objects.h"

#include "kube/objects/object_json.h"
#include "kube/watch/object_list.h"

namespace flyball::serve {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(10);  // without any data

class Visitor : public kube::WatchHandler {
 public:
  explicit Visitor(absl::FunctionRef<void(absl::string_view)> use) : use_(use) {}
  void Listed(absl::string_view json) override { use_(json); }

 private:
  const absl::FunctionRef<void(absl::string_view)> use_;
};

}  // namespace

absl::Status ForEachObject(http::HttpTransport& server, kube::ObjectWatchOptions options,
                           absl::FunctionRef<void(absl::string_view json)> use) {
  options.list_timeout = kTimeout;
  kube::ObjectReader reader;
  Visitor visitor(use);
  return kube::ListWhole(server, options, /*version=*/"", reader, visitor).status();
}

}  // namespace flyball::serve
