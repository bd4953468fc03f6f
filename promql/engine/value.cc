#include "promql/engine/value.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace flyball::promql {

absl::Status SameLabelSet() {
  return absl::FailedPreconditionError("vector cannot contain metrics with the same labelset");
}

absl::Status CheckDistinct(const Vector& vector) {
  if (vector.size() < 2) return absl::OkStatus();
  absl::flat_hash_set<Labels> seen;  // their hashes are kept with them
  seen.reserve(vector.size());
  for (const Element& element : vector) {
    if (!seen.insert(element.labels).second) return SameLabelSet();
  }
  return absl::OkStatus();
}

size_t BytesOf(const Vector& vector) {
  size_t bytes = vector.capacity() * sizeof(Element);
  for (const Element& element : vector) bytes += element.labels.bytes_alone();
  return bytes;
}

size_t BytesOfKeys(const Vector& vector) {
  constexpr size_t kPlace = 64;  // of a text in a hash table
  size_t bytes = vector.size() * kPlace;
  for (const Element& element : vector) bytes += element.labels.encoded().size();
  return bytes;
}

size_t BytesOf(const std::vector<Range>& series) {
  size_t bytes = series.capacity() * sizeof(Range);
  for (const Range& range : series) {
    bytes += range.labels.bytes_alone() + range.points.capacity() * sizeof(Point);
  }
  return bytes;
}

size_t BytesOf(const Value& value) {
  if (const auto* vector = std::get_if<Vector>(&value)) return BytesOf(*vector);
  if (const auto* matrix = std::get_if<Matrix>(&value)) return BytesOf(matrix->series);
  return 0;
}

Labels WithLabel(const Labels& labels, absl::string_view name, absl::string_view value) {
  if (labels.Get(name) == value) return labels;
  std::string encoded;
  encoded.reserve(labels.encoded().size() + name.size() + value.size() + 10);
  bool placed = value.empty();
  for (const auto& [other, kept] : labels) {
    if (!placed && name < other) {
      AppendLabel(name, value, &encoded);
      placed = true;
    }
    if (other != name) AppendLabel(other, kept, &encoded);
  }
  if (!placed) AppendLabel(name, value, &encoded);
  return Labels::FromEncoded(encoded);
}

size_t StepsOfNames(const Labels& labels, size_t names) {
  constexpr size_t kBytesOfALabel = 4;  // at least
  constexpr size_t kComparisonsPerStep = 8;
  return 1 + (labels.encoded().size() / kBytesOfALabel + 1) * names / kComparisonsPerStep;
}

void ChooseLabels(const Labels& labels, const LabelChoice& choice, std::string* key) {
  key->clear();
  for (const auto& [name, value] : labels) {
    const bool named =
        std::find(choice.names.begin(), choice.names.end(), name) != choice.names.end();
    if (named == choice.without) continue;
    if (choice.without && name == "__name__") continue;
    AppendLabel(name, value, key);
  }
}

}  // namespace flyball::promql
