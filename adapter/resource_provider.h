// metrics.k8s.io: cpu and memory of running pods and of nodes, two queries for each namespace.
//
// Thread-safe; it has no state of its own. A bounded number of namespaces is asked in parallel, and
// the two queries of each at the same time, unless they were answered within a few milliseconds the
// last time. If the templates group by namespace, one pair of queries asks for all namespaces (for
// up to kMaxNames pods, and as many as fit into a URL). A standing request for one of the two
// amounts is answered by one query for its samples of the pods that have both amounts.
//
// Source: prometheus-adapter 0.12.0.
//
//   pods   Left out without a cpu and a memory sample. A container with only one of the two has 0
//          for the other; of a container's samples the last one counts.
//   nodes  Left out without both; the first sample of each counts.
//   values NaN and negative ones are 0. Containers are sorted by name.
//   time   The earliest of the samples used, whole seconds.
//
// A failure of the source is no error: the objects that were queried are left out and `degraded`
// says why. If the time is over the error is kDeadlineExceeded. If the directory cannot list, its
// error is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "adapter/answering.h"
#include "adapter/provider.h"
#include "adapter/queries/names_room.h"
#include "base/worker_pool.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

// The compact result of one query about objects, which is kept while the query is repeated.
// Immutable once made.
struct ResourceReadings {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

  struct Reading {
    int64_t milli = 0;       // kUnknown: no number that could be shown
    uint32_t container = 0;  // of `containers`
  };

  // The readings of an object, in the order of the answer.
  absl::Span<const Reading> Of(size_t object) const {
    return absl::MakeConstSpan(readings).subspan(begins[object],
                                                 begins[object + 1] - begins[object]);
  }
  // The time of Of(object)[i]; `times` is not empty.
  absl::Time TimeOf(size_t object, size_t i) const { return times[begins[object] + i]; }

  std::vector<Reading> readings;  // by object
  std::vector<uint32_t> begins;   // where each object's readings begin; the last entry is the end
  // The time of each entry of `readings`; empty: all have the same time, which is kept elsewhere.
  std::vector<absl::Time> times;
  std::vector<std::string> containers;
};

class ResourceProvider : public ResourceMetricsProvider {
 public:
  static constexpr int kMaxParallel = 8;    // namespaces at once
  static constexpr size_t kMaxNames = 500;  // pods in a query for all namespaces

  struct Deps {
    Answering answering;
    WorkerPool& pool;
    bool merge = true;  // false: each namespace has queries of its own, always
  };

  ResourceProvider(const Deps& deps, rules::CompiledResourceRules rules)
      : deps_(deps), rules_(std::move(rules)) {}

  absl::StatusOr<ResourceMetricList<PodMetrics>> Pods(absl::string_view ns, absl::string_view name,
                                                      const ObjectFilter& filter,
                                                      absl::Duration timeout) override;
  std::unique_ptr<StandingPods> StandPods(std::string ns, kube::Selector selector,
                                          PodAmounts wanted) override;
  absl::StatusOr<ResourceMetricList<NodeMetrics>> Nodes(absl::string_view name,
                                                        const ObjectFilter& filter,
                                                        absl::Duration timeout) override;
  uint64_t Epoch() const override;

 private:
  class PodsStanding;
  struct Queried {
    std::string promql;           // "": not made yet
    std::string label, ns_label;  // of the objects; ns_label "": the batch is of one namespace
    std::unique_ptr<StandingQuery> standing;    // of a standing request
    std::shared_ptr<const QueryResult> result;  // nullptr: read already, or unchanged
    std::optional<absl::Time> time;             // of all samples
    Freshness freshness;
    ResourceReadings readings;

    // The time of readings.Of(object)[i].
    absl::Time TimeOf(size_t object, size_t i) const {
      return time.has_value() ? *time : readings.TimeOf(object, i);
    }
  };
  struct Both {
    absl::Status status;  // of the first query that failed
    Queried cpu, memory;  // those that were asked
  };
  // One of the two amounts.
  struct Amount {
    absl::string_view name;
    const rules::CompiledResourceRule* rule;
    Queried Both::*queried;
    int64_t Usage::*usage;
  };
  using Amounts = absl::InlinedVector<Amount, 2>;
  using Objects = std::shared_ptr<const std::vector<kube::ObjectPtr>>;
  enum class Scope { kOneNamespace, kAllNamespaces, kNodes };
  // Objects that are queried together, neighbours in the list of candidates.
  struct Batch {
    Scope scope = Scope::kOneNamespace;
    std::string ns;  // of kOneNamespace
    PodAmounts asked = PodAmounts::kBoth;
    bool standing = false;
    Objects objects = nullptr;
    Both both = {};
    // For logs: "nodes", "pods of web", "pods".
    std::string What() const;
  };

  // Whether both queries select the same pods, so that one query can be limited to pods with both.
  bool MayJoin() const;
  // The amounts to query, one query each.
  Amounts AmountsOf(const Batch& batch) const;
  // Makes readings of the results that were not read yet.
  void TakeReadings(Batch& batch, const Amounts& amounts);
  ResourceReadings ReadingsOf(const Amount& amount, const Batch& batch, const Queried& queried);
  // Adds the pods of an answered batch.
  void AddPods(Batch& batch, std::vector<PodMetrics>& pods);

  std::vector<Batch> PodBatches(const std::vector<kube::ObjectPtr>& pods) const;
  // The room for names in one of the two queries for all namespaces.
  NamesRoom RoomIn(const rules::CompiledResourceRule& rule) const;
  absl::Status Ask(const Amount& amount, Batch& batch, MonotonicTime deadline);
  absl::Status MakeQuery(const Amount& amount, const Batch& batch, Queried& queried) const;
  // Limits the query to the samples of pods that also have the other amount.
  absl::Status Join(const Batch& batch, const std::vector<std::string>& pods,
                    const kube::RestMapper& mapper, Queried& queried) const;
  // Fills in the answers of each batch and returns whether that was quick. Unless `parallel`, one
  // query is sent after the other.
  bool AskAll(absl::Span<Batch> batches, MonotonicTime deadline, bool parallel = true);
  // Collects failures, and the freshness of all answers; kDeadlineExceeded if the time is over.
  absl::Status Settle(absl::Span<const Batch> batches, MonotonicTime deadline,
                      std::string& degraded, Freshness& freshness);
  // The usage of batch.objects[object].
  std::optional<PodMetrics> ForPod(const Batch& batch, const Amounts& amounts, size_t object) const;
  std::optional<NodeMetrics> ForNode(const Batch& batch, size_t object) const;
  // Thousandths; negative and NaN are 0; kUnknown: the object is left out.
  int64_t Milli(const Sample& sample, absl::string_view what);

  const Deps deps_;
  const rules::CompiledResourceRules rules_;
};

}  // namespace flyball::adapter
