// A type's metadata: which keys there are, and reading their values, with everything that is wrong
// with them collected.
//
// Not thread-safe; for making a trigger. Source: KEDA 2.20 typed configuration: a value that is
// blank after trimming is absent; numbers are JSON's (no `+5`, `05`, `.5`, and `10.0` is no
// integer); keys that a type does not have are ignored.
#pragma once

#include <array>
#include <cstdint>
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
  kUrl,      // text too
  kNumber,   // as JSON writes it
  kInteger,  // a number without fraction and exponent
  kTarget,   // a number above 0, which becomes thousandths (metric_value.h)
  kBool,
  kDuration,  // `30s`, or milliseconds; above 0
  kOneOf,     // of MetadataKey::words
  kPairs,     // `k=v,k=v`
  kSecret,    // not in the metadata but in authenticationSecretRefs
  kRefused,   // KEDA has it and this house has not; `says` is the message
};

inline constexpr absl::string_view kRequired = "(required)";  // is nobody's default

// One key, as the checks and the documentation have it.
struct MetadataKey {
  absl::string_view name;
  KeyKind kind;
  absl::string_view otherwise;   // what counts when it is absent, as one would write it; kRequired
  absl::string_view says;        // for the documentation, in a few words
  absl::string_view words = "";  // kOneOf: "json, yaml"
};

// The keys of a type: its own, and those of a part that it is made of.
using MetadataKeys = std::array<absl::Span<const MetadataKey>, 2>;

class Metadata {
 public:
  // `spec` and `keys` outlive this. `index` is the trigger's place in spec.triggers.
  Metadata(const TriggerSpec& spec, size_t index, const MetadataKeys& keys)
      : spec_(spec), index_(index), keys_(keys) {}

  bool Has(absl::string_view name) const;

  // Each gives the value of a key of that kind, or what counts when it is absent. Of a value that
  // is wrong, or is required and absent, the problem is noted.
  std::string Text(absl::string_view name, KeyKind kind = KeyKind::kText);  // or kUrl
  double Number(absl::string_view name);
  int64_t Integer(absl::string_view name);
  int64_t Target(absl::string_view name);
  bool Bool(absl::string_view name);
  absl::Duration Duration(absl::string_view name);
  std::string OneOf(absl::string_view name);
  std::vector<std::pair<std::string, std::string>> Pairs(absl::string_view name);

  TargetType MetricType() const;

  // Notes a problem of one value, or of the trigger itself when `name` is empty.
  void Wrong(absl::string_view name, absl::string_view problem);
  // Notes the keys that are there and refused.
  void Refuse();

  // OK, or kInvalidArgument with all problems: `triggers[1].metadata.threshold: …; …`.
  absl::Status status() const;

 private:
  const std::string* Find(absl::string_view name) const;
  const std::string* FindOrNote(const MetadataKey& key);
  const MetadataKey& KeyOf(absl::string_view name, KeyKind kind);
  template <typename T, typename Parse>
  T Value(absl::string_view name, KeyKind kind, absl::string_view expected, const Parse& parse);

  const TriggerSpec& spec_;
  const size_t index_;
  const MetadataKeys& keys_;
  std::vector<std::string> problems_;
};

// What a trigger is made of. Its maker reads all that it needs from the metadata, which collect
// what is wrong with them; the trigger that it returns is used only when nothing is wrong.
struct TriggerPlan {
  const TriggerSpec& spec;
  const TriggerContext& context;
  Metadata& metadata;

  // `s<index>-<part>`, with `/ . : % ( )` of the part as `-`.
  std::string MetricName(absl::string_view part) const;
  // The metric of that name whose target is the value of that key.
  TriggerMetric Metric(absl::string_view part, absl::string_view target_key) const;
};

}  // namespace flyball::scaler
