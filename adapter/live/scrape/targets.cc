#include "adapter/live/scrape/targets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "base/go/url.h"
#include "base/status_macros.h"

namespace flyball::scrape {
namespace {

using promql::LabelSet;
using promql::LabelValue;

constexpr absl::string_view kParamPrefix = "__param_";

// As Prometheus writes durations: `1m30s`, `200ms`.
std::string DurationText(absl::Duration duration) {
  std::string text;
  int64_t ms = absl::ToInt64Milliseconds(duration);
  const std::pair<const char*, int64_t> units[] = {
      {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};
  for (const auto& [unit, size] : units) {
    if (ms >= size) absl::StrAppend(&text, ms / size, unit);
    ms %= size;
  }
  return text;
}

absl::StatusOr<absl::Duration> DurationOf(const LabelSet& labels, absl::string_view name) {
  const absl::string_view text = LabelValue(labels, name);
  const auto duration = rules::ParsePrometheusDuration(text);
  if (duration && *duration > absl::ZeroDuration()) return *duration;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", go::Quote(text), ", expected a duration above 0"));
}

// The query, sorted by name: what the job says, the first value replaced by a __param_ label.
std::string QueryOf(const Job& job, const LabelSet& labels) {
  std::map<std::string, std::vector<std::string>> params(job.params.begin(), job.params.end());
  for (const auto& [label, value] : labels) {
    absl::string_view name = label;
    if (!absl::ConsumePrefix(&name, kParamPrefix)) continue;
    std::vector<std::string>& values = params[std::string(name)];
    if (values.empty()) values.emplace_back();
    values.front() = value;
  }
  std::string query;
  for (const auto& [name, values] : params) {
    for (const std::string& value : values) {
      absl::StrAppend(&query, query.empty() ? "" : "&", go::QueryEscape(name), "=",
                      go::QueryEscape(value));
    }
  }
  return query;
}

void SetUrl(const Job& job, Target& target) {
  target.origin = absl::StrCat(LabelValue(target.labels, "__scheme__"), "://",
                               LabelValue(target.labels, "__address__"));
  const absl::string_view path = LabelValue(target.labels, "__metrics_path__");
  target.path =
      absl::StrCat(absl::StartsWith(path, "/") ? "" : "/", go::EscapeForRequestLine(path));
  const std::string query = QueryOf(job, target.labels);
  if (!query.empty()) absl::StrAppend(&target.path, "?", query);
}

absl::Status CheckAddress(const LabelSet& labels) {
  const absl::string_view address = LabelValue(labels, "__address__");
  if (address.empty()) return absl::InvalidArgumentError("it has no __address__");
  // Prometheus refuses the slash; with one of the others each of its scrapes fails. In a URL they
  // would end the address or, as `@` does, lead to another one.
  const auto ends_address = [](char c) {
    return absl::StrContains("/@;?#\\ ", c) || absl::ascii_iscntrl(static_cast<unsigned char>(c));
  };
  if (std::any_of(address.begin(), address.end(), ends_address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("__address__ is ", go::Quote(address), ", expected host:port"));
  }
  return absl::OkStatus();
}

// "10.0.0.1" of "10.0.0.1:80", "fd00::1" of "[fd00::1]:80" and of "fd00::1".
absl::string_view HostOf(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "[")) return address.substr(0, address.find(']'));
  const size_t colon = address.find(':');
  return colon == address.rfind(':') ? address.substr(0, colon) : address;
}

// The one of `targets` that has the same page; nullptr: none.
Target* WithPageOf(const Target& target, absl::Span<Target> targets) {
  const auto same = std::find_if(targets.begin(), targets.end(), [&](const Target& one) {
    return one.origin == target.origin && one.path == target.path;
  });
  return same == targets.end() ? nullptr : &*same;
}

absl::Status CheckLengths(const LabelSet& labels) {
  for (const auto& [name, value] : labels) {
    if (value.size() <= kMaxTargetLabelBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat("the value of ", go::Quote(name.substr(0, 100)),
                                                   " takes more than ", kMaxTargetLabelBytes,
                                                   " bytes"));
  }
  return absl::OkStatus();
}

// Whole characters, since a rule's regular expression matches nothing else.
std::string StartOf(const std::string& value) {
  size_t size = kMaxTargetLabelBytes + 1;
  while (size < value.size() && (value[size] & 0xC0) == 0x80) ++size;
  return value.substr(0, size);
}

}  // namespace

LabelSet LabelsForRules(const Job& job, const LabelSet& labels) {
  absl::flat_hash_set<absl::string_view> read;
  for (const relabel::Rule& rule : job.relabel_rules) {
    read.insert(rule.source_labels().begin(), rule.source_labels().end());
  }
  LabelSet kept;
  for (const auto& label : labels) {
    if (!absl::StartsWith(label.first, "__meta_") || read.contains(label.first)) {
      kept.emplace_back(label.first, StartOf(label.second));
    }
  }
  return kept;
}

std::string NamespaceOf(const Job& job, const Target& target) {
  if (!job.asked_for_by_pods) return "";
  return std::string(LabelValue(target.sample_labels, "namespace"));
}

LabelSet DiscoveredLabels(const Job& job, const LabelSet& target, const LabelSet& group) {
  std::map<std::string, std::string> labels(target.begin(), target.end());
  labels.insert(group.begin(), group.end());
  labels.insert({{"job", job.name},
                 {"__scrape_interval__", DurationText(job.interval)},
                 {"__scrape_timeout__", DurationText(job.timeout)},
                 {"__metrics_path__", job.metrics_path},
                 {"__scheme__", job.scheme}});
  for (const auto& [name, values] : job.params) {
    if (!values.empty()) labels.emplace(absl::StrCat(kParamPrefix, name), values.front());
  }
  LabelSet set;
  for (auto& [name, value] : labels) {
    if (!value.empty()) set.emplace_back(name, std::move(value));
  }
  return set;
}

absl::StatusOr<Target> MakeTarget(const Job& job, LabelSet discovered) {
  const std::string pod_address(LabelValue(discovered, "__address__"));
  relabel::LabelEditor editor(std::move(discovered));
  if (!relabel::Apply(job.relabel_rules, editor)) return absl::NotFoundError("dropped by a rule");
  Target target;
  for (auto& label : editor.Build()) {
    if (!absl::StartsWith(label.first, "__meta_")) target.labels.push_back(std::move(label));
  }
  if (job.asked_for_by_pods) RETURN_IF_ERROR(CheckLengths(target.labels));
  RETURN_IF_ERROR(CheckAddress(target.labels));
  // The owner of a pod chooses the port and the path, and nothing that another host serves.
  if (job.asked_for_by_pods &&
      HostOf(LabelValue(target.labels, "__address__")) != HostOf(pod_address)) {
    return absl::InvalidArgumentError("__address__ is not that of the pod which asks for it");
  }
  ASSIGN_OR_RETURN(target.interval, DurationOf(target.labels, "__scrape_interval__"));
  ASSIGN_OR_RETURN(target.timeout, DurationOf(target.labels, "__scrape_timeout__"));
  if (target.timeout > target.interval) {
    return absl::InvalidArgumentError("__scrape_timeout__ is longer than __scrape_interval__");
  }
  if (target.interval < kMinInterval) {
    return absl::InvalidArgumentError(
        absl::StrCat("__scrape_interval__ is shorter than ", absl::FormatDuration(kMinInterval)));
  }
  if (LabelValue(target.labels, "instance").empty()) {
    relabel::LabelEditor with_instance(std::move(target.labels));
    with_instance.Set("instance", std::string(with_instance.Get("__address__")));
    target.labels = with_instance.Build();
  }
  for (const auto& label : target.labels) {
    if (!absl::StartsWith(label.first, "__")) target.sample_labels.push_back(label);
  }
  SetUrl(job, target);
  target.hash = absl::HashOf(target.origin, target.path, target.labels);
  return target;
}

Targets MakeTargets(const Job& job, absl::Span<const TargetGroup> groups) {
  Targets targets;
  absl::flat_hash_set<uint64_t> hashes;
  for (const TargetGroup& group : groups) {
    targets.left_out += group.left_out;
    const size_t first = targets.active.size();
    for (const LabelSet& labels : group.targets) {
      LabelSet discovered = DiscoveredLabels(job, labels, group.labels);
      const std::string address(LabelValue(discovered, "__address__"));
      auto target = MakeTarget(job, std::move(discovered));
      if (!target.ok()) continue;
      // An annotated port takes the place of the port of each container of its pod, and these
      // targets differ only in the label `container`: every sum would count the page once for each.
      // It belongs to the container that declares the port, or else to the first one.
      Target* const same = job.asked_for_by_pods
                               ? WithPageOf(*target, absl::MakeSpan(targets.active).subspan(first))
                               : nullptr;
      if (same != nullptr) {
        if (address == LabelValue(target->labels, "__address__")) *same = *std::move(target);
      } else if (hashes.insert(target->hash).second) {
        targets.active.push_back(*std::move(target));
      }
    }
  }
  targets.over_limit = job.limits.targets > 0 && targets.active.size() > job.limits.targets;
  return targets;
}

}  // namespace flyball::scrape
