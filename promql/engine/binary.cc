#include "promql/engine/operators.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

bool Compare(absl::string_view op, double lhs, double rhs) {
  if (op == "==") return lhs == rhs;
  if (op == "!=") return lhs != rhs;
  if (op == ">") return lhs > rhs;
  if (op == "<") return lhs < rhs;
  if (op == ">=") return lhs >= rhs;
  return lhs <= rhs;
}

double Calculate(absl::string_view op, double lhs, double rhs) {
  if (op == "+") return lhs + rhs;
  if (op == "-") return lhs - rhs;
  if (op == "*") return lhs * rhs;
  if (op == "/") return lhs / rhs;
  if (op == "%") return std::fmod(lhs, rhs);
  if (op == "^") return std::pow(lhs, rhs);
  return std::atan2(lhs, rhs);
}

// The result for a pair; nullopt: a filter leaves it out.
std::optional<double> Combine(const Binary& binary, double lhs, double rhs) {
  if (!IsComparison(binary.op)) return Calculate(binary.op, lhs, rhs);
  const bool holds = Compare(binary.op, lhs, rhs);
  if (binary.return_bool) return holds ? 1 : 0;
  if (!holds) return std::nullopt;
  return lhs;
}

bool DropsName(const Binary& binary, Dialect dialect) {
  if (IsComparison(binary.op)) return binary.return_bool;
  return binary.op != "atan2" || dialect == Dialect::k3;
}

// The key by which elements of both sides are matched, in the form of Labels::encoded.
absl::Status WriteMatchKey(const Labels& labels, const Matching& matching, WorkMeter& work,
                           std::string* key) {
  ChooseLabels(labels, {matching.labels, !matching.on}, key);
  return work.Count(StepsOfNames(labels, matching.labels.size()));
}

absl::StatusOr<Vector> SetOperation(const Binary& binary, const Vector& lhs, const Vector& rhs,
                                    WorkMeter& work) {
  const bool is_or = binary.op == "or";
  const Vector& keys_of = is_or ? lhs : rhs;
  const Vector& filtered = is_or ? rhs : lhs;
  absl::flat_hash_set<std::string> keys;
  std::string key;
  for (const Element& element : keys_of) {
    RETURN_IF_ERROR(WriteMatchKey(element.labels, binary.matching, work, &key));
    keys.insert(key);
  }

  Vector result;
  if (is_or) result = lhs;
  const bool keep_if_found = binary.op == "and";
  for (const Element& element : filtered) {
    RETURN_IF_ERROR(WriteMatchKey(element.labels, binary.matching, work, &key));
    if (keys.contains(key) == keep_if_found) result.push_back(element);
  }
  return result;
}

bool IsNamed(const Matching& matching, absl::string_view label) {
  return std::find(matching.labels.begin(), matching.labels.end(), label) != matching.labels.end();
}

Labels ResultLabels(const Binary& binary, const Labels& many, const Labels& one, bool drops_name) {
  const Matching& matching = binary.matching;
  const bool one_to_one = matching.cardinality == Cardinality::kOneToOne;
  LabelsBuilder builder;
  for (const auto& [name, value] : many) {
    if (drops_name && name == "__name__") continue;
    if (one_to_one && IsNamed(matching, name) != matching.on) continue;
    builder.Add(name, value);
  }
  for (const std::string& name : matching.include) builder.Set(name, one.Get(name));
  return builder.Build();
}

// As Prometheus writes labels in this error: the metric's name is one of them.
std::string Listed(const Labels& labels) {
  std::string out = "{";
  for (const auto& [name, value] : labels) {
    absl::StrAppend(&out, out.size() > 1 ? ", " : "", name, "=", Quote(value));
  }
  return out + "}";
}

// Pairs the elements of the many side with those of the one side.
class Pairing {
 public:
  Pairing(const Binary& binary, Dialect dialect, WorkMeter& work, QueryMemory& memory)
      : binary_(binary),
        work_(work),
        memory_(memory),
        dialect_(dialect),
        drops_name_(DropsName(binary, dialect)),
        swapped_(binary.matching.cardinality == Cardinality::kOneToMany) {}

  absl::Status IndexOneSide(const Vector& one);
  absl::Status Add(const Element& many);
  Vector TakeResult() { return std::move(result_); }

 private:
  absl::Status CheckSecondMatch(bool kept, const Labels& labels);

  const Binary& binary_;
  WorkMeter& work_;
  QueryMemory& memory_;
  const Dialect dialect_;
  const bool drops_name_;
  const bool swapped_;
  std::string key_;  // of the element at hand
  absl::flat_hash_map<std::string, const Element*> one_;
  absl::flat_hash_map<std::string, absl::flat_hash_set<Labels>> matched_;
  Vector result_;
};

absl::Status Pairing::IndexOneSide(const Vector& one) {
  for (const Element& element : one) {
    RETURN_IF_ERROR(WriteMatchKey(element.labels, binary_.matching, work_, &key_));
    const auto [at, inserted] = one_.try_emplace(key_, &element);
    if (inserted) continue;
    const absl::string_view side = swapped_ ? "left" : "right";
    return absl::FailedPreconditionError(absl::StrCat(
        "found duplicate series for the match group ", Listed(Labels::FromEncoded(key_)),
        " on the ", side, " hand-side of the operation: [", Listed(element.labels), ", ",
        Listed(at->second->labels),
        "];many-to-many matching not allowed: matching labels must be unique on one side"));
  }
  return absl::OkStatus();
}

absl::Status Pairing::CheckSecondMatch(bool kept, const Labels& labels) {
  const bool one_to_one = binary_.matching.cardinality == Cardinality::kOneToOne;
  // Elements that a filter drops count as duplicates only in one-to-one matching of dialect 3.
  if (!kept && !(one_to_one && dialect_ == Dialect::k3)) return absl::OkStatus();
  const auto [at, inserted] = matched_.try_emplace(key_);
  if (one_to_one) {
    if (inserted) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "multiple matches for labels: many-to-one matching must be explicit "
        "(group_left/group_right)");
  }
  if (at->second.insert(labels).second) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "multiple matches for labels: grouping labels must ensure unique matches");
}

absl::Status Pairing::Add(const Element& many) {
  const Matching& matching = binary_.matching;
  RETURN_IF_ERROR(WriteMatchKey(many.labels, matching, work_, &key_));
  const auto found = one_.find(key_);
  if (found == one_.end()) return absl::OkStatus();
  const Element& one = *found->second;
  // Those of ResultLabels.
  RETURN_IF_ERROR(
      work_.Count(StepsOfNames(many.labels, matching.labels.size() + matching.include.size()) +
                  StepsOfNames(one.labels, matching.include.size())));
  const std::optional<double> value =
      swapped_ ? Combine(binary_, one.value, many.value) : Combine(binary_, many.value, one.value);
  Labels labels = ResultLabels(binary_, many.labels, one.labels, drops_name_);
  RETURN_IF_ERROR(memory_.Use(labels.bytes_alone()));
  RETURN_IF_ERROR(CheckSecondMatch(value.has_value(), labels));
  if (value) result_.push_back({std::move(labels), *value});
  return absl::OkStatus();
}

}  // namespace

double ScalarOperation(absl::string_view op, double lhs, double rhs) {
  if (IsComparison(op)) return Compare(op, lhs, rhs) ? 1 : 0;
  return Calculate(op, lhs, rhs);
}

Vector VectorScalarOperation(const Binary& binary, Vector vector, double scalar, bool scalar_left,
                             Dialect dialect) {
  Vector result;
  const bool drops_name = DropsName(binary, dialect);
  const bool filter = IsComparison(binary.op) && !binary.return_bool;
  for (Element& element : vector) {
    const auto value = scalar_left ? Combine(binary, scalar, element.value)
                                   : Combine(binary, element.value, scalar);
    if (!value) continue;
    // A filter keeps the vector's own value, on whichever side it stands.
    if (!filter) element.value = *value;
    if (drops_name) element.labels = WithoutName(element.labels);
    result.push_back(std::move(element));
  }
  return result;
}

absl::StatusOr<Vector> VectorOperation(const Binary& binary, const Vector& lhs, const Vector& rhs,
                                       Dialect dialect, WorkMeter& work, QueryMemory& memory) {
  if (memory.has_limit()) RETURN_IF_ERROR(memory.Use(BytesOfKeys(lhs) + BytesOfKeys(rhs)));
  if (IsSetOperator(binary.op)) return SetOperation(binary, lhs, rhs, work);
  if (lhs.empty() || rhs.empty()) return Vector();
  const bool swapped = binary.matching.cardinality == Cardinality::kOneToMany;
  Pairing pairing(binary, dialect, work, memory);
  RETURN_IF_ERROR(pairing.IndexOneSide(swapped ? lhs : rhs));
  for (const Element& many : swapped ? rhs : lhs) RETURN_IF_ERROR(pairing.Add(many));
  return pairing.TakeResult();
}

}  // namespace flyball::promql
