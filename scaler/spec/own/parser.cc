#include "scaler/spec/own_parser.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "scaler/spec/hpa.h"
#include "scaler/spec/hpa_read.h"
#include "scaler/spec/shape.h"
#include "scaler/spec/validation.h"

namespace flyball::scaler {
namespace {

using Type = Shape::Type;

constexpr size_t kMaxMetrics = 64;
constexpr size_t kMaxPolicies = 32;
constexpr size_t kMaxTriggers = 32;
constexpr size_t kMaxMetadata = 64;
constexpr size_t kMaxSecrets = 16;
constexpr size_t kMaxTriggerName = 253;
constexpr size_t kMaxDurationText = 32;
constexpr absl::Duration kMinInterval = absl::Milliseconds(200);
constexpr absl::Duration kMaxInterval = absl::Hours(1);
constexpr absl::Duration kMaxCooldown = absl::Hours(8760);

const Shape kCadenceShape{
    .fields = {{"interval", &kStringShape, true}, {"onSample", &kBoolShape, true}}};
const Shape kSecretRefShape{
    .fields = {{"parameter", &kStringShape}, {"name", &kStringShape}, {"key", &kStringShape}}};
const Shape kSecretRefsShape{.type = Type::kList, .item = &kSecretRefShape};
const Shape kTriggerShape{.fields = {{"type", &kStringShape},
                                     {"name", &kStringShape},
                                     {"metadata", &kStringMapShape},
                                     {"metricType", &kStringShape},
                                     {"authenticationSecretRefs", &kSecretRefsShape}}};
const Shape kTriggersShape{.type = Type::kList, .item = &kTriggerShape};
const Shape kFallbackShape{
    .fields = {{"failureThreshold", &kInt32Shape, true}, {"replicas", &kInt32Shape, true}}};
const Shape kOwnSpecShape{.fields = {{"cadence", &kCadenceShape, true},
                                     {"mode", &kStringShape, true},
                                     {"triggers", &kTriggersShape},
                                     {"fallback", &kFallbackShape, true},
                                     {"cooldownPeriod", &kAnyShape, true},
                                     {"paused", &kBoolShape, true}}};
const Shape kOwnMetaShape{.fields = {{"creationTimestamp", &kTimeShape, true}}};
const Shape kOwnStatusShape{.fields = {{"lastActiveTime", &kTimeShape, true}}};
const Shape kOwnShape{.fields = {{"kind", &kStringShape},
                                 {"apiVersion", &kStringShape},
                                 {"metadata", &kOwnMetaShape},
                                 {"spec", &kOwnSpecShape},
                                 {"status", &kOwnStatusShape}}};

void CheckSize(const std::string& field, size_t size, size_t most, FieldErrors& errors) {
  if (size > most) errors.Invalid(field, absl::StrCat("must have at most ", most, " items"));
}

bool ReadBool(const Node& map, absl::string_view name) {
  const Node* member = map.Find(name);
  return member != nullptr && member->boolean;
}

// What both Go and CEL read as a duration, without sign and with units that a person would use:
// ([0-9]+(\.[0-9]+)?(ms|s|m|h))+
std::optional<absl::Duration> ParseDurationText(absl::string_view text) {
  if (text.empty() || text.size() > kMaxDurationText) return std::nullopt;
  const auto digits = [](absl::string_view& rest) {
    size_t count = 0;
    while (count < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[count]))) {
      ++count;
    }
    rest.remove_prefix(count);
    return count > 0;
  };
  for (absl::string_view rest = text; !rest.empty();) {
    if (!digits(rest)) return std::nullopt;
    if (absl::ConsumePrefix(&rest, ".") && !digits(rest)) return std::nullopt;
    if (!absl::ConsumePrefix(&rest, "ms") && !absl::ConsumePrefix(&rest, "s") &&
        !absl::ConsumePrefix(&rest, "m") && !absl::ConsumePrefix(&rest, "h")) {
      return std::nullopt;
    }
  }
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration)) return std::nullopt;
  return duration;
}

void ReadCadence(const Node& spec, OwnSpec& own, FieldErrors& errors) {
  const Node* cadence = spec.Find("cadence");
  if (cadence == nullptr) return;
  own.cadence.on_sample = ReadBool(*cadence, "onSample");
  const Node* interval = cadence->Find("interval");
  if ((interval != nullptr) == own.cadence.on_sample) {
    errors.Invalid("spec.cadence", "must have either an interval or onSample: true");
  }
  if (interval == nullptr) return;
  own.cadence.interval = ParseDurationText(interval->text);
  if (!own.cadence.interval.has_value()) {
    errors.Invalid("spec.cadence.interval", "must be a duration like 500ms or 1m30s");
  } else if (*own.cadence.interval < kMinInterval || *own.cadence.interval > kMaxInterval) {
    errors.Invalid("spec.cadence.interval", "must be from 200ms to 1h");
  }
}

void ReadMode(const Node& spec, OwnSpec& own, FieldErrors& errors) {
  if (spec.Find("mode") == nullptr) return;
  const absl::string_view mode = spec.FindText("mode");
  if (mode == "Shadow") {
    own.mode = Mode::kShadow;
  } else if (mode == "Advise") {
    own.mode = Mode::kAdvise;
  } else if (mode == "Act") {
    own.mode = Mode::kAct;
  } else {
    errors.NotSupported("spec.mode", {"Act", "Advise", "Shadow"});
  }
}

void ReadFallback(const Node& spec, OwnSpec& own, FieldErrors& errors) {
  const Node* fallback = spec.Find("fallback");
  if (fallback == nullptr) return;
  own.fallback.emplace();
  if (const auto threshold = ReadOptionalInt32(*fallback, "failureThreshold")) {
    own.fallback->after_failures = *threshold;
    if (*threshold < 0) {
      errors.Invalid("spec.fallback.failureThreshold", "must be greater than or equal to 0");
    }
  }
  own.fallback->replicas = ReadOptionalInt32(*fallback, "replicas");
  if (own.fallback->replicas.value_or(0) < 0) {
    errors.Invalid("spec.fallback.replicas", "must be greater than or equal to 0");
  }
}

void ReadCooldown(const Node& spec, OwnSpec& own, FieldErrors& errors) {
  const Node* cooldown = spec.Find("cooldownPeriod");
  if (cooldown == nullptr) return;
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

void ReadSecrets(const Node& trigger, const std::string& path, TriggerSpec& out,
                 FieldErrors& errors) {
  const Node* list = trigger.Find("authenticationSecretRefs");
  if (list == nullptr) return;
  const std::string field = absl::StrCat(path, ".authenticationSecretRefs");
  CheckSize(field, list->items.size(), kMaxSecrets, errors);
  for (size_t i = 0; i < list->items.size(); ++i) {
    const Node& item = list->items[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    const std::string parameter = ReadString(item, "parameter");
    TriggerSpec::SecretKey ref{.secret = ReadString(item, "name"), .key = ReadString(item, "key")};
    if (parameter.empty()) errors.Required(at + ".parameter", "which parameter the secret is for");
    for (const std::string& problem : SubdomainProblems(ref.secret)) {
      errors.Invalid(at + ".name", problem);
    }
    if (!IsSecretKey(ref.key)) {
      errors.Invalid(at + ".key", "must be 1 to 253 letters, digits, '-', '_' or '.'");
    }
    if (!out.secrets.emplace(parameter, std::move(ref)).second) {
      errors.Invalid(at + ".parameter", absl::StrCat("\"", parameter, "\" stands here twice"));
    }
  }
}

TriggerSpec ReadTrigger(const Node& trigger, const std::string& path, FieldErrors& errors) {
  TriggerSpec out;
  out.type = ReadString(trigger, "type");
  out.name = ReadString(trigger, "name");
  out.metric_type = ReadString(trigger, "metricType");
  if (std::find(std::begin(kTriggerTypes), std::end(kTriggerTypes), out.type) ==
      std::end(kTriggerTypes)) {
    errors.NotSupported(path + ".type", {std::begin(kTriggerTypes), std::end(kTriggerTypes)});
  }
  if (out.name.size() > kMaxTriggerName) errors.TooLong(path + ".name", kMaxTriggerName);
  if (!out.metric_type.empty() && out.metric_type != "AverageValue" && out.metric_type != "Value") {
    errors.NotSupported(path + ".metricType", {"AverageValue", "Value"});
  }
  if (const Node* metadata = trigger.Find("metadata")) {
    CheckSize(path + ".metadata", metadata->members.size(), kMaxMetadata, errors);
    for (const auto& [key, value] : metadata->members) out.metadata[key] = value.text;
  }
  ReadSecrets(trigger, path, out, errors);
  return out;
}

void ReadTriggers(const Node& spec, OwnSpec& own, FieldErrors& errors) {
  const Node* triggers = spec.Find("triggers");
  if (triggers == nullptr) return;
  CheckSize("spec.triggers", triggers->items.size(), kMaxTriggers, errors);
  std::set<std::string> names;
  for (size_t i = 0; i < triggers->items.size(); ++i) {
    const std::string path = absl::StrCat("spec.triggers[", i, "]");
    own.triggers.push_back(ReadTrigger(triggers->items[i], path, errors));
    const std::string& name = own.triggers.back().name;
    if (!name.empty() && !names.insert(name).second) {
      errors.Invalid(path + ".name", absl::StrCat("\"", name, "\" names an earlier trigger"));
    }
  }
}

// What an HPA lets through and then never works, and lists of any length.
void CheckBeyondHpa(const Autoscaler& autoscaler, FieldErrors& errors) {
  CheckSize("spec.metrics", autoscaler.metrics.size(), kMaxMetrics, errors);
  for (size_t i = 0; i < autoscaler.metrics.size(); ++i) {
    const MetricSpec& metric = autoscaler.metrics[i];
    if (metric.metric.selector_error.empty()) continue;
    std::string block(metric.type_text);  // External -> external
    block[0] = absl::ascii_tolower(static_cast<unsigned char>(block[0]));
    errors.Invalid(absl::StrCat("spec.metrics[", i, "].", block, ".metric.selector"),
                   metric.metric.selector_error);
  }
  if (!autoscaler.behavior.has_value()) return;
  CheckSize("spec.behavior.scaleUp.policies", autoscaler.behavior->scale_up.policies.size(),
            kMaxPolicies, errors);
  CheckSize("spec.behavior.scaleDown.policies", autoscaler.behavior->scale_down.policies.size(),
            kMaxPolicies, errors);
}

absl::Status CheckKind(const Node& object) {
  for (const auto& [field, expected] :
       {std::pair("kind", kOwnKind), std::pair("apiVersion", kOwnApiVersion)}) {
    const absl::string_view got = object.FindText(field);
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

OwnParseResult Undecodable(absl::string_view why) {
  OwnParseResult result;
  result.decode_error = std::string(why);
  return result;
}

}  // namespace

OwnParseResult ParseOwnAutoscaler(const Node& document) {
  const absl::StatusOr<Node> object = Conform(document, kOwnShape, KeyMatch::kExact);
  if (!object.ok()) return Undecodable(object.status().message());
  if (const absl::Status kind = CheckKind(*object); !kind.ok()) return Undecodable(kind.message());
  // The fields of an HPA stand where they do in one; this reads them and leaves the others.
  absl::StatusOr<Hpa> hpa = DecodeV2(document);
  if (!hpa.ok()) return Undecodable(hpa.status().message());

  OwnParseResult result;
  FieldErrors errors;
  if (const Node* spec = object->Find("spec")) {
    ReadCadence(*spec, result.own, errors);
    ReadMode(*spec, result.own, errors);
    ReadTriggers(*spec, result.own, errors);
    ReadFallback(*spec, result.own, errors);
    ReadCooldown(*spec, result.own, errors);
    result.own.paused = ReadBool(*spec, "paused");
  }
  if (const Node* meta = object->Find("metadata")) {
    result.created = ReadTime(*meta, "creationTimestamp");
  }
  if (const Node* status = object->Find("status")) {
    result.last_active = ReadTime(*status, "lastActiveTime");
  }
  const bool has_triggers = !result.own.triggers.empty();
  ApplyV2Defaults(*hpa, has_triggers);
  ValidateHpa(*hpa,
              {.min_replicas_lower_bound = has_triggers ? 0 : 1,
               .allow_core_group_target = hpa->scale_target_ref.kind == "ReplicationController",
               .wakes_by_trigger = has_triggers},
              errors);
  result.autoscaler = CompileHpa(*hpa);
  CheckBeyondHpa(*result.autoscaler, errors);
  result.errors = std::move(errors).Sorted();
  return result;
}

OwnParseResult ParseOwnAutoscaler(absl::string_view json_or_yaml) {
  const absl::StatusOr<std::vector<Node>> documents =
      ParseDocuments(json_or_yaml, {.max_nodes = 100'000});
  if (!documents.ok()) return Undecodable(documents.status().message());
  if (documents->size() != 1) {
    return Undecodable(absl::StrCat("expected one object, got ", documents->size()));
  }
  return ParseOwnAutoscaler(documents->front());
}

}  // namespace flyball::scaler
