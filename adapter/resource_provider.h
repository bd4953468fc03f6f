// metrics.k8s.io: cpu and memory of running pods and of nodes, two queries for each namespace.
//
// Thread-safe; nothing of its own changes. Namespaces are asked in parallel, a bounded number at
// once, and its two queries at once unless the same were answered within a few milliseconds the
// last time; where the templates group by namespace, one pair of queries asks for all of them (for
// up to max_names pods). Who asks for one of the two again and again is answered by one query, for
// its samples of the pods that have the other.
//
// Source: prometheus-adapter 0.12.0.
//
//   pods   Left out without a cpu and a memory sample. A container with only one of the two has 0
//          for the other; of a container's samples the last one counts.
//   nodes  Left out without both; the first sample of each counts.
//   values NaN and negative ones are 0. Containers are sorted by name.
//   time   The earliest of the samples used, whole seconds.
//
// A source that fails is no error: the objects it was asked for are left out and `degraded` says
// why. Out of time is kDeadlineExceeded. A directory that cannot list is its own error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "adapter/answering.h"
#include "adapter/provider.h"
#include "adapter/resource_readings.h"
#include "base/worker_pool.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

class ResourceProvider : public ResourceMetricsProvider {
 public:
  struct Deps {
    Answering answering;
    WorkerPool& pool;
    size_t max_parallel = 8;  // namespaces at once
    size_t max_names = 500;   // pods in a query for all namespaces
    bool merge = true;        // false: each namespace has queries of its own, always
  };

  ResourceProvider(const Deps& deps, rules::CompiledResourceRules rules)
      : deps_(deps), rules_(std::move(rules)) {}

  absl::StatusOr<ResourceMetricList<PodMetrics>> Pods(absl::string_view ns, absl::string_view name,
                                                      const ObjectFilter& filter,
                                                      absl::Duration timeout) override;
  absl::StatusOr<ResourceMetricList<PodMetrics>> PodsAgain(absl::string_view ns,
                                                           const kube::Selector& selector,
                                                           PodAmounts wanted,
                                                           absl::Duration timeout,
                                                           const Repeat& repeat) override;
  absl::StatusOr<ResourceMetricList<NodeMetrics>> Nodes(absl::string_view name,
                                                        const ObjectFilter& filter,
                                                        absl::Duration timeout) override;
  uint64_t Epoch() const override;

 private:
  struct Query {
    std::shared_ptr<const MapperNames> names;  // that it was made with
    RepeatedQueryPtr text;
    std::string label, ns_label;  // of the objects; "": the batch is of one namespace
  };
  struct Queried {
    std::shared_ptr<const Query> query;
    FreshResult fresh;
    // nullptr: not taken from fresh.result yet.
    std::shared_ptr<const ResourceReadings> readings;

    // Of readings->Of(object)[i].
    absl::Time TimeOf(size_t object, size_t i) const {
      return fresh.time.has_value() ? *fresh.time : readings->TimeOf(object, i);
    }
  };
  struct Both {
    absl::Status status;  // of the first query that failed
    Queried cpu, memory;  // those that were asked
  };
  // One of the two.
  struct Amount {
    absl::string_view name;
    const rules::CompiledResourceRule* rule;
    Queried Both::*queried;
    int64_t Usage::*usage;
  };
  using Amounts = absl::InlinedVector<Amount, 2>;
  struct NamespaceOrigin;  // an Origin
  using Objects = std::shared_ptr<const std::vector<kube::ObjectPtr>>;
  enum class Scope { kOneNamespace, kAllNamespaces, kNodes };
  // Objects that are asked for together, neighbours in the list of candidates.
  struct Batch {
    Scope scope = Scope::kOneNamespace;
    std::string ns;                                // of kOneNamespace
    PodAmounts wanted = PodAmounts::kBoth;         // by one who asks again
    PodAmounts asked = PodAmounts::kBoth;          // that, or both
    std::vector<kube::Requirement> selector = {};  // of one who asks again
    Objects objects = nullptr;
    std::optional<Repeat> repeat = std::nullopt;
    const NamespaceOrigin* known = nullptr;  // what repeat->origin says of the same objects
    Both both = {};
    // For logs: "nodes", "pods of web", "pods".
    std::string What() const;
  };

  // Those of one request, whose deadline and epoch they share.
  absl::StatusOr<ResourceMetricList<PodMetrics>> AskPods(std::vector<Batch> batches,
                                                         MonotonicTime deadline, uint64_t epoch);
  // What the last answer was made of, if it was made by the same rules.
  const NamespaceOrigin* LastOriginOf(const Repeat& repeat, PodAmounts wanted) const;
  // Whether the pods of one query are those of the other, so that one can ask for both.
  bool MayJoin() const;
  // What is asked for, each by a query.
  Amounts AmountsOf(const Batch& batch) const;
  // Makes the readings of the queries, where they are not those of the last time.
  void TakeReadings(Batch& batch, const Amounts& amounts);
  ResourceReadings ReadingsOf(const Amount& amount, const Batch& batch, const Queried& queried);
  // Of a batch of one who asks again: that it is what the last answer was made of; nullopt: it
  // isn't.
  static std::optional<Repeated> SameAsKnown(const Batch& batch, const Amounts& amounts);
  OriginPtr OriginOf(const Batch& batch, uint64_t epoch, bool quick) const;

  std::vector<Batch> PodBatches(const std::vector<kube::ObjectPtr>& pods) const;
  absl::StatusOr<std::vector<kube::ObjectPtr>> Candidates(
      const kube::ObjectQuery& query, absl::string_view name,
      const std::function<bool(const kube::ObjectMeta&)>& wanted);
  absl::StatusOr<Queried> Ask(const Amount& amount, const Batch& batch, MonotonicTime deadline);
  absl::StatusOr<std::shared_ptr<const Query>> MakeQuery(const Amount& amount,
                                                         const Batch& batch) const;
  // Leaves of the query only the samples of pods that have the other amount as well.
  absl::Status Join(const Batch& batch, const std::vector<std::string>& pods, const Query& query,
                    std::string& promql) const;
  // Fills in `both` of each batch, in parallel; whether that was quick.
  bool AskAll(std::vector<Batch>& batches, MonotonicTime deadline);
  // Collects failures and freshness; kDeadlineExceeded when time is over.
  template <typename T>
  absl::Status Settle(const std::vector<Batch>& batches, MonotonicTime deadline, uint64_t epoch,
                      ResourceMetricList<T>& list);
  // Of batch.objects[object].
  std::optional<PodMetrics> ForPod(const Batch& batch, const Amounts& amounts, size_t object) const;
  std::optional<NodeMetrics> ForNode(const Batch& batch, size_t object) const;
  // Thousandths; negative and NaN are 0; kUnknown: the object is left out.
  int64_t Milli(const Sample& sample, absl::string_view what);

  const Deps deps_;
  const rules::CompiledResourceRules rules_;
};

}  // namespace flyball::adapter
