#include "adapter/resource_provider.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

const kube::GroupResource& PodResource() {
  static const auto& resource = *new kube::GroupResource{.group = "", .resource = "pods"};
  return resource;
}

const kube::GroupResource& NodeResource() {
  static const auto& resource = *new kube::GroupResource{.group = "", .resource = "nodes"};
  return resource;
}

}  // namespace

// What a namespace's answer was made of. What it points to stays alive with it, so that equal
// addresses are equal things.
struct ResourceProvider::Known : public Origin {
  std::shared_ptr<const rules::CompiledResourceRule> cpu_rule, memory_rule;
  std::shared_ptr<const MapperNames> names;
  std::vector<kube::ObjectPtr> pods;
  Queried cpu, memory;  // without samples by object
};

absl::StatusOr<ResourceMetricList<PodMetrics>> ResourceProvider::Pods(
    absl::string_view ns, absl::string_view name, const kube::Selector& selector,
    absl::Duration timeout) {
  const MonotonicTime deadline = parts_.answering.clock.MonotonicNow() + timeout;
  const uint64_t epoch = Epoch();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> pods, Candidates({.resource = PodResource(),
                                                                        .ns = std::string(ns),
                                                                        .selector = selector,
                                                                        .running_only = true,
                                                                        .timeout = timeout},
                                                                       name));
  return AskPods(PodBatches(pods), deadline, epoch);
}

absl::StatusOr<ResourceMetricList<PodMetrics>> ResourceProvider::PodsAgain(
    absl::string_view ns, const kube::Selector& selector, absl::Duration timeout,
    const Repeat& repeat) {
  const MonotonicTime deadline = parts_.answering.clock.MonotonicNow() + timeout;
  const uint64_t epoch = Epoch();
  ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> pods, Candidates({.resource = PodResource(),
                                                                  .ns = std::string(ns),
                                                                  .selector = selector,
                                                                  .running_only = true,
                                                                  .timeout = timeout},
                                                                 ""));
  std::vector<Batch> batches = PodBatches(pods);
  if (batches.size() == 1) {
    Batch& batch = batches[0];
    batch.repeat = repeat;
    const auto* known = dynamic_cast<const Known*>(repeat.origin.get());
    const auto names = parts_.answering.registry.registry()->names();
    if (known != nullptr && known->cpu_rule == rules_.cpu && known->memory_rule == rules_.memory &&
        known->names == names && known->pods == batch.objects) {
      batch.known = known;
    }
  }
  return AskPods(std::move(batches), deadline, epoch);
}

absl::StatusOr<ResourceMetricList<PodMetrics>> ResourceProvider::AskPods(std::vector<Batch> batches,
                                                                         MonotonicTime deadline,
                                                                         uint64_t epoch) {
  AskAll(batches, deadline);
  ResourceMetricList<PodMetrics> list;
  RETURN_IF_ERROR(Settle(batches, deadline, epoch, list));
  for (Batch& batch : batches) {
    if (!batch.both.status.ok()) continue;
    if (batch.repeat.has_value()) Compare(batch, list.repeated);
    if (list.repeated.same) return list;
    IndexSamples(batch);
    for (const kube::ObjectPtr& pod : batch.objects) {
      if (auto metrics = ForPod(pod, batch.both)) list.items.push_back(*std::move(metrics));
    }
  }
  return list;
}

void ResourceProvider::Compare(const Batch& batch, Repeated& repeated) const {
  const FreshResult& cpu = batch.both.cpu.fresh;
  const FreshResult& memory = batch.both.memory.fresh;
  if (batch.known != nullptr && batch.known->cpu.fresh.result == cpu.result &&
      batch.known->memory.fresh.result == memory.result && cpu.time.has_value() &&
      memory.time.has_value()) {
    repeated = {.origin = batch.repeat->origin,
                .same = true,
                .time = WholeSeconds(std::min(*cpu.time, *memory.time))};
    return;
  }
  auto origin = std::make_shared<Known>();
  origin->cpu_rule = rules_.cpu;
  origin->memory_rule = rules_.memory;
  origin->names = batch.both.cpu.names;
  origin->pods = batch.objects;
  origin->cpu = batch.both.cpu;
  origin->memory = batch.both.memory;
  repeated.origin = std::move(origin);
}

std::string ResourceProvider::Batch::What() const {
  switch (scope) {
    case Scope::kNodes:
      return "nodes";
    case Scope::kAllNamespaces:
      return "pods";
    case Scope::kOneNamespace:
      break;
  }
  return absl::StrCat("pods of ", ns);
}

std::vector<ResourceProvider::Batch> ResourceProvider::PodBatches(
    const std::vector<kube::ObjectPtr>& pods) const {
  // Sorted by namespace, name: each namespace is one run.
  const bool together = parts_.merge && !pods.empty() && pods.front()->ns != pods.back()->ns &&
                        rules_.cpu->ContainerQueryKeepsNamespaces() &&
                        rules_.memory->ContainerQueryKeepsNamespaces();
  std::vector<Batch> batches;
  for (const kube::ObjectPtr& pod : pods) {
    const bool fits =
        !batches.empty() && (together ? batches.back().objects.size() < parts_.max_names
                                      : batches.back().ns == pod->ns);
    if (!fits) {
      Batch& batch = batches.emplace_back();
      batch.scope = together ? Scope::kAllNamespaces : Scope::kOneNamespace;
      if (!together) batch.ns = pod->ns;
    }
    batches.back().objects.push_back(pod);
  }
  return batches;
}

absl::StatusOr<ResourceMetricList<NodeMetrics>> ResourceProvider::Nodes(
    absl::string_view name, const kube::Selector& selector, absl::Duration timeout) {
  const MonotonicTime deadline = parts_.answering.clock.MonotonicNow() + timeout;
  const uint64_t epoch = Epoch();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> nodes, Candidates({.resource = NodeResource(),
                                                                         .ns = "",
                                                                         .selector = selector,
                                                                         .running_only = false,
                                                                         .timeout = timeout},
                                                                        name));
  std::vector<Batch> batches;
  if (!nodes.empty()) {
    Batch& batch = batches.emplace_back();
    batch.scope = Scope::kNodes;
    batch.objects = nodes;
  }
  AskAll(batches, deadline);

  ResourceMetricList<NodeMetrics> list;
  RETURN_IF_ERROR(Settle(batches, deadline, epoch, list));
  for (Batch& batch : batches) {
    if (!batch.both.status.ok()) continue;
    IndexSamples(batch);
    for (const kube::ObjectPtr& node : batch.objects) {
      if (auto metrics = ForNode(node, batch.both)) list.items.push_back(*std::move(metrics));
    }
  }
  return list;
}

absl::StatusOr<std::vector<kube::ObjectPtr>> ResourceProvider::Candidates(
    const kube::ObjectQuery& query, absl::string_view name) {
  kube::ObjectDirectory& directory = parts_.answering.directory;
  if (name.empty()) return directory.List(query);
  ASSIGN_OR_RETURN(kube::ObjectPtr object,
                   directory.Get(query.resource, query.ns, name, query.running_only));
  if (object == nullptr) {
    return absl::NotFoundError(absl::StrCat(query.resource == PodResource() ? "pods" : "node",
                                            " \"", name, "\" not found"));
  }
  return std::vector<kube::ObjectPtr>{std::move(object)};
}

void ResourceProvider::AskAll(std::vector<Batch>& batches, MonotonicTime deadline) {
  struct Pair {
    absl::StatusOr<Queried> cpu, memory;
  };
  std::vector<Pair> pairs(batches.size());
  // cpu and memory of a batch are neighbours: they go out together.
  parts_.pool.ParallelFor(2 * batches.size(), 2 * parts_.max_parallel, [&](size_t i) {
    const bool cpu = i % 2 == 0;
    const rules::CompiledResourceRule& rule = cpu ? *rules_.cpu : *rules_.memory;
    (cpu ? pairs[i / 2].cpu : pairs[i / 2].memory) = Ask(rule, batches[i / 2], deadline);
  });
  for (size_t i = 0; i < batches.size(); ++i) {
    Both& both = batches[i].both;
    both.status = pairs[i].cpu.status();
    both.status.Update(pairs[i].memory.status());
    if (!both.status.ok()) continue;
    both.cpu = *std::move(pairs[i].cpu);
    both.memory = *std::move(pairs[i].memory);
  }
}

absl::Status ResourceProvider::MakeQuery(const rules::CompiledResourceRule& rule,
                                         const Batch& batch, Queried& queried) const {
  const MapperNames& names = *queried.names;
  std::vector<std::string> wanted;
  wanted.reserve(batch.objects.size());
  for (const kube::ObjectPtr& object : batch.objects) wanted.push_back(object->name);
  if (batch.scope == Scope::kAllNamespaces) {
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  }
  const bool nodes = batch.scope == Scope::kNodes;
  ASSIGN_OR_RETURN(queried.promql, nodes ? rule.NodeQuery(wanted, names)
                                         : rule.ContainerQuery(batch.ns, wanted, names));
  ASSIGN_OR_RETURN(queried.label,
                   rule.LabelOfResource(ForRules(nodes ? NodeResource() : PodResource()), names));
  if (batch.scope == Scope::kAllNamespaces) {
    ASSIGN_OR_RETURN(queried.ns_label,
                     rule.LabelOfResource({.group = "", .resource = "namespaces"}, names));
  }
  return absl::OkStatus();
}

absl::StatusOr<ResourceProvider::Queried> ResourceProvider::Ask(
    const rules::CompiledResourceRule& rule, const Batch& batch, MonotonicTime deadline) {
  Queried queried;
  QueryWish wish;
  if (batch.repeat.has_value()) {
    wish.again = true;
    wish.max_age = batch.repeat->max_age;
  }
  if (batch.known != nullptr) {
    // The same objects make the same query.
    const Queried& last = &rule == rules_.cpu.get() ? batch.known->cpu : batch.known->memory;
    queried = last;
    wish.before = last.fresh.result;
  } else {
    queried.names = parts_.answering.registry.registry()->names();
    RETURN_IF_ERROR(MakeQuery(rule, batch, queried));
  }
  ASSIGN_OR_RETURN(queried.fresh, parts_.answering.batcher.Query(queried.promql, deadline, wish));
  const QueryResult& result = *queried.fresh.result;
  if (result.type != QueryResult::Type::kVector || result.null_result) {
    return absl::UnavailableError("the query's result is not an instant vector");
  }
  return queried;
}

void ResourceProvider::IndexSamples(Batch& batch) {
  for (Queried* queried : {&batch.both.cpu, &batch.both.memory}) {
    for (const Sample& sample : queried->fresh.result->samples) {
      const absl::string_view ns = queried->ns_label.empty()
                                       ? absl::string_view(batch.ns)
                                       : LabelValue(sample.labels, queried->ns_label);
      queried->by_object[absl::StrCat(ns, "/", LabelValue(sample.labels, queried->label))]
          .push_back(&sample);
    }
  }
}

template <typename T>
absl::Status ResourceProvider::Settle(const std::vector<Batch>& batches, MonotonicTime deadline,
                                      uint64_t epoch, ResourceMetricList<T>& list) {
  Freshness freshness = {.fresh_until = absl::InfiniteDuration(), .epoch = epoch};
  for (const Batch& batch : batches) {
    if (batch.both.status.ok()) {
      for (const FreshResult* fresh : {&batch.both.cpu.fresh, &batch.both.memory.fresh}) {
        freshness.fresh_until = std::min(freshness.fresh_until, fresh->fresh_until);
        freshness.refresh_at = std::min(freshness.refresh_at, fresh->refresh_at);
      }
      continue;
    }
    const std::string where = batch.What();
    if (absl::IsDeadlineExceeded(batch.both.status) &&
        parts_.answering.clock.MonotonicNow() >= deadline) {
      return FetchFailure(parts_.answering, where, batch.both.status);
    }
    if (parts_.answering.complaints.Due(where)) {
      spdlog::error("unable to fetch cpu or memory of {}: {}", where,
                    std::string(batch.both.status.message()));
    }
    if (list.degraded.empty()) {
      list.degraded = absl::StrCat(where, " left out: ", batch.both.status.message());
    }
  }
  if (list.degraded.empty() && !batches.empty()) list.freshness = freshness;
  return absl::OkStatus();
}

std::optional<int64_t> ResourceProvider::Milli(const Sample& sample, absl::string_view what) {
  const double value = sample.value < 0 ? 0 : sample.value;  // NaN stays
  return parts_.answering.values.ToMilli(value, "resource", what);
}

std::optional<PodMetrics> ResourceProvider::ForPod(const kube::ObjectPtr& pod, const Both& both) {
  const std::string key = absl::StrCat(pod->ns, "/", pod->name);
  const auto cpu = both.cpu.by_object.find(key);
  const auto memory = both.memory.by_object.find(key);
  if (cpu == both.cpu.by_object.end() || memory == both.memory.by_object.end()) {
    return std::nullopt;
  }
  absl::Time earliest = absl::InfiniteFuture();
  std::map<std::string, Usage> containers;
  for (const Sample* sample : cpu->second) {
    const std::optional<int64_t> milli = Milli(*sample, "cpu");
    if (!milli) return std::nullopt;
    containers[std::string(LabelValue(sample->labels, rules_.cpu->container_label()))].cpu_milli =
        *milli;
    earliest = std::min(earliest, both.cpu.fresh.TimeOf(*sample));
  }
  for (const Sample* sample : memory->second) {
    const std::optional<int64_t> milli = Milli(*sample, "memory");
    if (!milli) return std::nullopt;
    containers[std::string(LabelValue(sample->labels, rules_.memory->container_label()))]
        .memory_milli = *milli;
    earliest = std::min(earliest, both.memory.fresh.TimeOf(*sample));
  }
  PodMetrics metrics;
  metrics.pod = pod;
  metrics.timestamp = WholeSeconds(earliest);
  metrics.window = rules_.window;
  for (auto& [name, usage] : containers) metrics.containers.push_back({name, usage});
  return metrics;
}

std::optional<NodeMetrics> ResourceProvider::ForNode(const kube::ObjectPtr& node,
                                                     const Both& both) {
  const std::string key = absl::StrCat("/", node->name);
  const auto cpu = both.cpu.by_object.find(key);
  const auto memory = both.memory.by_object.find(key);
  if (cpu == both.cpu.by_object.end() || memory == both.memory.by_object.end()) {
    return std::nullopt;
  }
  const Sample& cpu_sample = *cpu->second.front();
  const Sample& memory_sample = *memory->second.front();
  const std::optional<int64_t> cpu_milli = Milli(cpu_sample, "cpu");
  const std::optional<int64_t> memory_milli = Milli(memory_sample, "memory");
  if (!cpu_milli || !memory_milli) return std::nullopt;
  return NodeMetrics{.node = node,
                     .timestamp = WholeSeconds(std::min(both.cpu.fresh.TimeOf(cpu_sample),
                                                        both.memory.fresh.TimeOf(memory_sample))),
                     .window = rules_.window,
                     .usage = {.cpu_milli = *cpu_milli, .memory_milli = *memory_milli}};
}

uint64_t ResourceProvider::Epoch() const {
  return parts_.answering.registry.generation() + parts_.answering.directory.Generation();
}

}  // namespace flyball::adapter
