#include "adapter/resource_provider.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapter/object_candidates.h"
#include "base/status_macros.h"
#include "rules/promql.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

// Two queries that together take no longer than this are asked by one thread: waking another one
// would cost more than it saves.
constexpr absl::Duration kQuick = absl::Milliseconds(5);

const kube::GroupResource& PodResource() {
  static const auto& resource = *new kube::GroupResource{.group = "", .resource = "pods"};
  return resource;
}

const kube::GroupResource& NodeResource() {
  static const auto& resource = *new kube::GroupResource{.group = "", .resource = "nodes"};
  return resource;
}

// The usage of a container, which is inserted in the order of names.
Usage& UsageOf(const std::string& container, std::vector<ContainerUsage>& containers) {
  const auto place = std::lower_bound(
      containers.begin(), containers.end(), container,
      [](const ContainerUsage& one, const std::string& name) { return one.name < name; });
  if (place != containers.end() && place->name == container) return place->usage;
  return containers.insert(place, {.name = container, .usage = {}})->usage;
}

}  // namespace

absl::StatusOr<ResourceMetricList<PodMetrics>> ResourceProvider::Pods(absl::string_view ns,
                                                                      absl::string_view name,
                                                                      const ObjectFilter& filter,
                                                                      absl::Duration timeout) {
  const MonotonicTime deadline = deps_.answering.clock.MonotonicNow() + timeout;
  const uint64_t epoch = Epoch();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> pods,
                   ObjectCandidates(deps_.answering.directory,
                                    {.resource = PodResource(),
                                     .ns = std::string(ns),
                                     .running_only = true,
                                     .timeout = timeout},
                                    name, filter));
  std::vector<Batch> batches = PodBatches(pods);
  AskAll(absl::MakeSpan(batches), deadline);
  ResourceMetricList<PodMetrics> list;
  list.freshness.epoch = epoch;
  RETURN_IF_ERROR(Settle(batches, deadline, list.degraded, list.freshness));
  for (Batch& batch : batches) {
    if (batch.both.status.ok()) AddPods(batch, list.items);
  }
  return list;
}

void ResourceProvider::AddPods(Batch& batch, std::vector<PodMetrics>& pods) {
  const Amounts amounts = AmountsOf(batch);
  TakeReadings(batch, amounts);
  for (size_t i = 0; i < batch.objects->size(); ++i) {
    if (auto metrics = ForPod(batch, amounts, i)) pods.push_back(*std::move(metrics));
  }
}

ResourceProvider::Amounts ResourceProvider::AmountsOf(const Batch& batch) const {
  Amounts amounts;
  if (batch.asked != PodAmounts::kMemory) {
    amounts.push_back({"cpu", rules_.cpu.get(), &Both::cpu, &Usage::cpu_milli});
  }
  if (batch.asked != PodAmounts::kCpu) {
    amounts.push_back({"memory", rules_.memory.get(), &Both::memory, &Usage::memory_milli});
  }
  return amounts;
}

std::string ResourceProvider::Batch::What() const {
  switch (scope) {
    case Scope::kNodes: return "nodes";
    case Scope::kAllNamespaces: return "pods";
    case Scope::kOneNamespace: break;
  }
  return absl::StrCat("pods of ", ns);
}

std::vector<ResourceProvider::Batch> ResourceProvider::PodBatches(
    const std::vector<kube::ObjectPtr>& pods) const {
  // Sorted by namespace, name: each namespace is one run.
  const bool together = deps_.merge && !pods.empty() && pods.front()->ns != pods.back()->ns &&
                        rules_.cpu->container_shape.keeps_namespaces &&
                        rules_.memory->container_shape.keeps_namespaces;
  std::vector<Batch> batches;
  std::vector<kube::ObjectPtr> objects;  // of the batch that is being filled
  const NamesRoom cpu = together ? RoomIn(*rules_.cpu) : NamesRoom();
  const NamesRoom memory = together ? RoomIn(*rules_.memory) : NamesRoom();
  size_t cpu_bytes = 0, memory_bytes = 0;  // that its names take
  const auto end_batch = [&] {
    cpu_bytes = memory_bytes = 0;
    if (objects.empty()) return;
    Batch& batch = batches.emplace_back();
    batch.scope = together ? Scope::kAllNamespaces : Scope::kOneNamespace;
    if (!together) batch.ns = objects.front()->ns;
    batch.objects = std::make_shared<const std::vector<kube::ObjectPtr>>(std::move(objects));
    objects.clear();
  };
  for (const kube::ObjectPtr& pod : pods) {
    const size_t more_cpu = cpu.Of(pod->name), more_memory = memory.Of(pod->name);
    const bool fits = together
                          ? objects.size() < kMaxNames && cpu_bytes + more_cpu <= cpu.bytes() &&
                                memory_bytes + more_memory <= memory.bytes()
                          : objects.empty() || objects.back()->ns == pod->ns;
    if (!fits) end_batch();
    cpu_bytes += more_cpu;
    memory_bytes += more_memory;
    objects.push_back(pod);
  }
  end_batch();
  return batches;
}

NamesRoom ResourceProvider::RoomIn(const rules::CompiledResourceRule& rule) const {
  const auto mapper = deps_.answering.relister.registry()->mapper();
  return NamesRoom(
      deps_.answering.batcher.max_url_bytes(),
      [&](const std::vector<std::string>& pods) { return rule.ContainerQuery("", pods, *mapper); });
}

absl::StatusOr<ResourceMetricList<NodeMetrics>> ResourceProvider::Nodes(absl::string_view name,
                                                                        const ObjectFilter& filter,
                                                                        absl::Duration timeout) {
  const MonotonicTime deadline = deps_.answering.clock.MonotonicNow() + timeout;
  const uint64_t epoch = Epoch();
  ASSIGN_OR_RETURN(
      const std::vector<kube::ObjectPtr> nodes,
      ObjectCandidates(
          deps_.answering.directory,
          {.resource = NodeResource(), .ns = "", .running_only = false, .timeout = timeout}, name,
          filter));
  std::vector<Batch> batches;
  if (!nodes.empty()) {
    Batch& batch = batches.emplace_back();
    batch.scope = Scope::kNodes;
    batch.objects = std::make_shared<const std::vector<kube::ObjectPtr>>(nodes);
  }
  AskAll(absl::MakeSpan(batches), deadline);

  ResourceMetricList<NodeMetrics> list;
  list.freshness.epoch = epoch;
  RETURN_IF_ERROR(Settle(batches, deadline, list.degraded, list.freshness));
  for (Batch& batch : batches) {
    if (!batch.both.status.ok()) continue;
    TakeReadings(batch, AmountsOf(batch));
    for (size_t i = 0; i < batch.objects->size(); ++i) {
      if (auto metrics = ForNode(batch, i)) list.items.push_back(*std::move(metrics));
    }
  }
  return list;
}

bool ResourceProvider::AskAll(absl::Span<Batch> batches, MonotonicTime deadline, bool parallel) {
  const MonotonicTime begin = deps_.answering.clock.MonotonicNow();
  struct Task {
    Batch* batch;
    Amount amount;
    absl::Status status;
  };
  // cpu and memory of a batch are neighbours: they go out together.
  std::vector<Task> tasks;
  tasks.reserve(2 * batches.size());
  for (Batch& batch : batches) {
    for (const Amount& amount : AmountsOf(batch)) tasks.push_back({&batch, amount, {}});
  }
  deps_.pool.ParallelFor(tasks.size(), parallel ? 2 * kMaxParallel : 1, [&](size_t i) {
    tasks[i].status = Ask(tasks[i].amount, *tasks[i].batch, deadline);
  });
  const bool quick = deps_.answering.clock.MonotonicNow() - begin <= kQuick;
  for (const Task& task : tasks) task.batch->both.status.Update(task.status);
  return quick;
}

absl::Status ResourceProvider::MakeQuery(const Amount& amount, const Batch& batch,
                                         Queried& queried) const {
  const rules::CompiledResourceRule& rule = *amount.rule;
  const std::shared_ptr<const SeriesRegistry> registry = deps_.answering.relister.registry();
  const kube::RestMapper& mapper = *registry->mapper();
  std::vector<std::string> wanted;
  wanted.reserve(batch.objects->size());
  for (const kube::ObjectPtr& object : *batch.objects) wanted.push_back(object->name);
  if (batch.scope == Scope::kAllNamespaces) {
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  }
  const bool nodes = batch.scope == Scope::kNodes;
  ASSIGN_OR_RETURN(queried.promql, nodes ? rule.NodeQuery(wanted, mapper)
                                         : rule.ContainerQuery(batch.ns, wanted, mapper));
  ASSIGN_OR_RETURN(queried.label,
                   rule.mapping.LabelOfResource(nodes ? NodeResource() : PodResource(), mapper));
  if (batch.scope == Scope::kAllNamespaces) {
    ASSIGN_OR_RETURN(queried.ns_label,
                     rule.mapping.LabelOfResource({.group = "", .resource = "namespaces"}, mapper));
  }
  return batch.asked == PodAmounts::kBoth ? absl::OkStatus() : Join(batch, wanted, mapper, queried);
}

absl::Status ResourceProvider::Join(const Batch& batch, const std::vector<std::string>& pods,
                                    const kube::RestMapper& mapper, Queried& queried) const {
  const rules::CompiledResourceRule& other =
      batch.asked == PodAmounts::kCpu ? *rules_.memory : *rules_.cpu;
  ASSIGN_OR_RETURN(const std::string other_query, other.ContainerQuery(batch.ns, pods, mapper));
  queried.promql = rules::JoinedQuery(queried.promql, other_query, queried.label,
                                      deps_.answering.values.counts_nan());
  return absl::OkStatus();
}

absl::Status ResourceProvider::Ask(const Amount& amount, Batch& batch, MonotonicTime deadline) {
  Queried& queried = batch.both.*amount.queried;
  if (queried.standing == nullptr) {
    RETURN_IF_ERROR(MakeQuery(amount, batch, queried));
    if (batch.standing) {
      queried.standing =
          std::make_unique<StandingQuery>(std::move(queried.promql), amount.rule->source);
    }
  }
  QueryBatcher& batcher = deps_.answering.batcher;
  if (queried.standing != nullptr) {
    ASSIGN_OR_RETURN(StandingResult said, batcher.Ask(*queried.standing, deadline));
    queried.result = std::move(said.result);
    queried.time = said.time;
    queried.freshness.samples = std::move(said.read);
    if (queried.result == nullptr) return absl::OkStatus();
  } else {
    ASSIGN_OR_RETURN(const FreshResult fresh,
                     batcher.Query(queried.promql, deadline, amount.rule->source));
    queried.result = fresh.result;
    queried.freshness = fresh.freshness;
  }
  if (queried.result->type != QueryResult::Type::kVector || queried.result->null_result) {
    return absl::UnavailableError("the query's result is not an instant vector");
  }
  return absl::OkStatus();
}

void ResourceProvider::TakeReadings(Batch& batch, const Amounts& amounts) {
  for (const Amount& amount : amounts) {
    Queried& queried = batch.both.*amount.queried;
    if (queried.result == nullptr) continue;
    queried.readings = ReadingsOf(amount, batch, queried);
    queried.result = nullptr;
  }
}

ResourceReadings ResourceProvider::ReadingsOf(const Amount& amount, const Batch& batch,
                                              const Queried& queried) {
  using Name = std::pair<absl::string_view, absl::string_view>;
  const bool by_namespace = batch.scope == Scope::kAllNamespaces;
  absl::flat_hash_map<Name, uint32_t> places;
  places.reserve(batch.objects->size());
  for (uint32_t i = 0; i < batch.objects->size(); ++i) {
    const kube::ObjectPtr& object = (*batch.objects)[i];
    places.emplace(Name(by_namespace ? absl::string_view(object->ns) : "", object->name), i);
  }
  // For each sample the place of its object; nullopt: nobody asked for that object.
  const std::vector<Sample>& samples = queried.result->samples;
  std::vector<std::optional<uint32_t>> objects(samples.size());
  ResourceReadings out;
  out.begins.resize(batch.objects->size() + 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    const LabelSet& labels = samples[i].labels;
    const auto place = places.find({by_namespace ? LabelValue(labels, queried.ns_label) : "",
                                    LabelValue(labels, queried.label)});
    if (place == places.end()) continue;
    objects[i] = place->second;
    ++out.begins[place->second + 1];
  }
  std::partial_sum(out.begins.begin(), out.begins.end(), out.begins.begin());

  out.readings.resize(out.begins.back());
  if (!queried.time.has_value()) out.times.resize(out.begins.back());
  std::vector<uint32_t> next = out.begins;
  absl::flat_hash_map<absl::string_view, uint32_t> containers;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!objects[i].has_value()) continue;
    const absl::string_view name = LabelValue(samples[i].labels, amount.rule->container_label);
    const auto [container, fresh] =
        containers.try_emplace(name, static_cast<uint32_t>(containers.size()));
    if (fresh) out.containers.emplace_back(name);
    const uint32_t at = next[*objects[i]]++;
    out.readings[at] = {.milli = Milli(samples[i], amount.name), .container = container->second};
    if (!out.times.empty()) out.times[at] = samples[i].time;
  }
  return out;
}

absl::Status ResourceProvider::Settle(absl::Span<const Batch> batches, MonotonicTime deadline,
                                      std::string& degraded, Freshness& freshness) {
  Freshness of_all = Freshness::Forever();
  of_all.epoch = freshness.epoch;
  for (const Batch& batch : batches) {
    if (batch.both.status.ok()) {
      for (const Amount& amount : AmountsOf(batch)) {
        of_all.Add((batch.both.*amount.queried).freshness);
      }
      continue;
    }
    const std::string where = batch.What();
    if (absl::IsDeadlineExceeded(batch.both.status) &&
        deps_.answering.clock.MonotonicNow() >= deadline) {
      return FetchFailure(deps_.answering, where, batch.both.status);
    }
    if (deps_.answering.complaints.Due(where)) {
      spdlog::error("unable to fetch cpu or memory of {}: {}", where,
                    std::string(batch.both.status.message()));
    }
    if (degraded.empty()) {
      degraded = absl::StrCat(where, " left out: ", batch.both.status.message());
    }
  }
  if (degraded.empty() && !batches.empty()) freshness = of_all;
  return absl::OkStatus();
}

int64_t ResourceProvider::Milli(const Sample& sample, absl::string_view what) {
  const double value = sample.value < 0 ? 0 : sample.value;  // NaN stays
  return deps_.answering.values.ToMilli(value, "resource", what)
      .value_or(ResourceReadings::kUnknown);
}

std::optional<PodMetrics> ResourceProvider::ForPod(const Batch& batch, const Amounts& amounts,
                                                   size_t object) const {
  PodMetrics metrics;
  absl::Time earliest = absl::InfiniteFuture();
  for (const Amount& amount : amounts) {
    const Queried& queried = batch.both.*amount.queried;
    const ResourceReadings& all = queried.readings;
    const absl::Span<const ResourceReadings::Reading> readings = all.Of(object);
    if (readings.empty()) return std::nullopt;
    for (size_t i = 0; i < readings.size(); ++i) {
      const auto [milli, container] = readings[i];
      earliest = std::min(earliest, queried.TimeOf(object, i));
      if (milli == ResourceReadings::kUnknown) {
        // Of a repeated container the last reading counts.
        const bool again =
            std::any_of(readings.begin() + static_cast<std::ptrdiff_t>(i) + 1, readings.end(),
                        [id = container](const auto& later) { return later.container == id; });
        if (!again) return std::nullopt;
        continue;
      }
      UsageOf(all.containers[container], metrics.containers).*amount.usage = milli;
    }
  }
  metrics.pod = (*batch.objects)[object];
  metrics.timestamp = WholeSeconds(earliest);
  metrics.window = rules_.window;
  return metrics;
}

std::optional<NodeMetrics> ResourceProvider::ForNode(const Batch& batch, size_t object) const {
  NodeMetrics metrics{.node = (*batch.objects)[object],
                      .timestamp = absl::InfiniteFuture(),
                      .window = rules_.window,
                      .usage = {}};
  const auto take = [&](const Queried& queried, int64_t& milli) {
    const absl::Span<const ResourceReadings::Reading> readings = queried.readings.Of(object);
    if (readings.empty() || readings[0].milli == ResourceReadings::kUnknown) return false;
    milli = readings[0].milli;
    metrics.timestamp = std::min(metrics.timestamp, WholeSeconds(queried.TimeOf(object, 0)));
    return true;
  };
  if (!take(batch.both.cpu, metrics.usage.cpu_milli) ||
      !take(batch.both.memory, metrics.usage.memory_milli)) {
    return std::nullopt;
  }
  return metrics;
}

uint64_t ResourceProvider::Epoch() const {
  return deps_.answering.relister.generation() + deps_.answering.directory.Generation();
}

}  // namespace flyball::adapter
