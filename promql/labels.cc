#include "promql/labels.h"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "absl/hash/hash.h"

namespace flyball::promql {
namespace {

constexpr unsigned char kLongText = 255;  // the four bytes that follow are the length
constexpr size_t kMaxEncodedBytes = std::numeric_limits<uint32_t>::max();

// Lengths have four bytes. Longer texts are refused long before this; a truncated length would lead
// to reads beyond the text.
uint32_t CheckedSize(size_t size) {
  if (size > kMaxEncodedBytes) throw std::length_error("labels of more than 4 GiB");
  return static_cast<uint32_t>(size);
}

void AppendText(absl::string_view text, std::string* encoded) {
  if (text.size() < kLongText) {
    encoded->push_back(static_cast<char>(text.size()));
  } else {
    encoded->push_back(static_cast<char>(kLongText));
    const uint32_t size = CheckedSize(text.size());
    encoded->append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  encoded->append(text.data(), text.size());
}

// The text that begins there; `next` is then behind it.
absl::string_view TextAt(const char*& next) {
  uint32_t size = static_cast<unsigned char>(*next++);
  if (size == kLongText) {
    std::memcpy(&size, next, sizeof size);
    next += sizeof size;
  }
  const absl::string_view text(next, size);
  next += size;
  return text;
}

// How many bytes both begin with.
size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    if (std::memcmp(a.data() + at, b.data() + at, sizeof(uint64_t)) != 0) break;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

void AppendLabel(absl::string_view name, absl::string_view value, std::string* encoded) {
  AppendText(name, encoded);
  AppendText(value, encoded);
}

Labels::Labels(const LabelSet& labels) {
  std::string encoded;
  for (const auto& [name, value] : labels) AppendLabel(name, value, &encoded);
  *this = FromEncoded(encoded);
}

Labels Labels::FromEncoded(absl::string_view encoded) {
  Labels labels;
  if (encoded.empty()) return labels;
  const uint32_t size = CheckedSize(encoded.size());
  void* const memory = ::operator new(sizeof(Shared) + size);
  labels.shared_ = new (memory) Shared{1, size, HashOfEncoded(encoded)};
  std::memcpy(reinterpret_cast<char*>(labels.shared_ + 1), encoded.data(), encoded.size());
  return labels;
}

void Labels::Free() {
  shared_->~Shared();
  ::operator delete(shared_);
}

size_t Labels::HashOfEncoded(absl::string_view encoded) { return absl::HashOf(encoded); }

absl::string_view Labels::Iterator::ReadText() { return TextAt(next_); }

Labels::Iterator Labels::begin() const {
  const absl::string_view all = encoded();
  return {all.data(), all.data() + all.size()};
}

Labels::Iterator Labels::end() const {
  const absl::string_view all = encoded();
  return {all.data() + all.size(), all.data() + all.size()};
}

absl::string_view Labels::Get(absl::string_view name) const {
  for (const Label& label : *this) {
    if (label.first == name) return label.second;
  }
  return {};
}

LabelSet Labels::ToLabelSet() const {
  LabelSet labels;
  for (const auto& [name, value] : *this) labels.emplace_back(name, value);
  return labels;
}

// Labels that are compared mostly begin alike, as series of one metric do: their texts are compared
// from the one with the first byte that differs.
std::strong_ordering operator<=>(const Labels& a, const Labels& b) {
  if (a.shared_ == b.shared_) return std::strong_ordering::equal;
  const absl::string_view all_a = a.encoded(), all_b = b.encoded();
  const size_t same = CommonPrefix(all_a, all_b);
  if (same == all_a.size() || same == all_b.size()) return all_a.size() <=> all_b.size();
  const char* const differs = all_a.data() + same;
  const char* next_a = all_a.data();
  const char* next_b = all_b.data();
  while (true) {
    const absl::string_view text_a = TextAt(next_a);
    const absl::string_view text_b = TextAt(next_b);
    if (next_a > differs) return text_a.compare(text_b) <=> 0;
  }
}

void LabelsBuilder::Set(absl::string_view name, absl::string_view value) {
  for (Label& label : labels_) {
    if (label.first != name) continue;
    label.second = value;  // Build drops an empty one
    return;
  }
  Add(name, value);
}

bool LabelsBuilder::Build(Labels* labels, absl::string_view* twice) {
  std::sort(labels_.begin(), labels_.end());
  encoded_.clear();
  absl::string_view before;
  for (const auto& [name, value] : labels_) {
    if (value.empty()) continue;
    if (!encoded_.empty() && name == before) {
      *twice = name;
      return false;
    }
    before = name;
    AppendLabel(name, value, &encoded_);
  }
  *labels = Labels::FromEncoded(encoded_);
  return true;
}

Labels LabelsBuilder::Build() {
  Labels labels;
  absl::string_view twice;
  Build(&labels, &twice);
  return labels;
}

}  // namespace flyball::promql
