// The metadata of a trigger: which keys its type has, and a reader of their values that collects
// everything that is wrong with them.
//
// Not thread-safe; it lives while a trigger is made. Source: KEDA 2.20 typed configuration: white
// space around a value does not count, and a blank value counts as absent; numbers are JSON's (no
// `+5`, `05`, `.5`, and `10.0` is no integer); keys that a type does not have are ignored. Differs:
// Secrets for parameters that a type does not take from Secrets are refused, since a request would
// go without what they are meant for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

enum class KeyKind : uint8_t {
  kText,
  kUrl,      // read as text
  kNumber,   // as JSON writes it
  kInteger,  // a number without fraction and exponent
  kTarget,   // a number above 0, which becomes thousandths (metric_value.h)
  kBool,
  kDuration,  // `30s`, or milliseconds; above 0
  kOneOf,     // one of MetadataKey::words
  kPairs,     // `k=v,k=v`
  kSecret,    // not in the metadata but in authenticationSecretRefs
  kRefused,   // KEDA has it and Flyball does not; `says` is the message
};

inline constexpr absl::string_view kRequired = "(required)";  // in place of a default

// One key, for the checks and the documentation.
struct MetadataKey {
  absl::string_view name;
  KeyKind kind;
  absl::string_view otherwise;   // the default, as it would be written, or kRequired
  absl::string_view says;        // its meaning, for the documentation
  absl::string_view words = "";  // kOneOf: "json, yaml"
};

// The keys of a type: its own, and those of a part that it shares with other types.
using MetadataKeys = std::array<absl::Span<const MetadataKey>, 2>;

class Metadata {
 public:
  // `spec` and `keys` outlive this. `index` is the trigger's place in spec.triggers.
  Metadata(const TriggerSpec& spec, size_t index, const MetadataKeys& keys)
      : spec_(spec), index_(index), keys_(keys) {}

  bool Has(absl::string_view name) const;

  // Each returns the value of a key of that kind, or its default if it is absent. A value that is
  // wrong, or required and absent, is recorded as a problem.
  std::string Text(absl::string_view name, KeyKind kind = KeyKind::kText);  // or kUrl
  double Number(absl::string_view name);
  int64_t Integer(absl::string_view name);
  int64_t Target(absl::string_view name);
  bool Bool(absl::string_view name);
  absl::Duration Duration(absl::string_view name);
  std::string OneOf(absl::string_view name);
  // If a key comes twice, the last value counts.
  std::vector<std::pair<std::string, std::string>> Pairs(absl::string_view name);

  TargetType MetricType() const;

  // Records a problem of one value, or of the trigger itself if `name` is empty.
  void Wrong(absl::string_view name, absl::string_view problem);
  // Records a problem for each key of kind kRefused, and for each Secret whose key is no kSecret.
  void Refuse();

  // OK, or kInvalidArgument with all problems: `triggers[1].metadata.threshold: …; …`.
  absl::Status status() const;

 private:
  std::optional<absl::string_view> Find(absl::string_view name) const;
  std::optional<absl::string_view> FindOrNote(const MetadataKey& key);
  void RefuseSecret(const std::string& parameter);
  const MetadataKey& KeyOf(absl::string_view name, KeyKind kind);
  template <typename T, typename Parse>
  T Value(absl::string_view name, KeyKind kind, absl::string_view expected, const Parse& parse);

  const TriggerSpec& spec_;
  const size_t index_;
  const MetadataKeys& keys_;
  std::vector<std::string> problems_;
};

// The input from which a trigger is made. Its maker reads all that it needs from the metadata,
// which collect the problems; the trigger that it returns is used only if there are none.
struct TriggerPlan {
  const TriggerSpec& spec;
  const TriggerContext& context;
  Metadata& metadata;

  // `s<index>-<part>`, with `/ . : % ( )` of the part as `-`.
  std::string MetricName(absl::string_view part) const;
  // A metric with that name, whose target is the value of the key `target_key`.
  TriggerMetric Metric(absl::string_view part, absl::string_view target_key) const;
};

}  // namespace flyball::scaler
