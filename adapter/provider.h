// The interface that the API server and the scaler see: answers of the three metrics APIs as
// values.
//
// Implementations are thread-safe. Errors carry the text for the client; how they become HTTP:
//   kNotFound          404 NotFound, no details
//   kInternal          500 InternalError, "Internal error occurred: " + text,
//                      details.causes[0].message = text
//   kUnknown           500 with the text alone, no reason
//   kInvalidArgument   400 BadRequest
//   kDeadlineExceeded  504
//   kUnavailable       503 without Retry-After
//   kResourceExhausted the request's AdmitList has refused the list
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "base/clock.h"
#include "base/freshness.h"
#include "kube/objects/object_directory.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"

namespace flyball::adapter {

// How long a list will be.
struct ListSize {
  size_t items = 0;
  size_t text_bytes = 0;  // as JSON, of the names, labels and values in which the items differ
  size_t held_bytes = 0;  // that the provider keeps until the list is made
  bool to_ask = false;    // the metric source is asked for it next
  // Counts `held_bytes` elsewhere; it is let go where they are counted instead.
  std::shared_ptr<const void>* counted = nullptr;

  // Of a list with metrics of these objects, for which the metric source has yet to be asked.
  static ListSize Of(const std::vector<kube::ObjectPtr>& objects) {
    ListSize size = {.items = objects.size(),
                     .held_bytes = objects.size() * sizeof(kube::ObjectPtr),
                     .to_ask = true};
    for (const kube::ObjectPtr& object : objects) {
      size.text_bytes += object->ns.size() + object->name.size();
    }
    return size;
  }

  template <typename Labels>
  void AddLabels(const Labels& labels) {
    constexpr size_t kPairBytes = 6;  // quotes, colon and comma
    for (const auto& [name, value] : labels) {
      text_bytes += kPairBytes + JsonBytes(name) + JsonBytes(value);
    }
  }
  // How many bytes of JSON valid UTF-8 has at most, without quotes.
  static size_t JsonBytes(absl::string_view text) {
    constexpr size_t kEscape = 6;  // of one byte, or of the three of U+2028
    size_t bytes = 0;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      const bool escaped = byte < 0x20 || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\';
      bytes += escaped ? kEscape : byte < 0x80 ? 1 : kEscape / 3;
    }
    return bytes;
  }
};

// Asked once by a provider before it makes a list, and before it asks a metric source if the length
// is known by then. If it is not OK (kResourceExhausted), that is the provider's answer.
using AdmitList = std::function<absl::Status(const ListSize& size)>;

// The answer to a request that its holder asks again and again.
template <typename List>
struct StandingAnswer {
  bool unchanged = false;  // the items are those of the last answer, and left out of `list`
  std::optional<absl::Time> time =
      std::nullopt;  // if unchanged: the time of all items; nullopt: unchanged too
  List list = {};
};

// One or several requests that their holder repeats. It costs little as long as the answers stay
// the same. One thread at a time; the provider outlives it.
template <typename Answers>
class StandingRequest {
 public:
  virtual ~StandingRequest() = default;
  // The provider's present answer; no sample was queried before this call. After a failure the next
  // answer is never "unchanged".
  virtual Answers Ask(absl::Duration timeout) = 0;
};

class MetricsProvider {
 public:
  virtual ~MetricsProvider() = default;
  // Changes whenever an earlier answer may be out of date because registry, rules or objects
  // changed. Costs a few atomic loads.
  virtual uint64_t Epoch() const = 0;
};

// ---- custom.metrics.k8s.io ----

struct CustomMetricRequest {
  std::string resource;  // as written in the URL: plural or singular, any case, perhaps with .group
  std::optional<std::string> ns;  // absent: root-scoped path
  // The path is /namespaces/{name}/metrics/{metric}: `name` is the namespace, ns is absent.
  bool namespace_itself = false;
  std::string name;  // "*": all objects that object_selector matches
  std::string metric;
  kube::Selector object_selector;
  kube::Selector metric_selector;
  absl::Duration timeout = absl::Seconds(60);
  absl::Duration max_age = absl::InfiniteDuration();  // of the samples
  AdmitList admit = nullptr;
};

struct DescribedObject {
  std::string kind;         // "Pod"
  std::string api_version;  // group + "/" + version: "/v1", "apps/v1"
  std::string ns;           // "" is left out
  std::string name;
};

struct CustomMetricValue {
  DescribedObject object;
  int64_t value_milli = 0;
};

struct CustomMetricList {
  std::string metric;
  kube::Selector metric_selector;  // empty: `selector: null`
  absl::Time timestamp;            // of all items
  std::vector<CustomMetricValue> items;
  Freshness freshness;  // whose epoch is the provider's Epoch()
};

// One line of the discovery document.
struct CustomMetricInfo {
  kube::GroupResource resource;
  bool namespaced = true;
  std::string metric;
  friend bool operator==(const CustomMetricInfo&, const CustomMetricInfo&) = default;
};

class CustomMetricsProvider : public MetricsProvider {
 public:
  virtual absl::StatusOr<CustomMetricList> Get(const CustomMetricRequest& request) = 0;
  // Sorted by resource, metric. The same pointer until the registry changes.
  virtual std::shared_ptr<const std::vector<CustomMetricInfo>> ListAll() const = 0;
};

// ---- external.metrics.k8s.io ----

struct ExternalMetricRequest {
  std::string ns;
  std::string metric;
  kube::Selector selector;
  absl::Duration timeout = absl::Seconds(60);
  AdmitList admit = nullptr;
};

struct ExternalMetricValue {
  std::optional<LabelSet> labels;  // nullopt: null (a scalar)
  absl::Time timestamp;
  int64_t value_milli = 0;
};

struct ExternalMetricList {
  std::string metric;
  std::vector<ExternalMetricValue> items;
  Freshness freshness;
  // Not empty: the source failed, and the items come from the rule's onFailure. The text says why,
  // for a Warning header.
  std::string replaced = {};
  bool kept = false;  // replaced by an earlier answer, with the times of that answer
};

// One answer for each request, in their order.
using StandingExternal =
    StandingRequest<std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>>>;

class ExternalMetricsProvider : public MetricsProvider {
 public:
  virtual absl::StatusOr<ExternalMetricList> Get(const ExternalMetricRequest& request) = 0;
  // The requests' own timeouts have no effect: each call of Ask has its own.
  virtual std::unique_ptr<StandingExternal> Stand(std::vector<ExternalMetricRequest> requests);
  // Metric names, sorted. The same pointer until the registry changes.
  virtual std::shared_ptr<const std::vector<std::string>> ListAll() const = 0;
};

// ---- metrics.k8s.io ----

struct Usage {
  int64_t cpu_milli = 0;     // thousandths of a core, shown as decimal SI
  int64_t memory_milli = 0;  // thousandths of a byte, shown as binary SI
};

struct ContainerUsage {
  std::string name;
  Usage usage;
};

struct PodMetrics {
  kube::ObjectPtr pod;
  absl::Time timestamp;
  absl::Duration window;
  std::vector<ContainerUsage> containers;  // sorted by name
};

struct NodeMetrics {
  kube::ObjectPtr node;
  absl::Time timestamp;
  absl::Duration window;
  Usage usage;
};

// `degraded`: why the metric source failed for some of the objects, which are left out; for a
// Warning header.
template <typename T>
struct ResourceMetricList {
  std::vector<T> items;  // sorted by namespace, name
  std::string degraded;  // "" = complete
  Freshness freshness;
};

// Which amounts of pods a caller wants. If it is one, the other is not read: it is 0, but the list
// still has only pods with both, and a container without the wanted one is left out.
enum class PodAmounts { kBoth, kCpu, kMemory };

// Which objects a list contains; only these are queried.
struct ObjectFilter {
  kube::Selector labels;
  std::function<bool(const kube::ObjectMeta&)> others = nullptr;  // what else has to hold
  AdmitList admit = nullptr;                                      // of the list of these objects
};

using StandingPods =
    StandingRequest<absl::StatusOr<StandingAnswer<ResourceMetricList<PodMetrics>>>>;

class ResourceMetricsProvider : public MetricsProvider {
 public:
  // `ns` "": all namespaces; `name` "": a list. A single object by its name is not filtered.
  //   kNotFound   a name was given, but the object is not in the directory (running pods, nodes):
  //               the message is `pods "x" not found`
  // An object that exists but has no sample gives an empty list.
  virtual absl::StatusOr<ResourceMetricList<PodMetrics>> Pods(absl::string_view ns,
                                                              absl::string_view name,
                                                              const ObjectFilter& filter,
                                                              absl::Duration timeout) = 0;
  // Does the same for the pods of a namespace. The answers may hold more amounts than `wanted`.
  virtual std::unique_ptr<StandingPods> StandPods(std::string ns, kube::Selector selector,
                                                  PodAmounts wanted);
  virtual absl::StatusOr<ResourceMetricList<NodeMetrics>> Nodes(absl::string_view name,
                                                                const ObjectFilter& filter,
                                                                absl::Duration timeout) = 0;
};

// The present providers. A null provider: its API group is off (404). A reload replaces them all.
struct Providers {
  std::shared_ptr<CustomMetricsProvider> custom;
  std::shared_ptr<ExternalMetricsProvider> external;
  std::shared_ptr<ResourceMetricsProvider> resource;
  bool tell_of_samples = false;  // MetricSource::TellsOfSamples
};

}  // namespace flyball::adapter
