#include "scaler/spec/own/parser.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/one_line.h"
#include "kube/objects/label_syntax.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/own/metric_fallback.h"
#include "scaler/spec/own/request_defaults.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxMetrics = 64;
constexpr size_t kMaxPolicies = 32;
constexpr size_t kMaxTriggers = 32;
constexpr size_t kMaxMetadata = 64;
constexpr size_t kMaxMetadataKeyBytes = 253;
constexpr size_t kMaxMetadataValueBytes = 8 << 10;
constexpr size_t kMaxLongValueBytes = 64 << 10;  // a query, or hosts with their paths
// Of all triggers together. A trigger has its metadata in memory several times, and sends most of
// them with each call.
constexpr size_t kMaxMetadataBytes = 128 << 10;
constexpr size_t kMaxSecrets = 16;
constexpr size_t kMaxTriggerName = 253;
constexpr absl::Duration kMinInterval = absl::Milliseconds(200);
constexpr absl::Duration kMaxInterval = absl::Hours(1);
constexpr absl::Duration kMaxCooldown = absl::Hours(8760);

// An object as it is written, without the fields that an HPA has too.
struct WrittenCadence {
  std::optional<std::string> interval;
  bool on_sample = false;
};
struct WrittenSecret {
  std::string parameter;
  TriggerSpec::SecretKey key;
};
struct WrittenTrigger {
  TriggerSpec spec;  // without its secrets and its fallback
  std::vector<WrittenSecret> secrets;
  std::optional<WrittenFallback> fallback;
};
struct Written {
  TypeMeta type;
  std::optional<absl::Time> created;
  std::optional<absl::Time> last_active;
  std::optional<WrittenCadence> cadence;
  std::optional<std::string> mode, pod_selection;
  std::vector<WrittenMetric> metrics;
  std::vector<WrittenTrigger> triggers;
  std::optional<Fallback> fallback;
  std::optional<Node> cooldown;
  bool paused = false;
  std::optional<Node> schedules;
  std::optional<std::string> paused_until;
  bool pending_capacity = false;
};

constexpr auto kTriggerFields = [](auto& field, WrittenTrigger& to) {
  field("type", to.spec.type);
  field("name", to.spec.name);
  field("metadata", to.spec.metadata);
  field("metricType", to.spec.metric_type);
  field("authenticationSecretRefs", to.secrets, [](auto& field, WrittenSecret& to) {
    field("parameter", to.parameter);
    field("name", to.key.secret);
    field("key", to.key.key);
  });
  field("fallback", to.fallback, kTriggerFallbackFields);
};
constexpr auto kSpecFields = [](auto& field, Written& to) {
  field("cadence", to.cadence, [](auto& field, WrittenCadence& to) {
    field("interval", to.interval);
    field.OrElse("onSample", to.on_sample, false);
  });
  field("mode", to.mode);
  field("podSelection", to.pod_selection);
  field("metrics", to.metrics, kMetricFallbackFields);
  field("triggers", to.triggers, kTriggerFields);
  field("fallback", to.fallback, [](auto& field, Fallback& to) {
    field.OrElse("failureThreshold", to.after_failures, Fallback().after_failures);
    field("replicas", to.replicas);
  });
  field("cooldownPeriod", to.cooldown);
  field.OrElse("paused", to.paused, false);
  field("schedules", to.schedules);
  field("pausedUntil", to.paused_until);
  field.OrElse("pendingCapacity", to.pending_capacity, false);
};
constexpr auto kObjectFields = [](auto& field, Written& to) {
  kTypeMetaFields(field, to.type);
  field("metadata", to, [](auto& field, Written& to) { field("creationTimestamp", to.created); });
  field("spec", to, kSpecFields);
  field("status", to, [](auto& field, Written& to) { field("lastActiveTime", to.last_active); });
};

void CheckSize(const std::string& field, size_t size, size_t most, FieldErrors& errors) {
  if (size > most) errors.Invalid(field, absl::StrCat("must have at most ", most, " items"));
}

void ReadCadence(const std::optional<WrittenCadence>& written, OwnSpec& own, FieldErrors& errors) {
  if (!written.has_value()) return;
  own.cadence.on_sample = written->on_sample;
  if (written->interval.has_value() == written->on_sample) {
    errors.Invalid("spec.cadence", "must have either an interval or onSample: true");
  }
  if (!written->interval.has_value()) return;
  own.cadence.interval = ParseDurationText(*written->interval);
  if (!own.cadence.interval.has_value()) {
    errors.Invalid("spec.cadence.interval", "must be a duration like 500ms or 1m30s");
  } else if (*own.cadence.interval < kMinInterval || *own.cadence.interval > kMaxInterval) {
    errors.Invalid("spec.cadence.interval", "must be from 200ms to 1h");
  }
}

void ReadMode(const std::optional<std::string>& mode, OwnSpec& own, FieldErrors& errors) {
  if (mode == "Shadow") own.mode = Mode::kShadow;
  if (mode == "Advise") own.mode = Mode::kAdvise;
  if (mode == "Act") own.mode = Mode::kAct;
  if (mode.has_value() && !own.mode.has_value()) {
    errors.NotSupported("spec.mode", {"Act", "Advise", "Shadow"});
  }
}

void ReadPodSelection(const std::optional<std::string>& selection, OwnSpec& own,
                      FieldErrors& errors) {
  own.owned_pods_only = selection == "OwnerReferences";
  if (selection.has_value() && !own.owned_pods_only && selection != "LabelSelector") {
    errors.NotSupported("spec.podSelection", {"LabelSelector", "OwnerReferences"});
  }
}

void CheckFallback(const std::optional<Fallback>& fallback, FieldErrors& errors) {
  if (!fallback.has_value()) return;
  if (fallback->after_failures < 0) {
    errors.Invalid("spec.fallback.failureThreshold", "must be greater than or equal to 0");
  }
  if (fallback->replicas.value_or(0) < 0) {
    errors.Invalid("spec.fallback.replicas", "must be greater than or equal to 0");
  }
}

void ReadCooldown(const std::optional<Node>& cooldown, OwnSpec& own, FieldErrors& errors) {
  if (!cooldown.has_value()) return;
  std::optional<absl::Duration> duration;
  int64_t seconds = 0;
  if (cooldown->kind == Node::Kind::kString) {
    duration = ParseDurationText(cooldown->text);
  } else if (cooldown->kind == Node::Kind::kNumber && absl::SimpleAtoi(cooldown->text, &seconds)) {
    duration = absl::Seconds(seconds);
  }
  if (!duration.has_value()) {
    errors.Invalid("spec.cooldownPeriod", "must be a duration like 5m, or whole seconds like 300");
  } else if (*duration < absl::ZeroDuration() || *duration > kMaxCooldown) {
    errors.Invalid("spec.cooldownPeriod", "must be from 0 to 8760h");
  } else {
    own.cooldown = *duration;
  }
}

bool IsSecretKey(absl::string_view key) {
  return !key.empty() && key.size() <= 253 && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

void ReadSecrets(std::vector<WrittenSecret>& secrets, const std::string& field, TriggerSpec& out,
                 FieldErrors& errors) {
  CheckSize(field, secrets.size(), kMaxSecrets, errors);
  for (size_t i = 0; i < secrets.size(); ++i) {
    auto& [parameter, key] = secrets[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    if (parameter.empty()) errors.Required(at + ".parameter", "which parameter the secret is for");
    errors.Invalid(at + ".name", kube::SubdomainProblems(key.secret));
    if (!IsSecretKey(key.key)) {
      errors.Invalid(at + ".key", "must be 1 to 253 letters, digits, '-', '_' or '.'");
    }
    if (!out.secrets.emplace(parameter, std::move(key)).second) {
      errors.Invalid(at + ".parameter", absl::StrCat("\"", parameter, "\" stands here twice"));
    }
  }
}

// Returns the bytes of the keys and values.
size_t CheckMetadata(const std::map<std::string, std::string>& metadata, const std::string& field,
                     FieldErrors& errors) {
  CheckSize(field, metadata.size(), kMaxMetadata, errors);
  size_t bytes = 0;
  for (const auto& [key, value] : metadata) {
    bytes += key.size() + value.size();
    const bool may_be_long = key == "query" || key == "hosts";
    const size_t most = may_be_long ? kMaxLongValueBytes : kMaxMetadataValueBytes;
    if (key.size() > kMaxMetadataKeyBytes) {
      errors.Invalid(field,
                     absl::StrCat("must have keys of at most ", kMaxMetadataKeyBytes, " bytes"));
    } else if (value.size() > most) {
      errors.TooLong(absl::StrCat(field, ".", key), most);
    }
  }
  return bytes;
}

TriggerSpec ReadTrigger(WrittenTrigger& written, const std::vector<absl::string_view>& types,
                        const std::string& path, FieldErrors& errors) {
  TriggerSpec out = std::move(written.spec);
  if (std::find(types.begin(), types.end(), out.type) == types.end()) {
    errors.NotSupported(path + ".type", types);
  }
  if (out.name.size() > kMaxTriggerName) errors.TooLong(path + ".name", kMaxTriggerName);
  if (!out.metric_type.empty() && out.metric_type != "AverageValue" && out.metric_type != "Value") {
    errors.NotSupported(path + ".metricType", {"AverageValue", "Value"});
  }
  ReadSecrets(written.secrets, path + ".authenticationSecretRefs", out, errors);
  return out;
}

void ReadTriggers(std::vector<WrittenTrigger>& triggers,
                  const std::vector<absl::string_view>& types, OwnSpec& own, FieldErrors& errors) {
  CheckSize("spec.triggers", triggers.size(), kMaxTriggers, errors);
  std::set<std::string> names;
  size_t metadata_bytes = 0;
  for (size_t i = 0; i < triggers.size(); ++i) {
    const std::string path = absl::StrCat("spec.triggers[", i, "]");
    own.triggers.push_back(ReadTrigger(triggers[i], types, path, errors));
    metadata_bytes += CheckMetadata(own.triggers.back().metadata, path + ".metadata", errors);
    const std::string& name = own.triggers.back().name;
    if (!name.empty() && !names.insert(name).second) {
      errors.Invalid(path + ".name",
                     absl::StrCat("\"", BriefText(name), "\" names an earlier trigger"));
    }
  }
  if (metadata_bytes > kMaxMetadataBytes) {
    errors.Invalid("spec.triggers", absl::StrCat("must have at most ", kMaxMetadataBytes,
                                                 " bytes of metadata, has ", metadata_bytes));
  }
}

// Puts them behind the fallbacks of the `metrics` metrics, as the metrics of triggers follow those
// of the spec.
void ReadTriggerFallbacks(const std::vector<WrittenTrigger>& triggers, size_t metrics, OwnSpec& own,
                          FieldErrors& errors) {
  for (size_t i = 0; i < triggers.size(); ++i) {
    if (!triggers[i].fallback.has_value()) continue;
    own.metric_fallbacks.resize(metrics + triggers.size());
    own.metric_fallbacks[metrics + i] = ReadTriggerFallback(
        *triggers[i].fallback, absl::StrCat("spec.triggers[", i, "].fallback"), errors);
  }
}

// `source` is the metric's field, such as spec.metrics[0].external.
void CheckMetric(const MetricSpec& metric, const std::string& source, FieldErrors& errors) {
  if (!metric.metric.selector_error.empty()) {
    errors.Invalid(source + ".metric.selector", metric.metric.selector_error);
  }
  for (const auto& [field, amount] :
       {std::pair(".target.value", &metric.target.value),
        std::pair(".target.averageValue", &metric.target.average_value)}) {
    if (amount->has_value() && IsBeyond((*amount)->quantity)) {
      errors.Invalid(source + field, "is too large");
    }
  }
}

// Refuses selectors that do not compile, which an HPA may have although it never works with them,
// targets that the math would take for other numbers, and lists that are too long.
void CheckBeyondHpa(const Autoscaler& autoscaler, FieldErrors& errors) {
  CheckSize("spec.metrics", autoscaler.metrics.size(), kMaxMetrics, errors);
  for (size_t i = 0; i < autoscaler.metrics.size(); ++i) {
    std::string block(autoscaler.metrics[i].type_text);  // External -> external
    if (block.empty()) continue;
    block[0] = absl::ascii_tolower(static_cast<unsigned char>(block[0]));
    CheckMetric(autoscaler.metrics[i], absl::StrCat("spec.metrics[", i, "].", block), errors);
  }
  if (!autoscaler.behavior.has_value()) return;
  CheckSize("spec.behavior.scaleUp.policies", autoscaler.behavior->scale_up.policies.size(),
            kMaxPolicies, errors);
  CheckSize("spec.behavior.scaleDown.policies", autoscaler.behavior->scale_down.policies.size(),
            kMaxPolicies, errors);
}

absl::Status CheckType(const TypeMeta& type) {
  for (const auto& [field, got, expected] :
       {std::tuple("kind", type.kind, kOwnKind),
        std::tuple("apiVersion", type.api_version, kOwnApiVersion)}) {
    if (got.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("field `", field, "` is missing"));
    }
    if (got != expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected ", field, " ", expected, ", got ", got));
    }
  }
  return absl::OkStatus();
}

// The fields that an HPA has too are at the same paths; DecodeV2 reads them and ignores the others.
absl::StatusOr<Hpa> Read(const Node& document, Written& written) {
  RETURN_IF_ERROR(Decode(document, KeyMatch::kExact, written, kObjectFields));
  RETURN_IF_ERROR(CheckType(written.type));
  return DecodeV2(document);
}

}  // namespace

OwnParseResult ParseOwnAutoscaler(const Node& document,
                                  const std::vector<absl::string_view>& trigger_types) {
  Written written;
  absl::StatusOr<Hpa> hpa = Read(document, written);
  if (!hpa.ok()) return Undecodable<OwnParseResult>(hpa.status());

  OwnParseResult result;
  FieldErrors errors;
  ReadCadence(written.cadence, result.own, errors);
  ReadMode(written.mode, result.own, errors);
  ReadPodSelection(written.pod_selection, result.own, errors);
  ReadTriggers(written.triggers, trigger_types, result.own, errors);
  CheckFallback(written.fallback, errors);
  ReadCooldown(written.cooldown, result.own, errors);
  result.own.fallback = written.fallback;
  result.own.paused = written.paused;
  result.created = written.created;
  result.last_active = written.last_active;
  const bool has_triggers = !result.own.triggers.empty();
  ApplyV2Defaults(*hpa, has_triggers);
  ValidateHpa(*hpa,
              {.meta = {.checks_finalizers = false},
               .min_replicas_lower_bound = has_triggers ? 0 : 1,
               .allow_core_group_target = hpa->scale_target_ref.kind == "ReplicationController",
               .wakes_by_trigger = has_triggers},
              errors);
  result.autoscaler = CompileHpa(*hpa);
  result.own.metric_fallbacks =
      ReadMetricFallbacks(written.metrics, result.autoscaler->metrics, errors);
  ReadTriggerFallbacks(written.triggers, result.autoscaler->metrics.size(), result.own, errors);
  result.autoscaler->pending_capacity = written.pending_capacity;
  result.own.schedules = ReadSchedules(
      {.schedules = written.schedules ? &*written.schedules : nullptr,
       .paused_until = written.paused_until ? &*written.paused_until : nullptr},
      {.spec = *result.autoscaler, .triggers = result.own.triggers, .least = has_triggers ? 0 : 1},
      errors);
  CheckBeyondHpa(*result.autoscaler, errors);
  ApplyRequestDefaults(written.cooldown.has_value(), *result.autoscaler, result.own, errors);
  result.errors = std::move(errors).Sorted();
  return result;
}

OwnParseResult ParseOwnAutoscaler(absl::string_view json_or_yaml,
                                  const std::vector<absl::string_view>& trigger_types) {
  const absl::StatusOr<Node> document = ParseOneObject(json_or_yaml);
  return document.ok() ? ParseOwnAutoscaler(*document, trigger_types)
                       : Undecodable<OwnParseResult>(document.status());
}

}  // namespace flyball::scaler
