#include "scaler/shards/state_records.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kEpochAnnotation[] = "flyball.dev/lease-transitions";
constexpr char kDivisionAnnotation[] = "flyball.dev/shard-division";
constexpr char kDataKey[] = "state";

// Only a ConfigMap may count as empty. Any other answer, as a cut one or one of a proxy, says
// nothing about what is stored, so that it is an error like no answer.
absl::StatusOr<StateRecord> ParseRecord(const std::string& json) {
  const Json document = Json::parse(json, nullptr, false);
  const std::string kind = kube::TextOf(document, "kind");
  const Json& metadata = kube::MemberOf(document, "metadata");
  StateRecord out;
  out.resource_version = kube::TextOf(metadata, "resourceVersion");
  if ((!kind.empty() && kind != "ConfigMap") || out.resource_version.empty()) {
    return absl::UnavailableError("the answer is no ConfigMap");
  }
  const Json& annotations = kube::MemberOf(metadata, "annotations");
  if (!absl::SimpleAtoi(kube::TextOf(annotations, kEpochAnnotation), &out.epoch)) out.epoch = -1;
  if (!absl::SimpleAtoi(kube::TextOf(annotations, kDivisionAnnotation), &out.division)) {
    out.division = 0;
  }
  const std::string bytes = kube::TextOf(kube::MemberOf(document, "binaryData"), kDataKey);
  if (!absl::Base64Unescape(bytes, &out.bytes)) out.bytes.clear();
  return out;
}

// The most by which the clocks of two replicas are expected to differ.
constexpr absl::Duration kClockDifference = absl::Seconds(1);

// Moves the times of a record so that it counts as saved now: its past does not age between saving
// and reading, except for additions, which allow removals. How old these are can't be told by a
// clock that is behind the one that dated them, so they are left out then.
void CountAsSavedAt(absl::Time saved_at, absl::Time now, ScalerState& state) {
  const absl::Duration since = now - saved_at;
  for (Recommendation& item : state.recommendations) item.time += since;
  for (ScaleEvent& item : state.scale_downs) item.time += since;
  for (ScaleEvent& item : state.scale_ups) item.time += std::min(since, absl::ZeroDuration());
  if (since < -kClockDifference) state.scale_ups.clear();
}

}  // namespace

void OrderForRecord(std::vector<KeptAutoscaler>& autoscalers) {
  std::sort(autoscalers.begin(), autoscalers.end(),
            [](const KeptAutoscaler& a, const KeptAutoscaler& b) {
              const absl::Time newest_a = NewestRecommendation(a.state),
                               newest_b = NewestRecommendation(b.state);
              return newest_a != newest_b ? newest_a > newest_b : a.key < b.key;
            });
  absl::flat_hash_map<std::string, size_t> seen;  // of each namespace
  std::vector<std::pair<size_t, size_t>> turns;   // the turn of each, and where it is
  turns.reserve(autoscalers.size());
  for (size_t i = 0; i < autoscalers.size(); ++i) {
    turns.emplace_back(seen[autoscalers[i].key.ns]++, i);
  }
  std::sort(turns.begin(), turns.end());
  std::vector<KeptAutoscaler> ordered;
  ordered.reserve(autoscalers.size());
  for (const auto& [turn, i] : turns) ordered.push_back(std::move(autoscalers[i]));
  autoscalers = std::move(ordered);
}

StateRecords::StateRecords(std::string ns, std::string prefix, kube::ApiClient& client,
                           Clock& clock)
    : ns_(std::move(ns)), prefix_(std::move(prefix)), client_(client), clock_(clock) {}

std::string StateRecords::Name(int index) const { return absl::StrCat(prefix_, "-", index); }

std::string StateRecords::Path(int index) const {
  return kube::ObjectPath("", "v1", ns_, "configmaps", Name(index));
}

std::string StateRecords::NameForLog(int index) const {
  return absl::StrCat("ConfigMap ", ns_, "/", Name(index));
}

absl::Status StateRecords::Read(int index, StateRecord& record, KeptShard& kept) const {
  const absl::StatusOr<std::string> json = client_.Get(Path(index));
  if (absl::IsNotFound(json.status())) return absl::OkStatus();
  RETURN_IF_ERROR(json.status());
  ASSIGN_OR_RETURN(record, ParseRecord(*json));
  absl::StatusOr<KeptShard> decoded = DecodeShard(record.bytes);
  if (!decoded.ok()) {
    spdlog::warn("{}: what was kept of the scaler is ignored: {}", NameForLog(index),
                 std::string(decoded.status().message()));
  }
  kept = decoded.ok() ? *std::move(decoded) : KeptShard();
  for (KeptAutoscaler& item : kept.autoscalers) {
    CountAsSavedAt(kept.saved_at, clock_.WallNow(), item.state);
  }
  return absl::OkStatus();
}

std::string StateRecords::Document(int index, const ShardTerm& writer, const std::string& bytes,
                                   const std::string& resource_version) const {
  Json document = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  Json& metadata = document["metadata"];
  metadata = {{"name", Name(index)}, {"namespace", ns_}};
  if (!resource_version.empty()) metadata["resourceVersion"] = resource_version;
  metadata["labels"] = {{"app.kubernetes.io/managed-by", "flyball"}};
  metadata["annotations"] = {{kEpochAnnotation, absl::StrCat(writer.epoch)},
                             {kDivisionAnnotation, absl::StrCat(writer.division)}};
  document["binaryData"] = {{kDataKey, absl::Base64Escape(bytes)}};
  return document.dump();
}

absl::StatusOr<std::string> StateRecords::PutOnce(int index, const ShardTerm& writer,
                                                  const std::string& bytes,
                                                  const std::string& resource_version) const {
  const std::string document = Document(index, writer, bytes, resource_version);
  ASSIGN_OR_RETURN(const std::string answer,
                   resource_version.empty()
                       ? client_.Create(kube::ObjectPath("", "v1", ns_, "configmaps", ""), document)
                       : client_.Update(Path(index), document));
  ASSIGN_OR_RETURN(const StateRecord stored, ParseRecord(answer));
  return stored.resource_version;
}

absl::StatusOr<std::string> StateRecords::Put(int index, const ShardTerm& writer,
                                              const std::string& bytes,
                                              std::string resource_version) const {
  for (int tries = 0;; ++tries) {
    const absl::StatusOr<std::string> answer = PutOnce(index, writer, bytes, resource_version);
    if (answer.ok()) return answer;
    const absl::Status& status = answer.status();
    const bool changed =
        absl::IsAborted(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status);
    if (!changed || tries > 0) return status;
    const absl::StatusOr<std::string> current = client_.Get(Path(index));
    if (absl::IsNotFound(current.status())) {
      resource_version.clear();
      continue;
    }
    RETURN_IF_ERROR(current.status());
    ASSIGN_OR_RETURN(const StateRecord stored, ParseRecord(*current));
    if (stored.epoch > writer.epoch || stored.division > writer.division) {
      return absl::AbortedError("a later owner of the shard has written it already");
    }
    resource_version = stored.resource_version;
  }
}

}  // namespace flyball::scaler
