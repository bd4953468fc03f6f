#include "promql/labels.h"

#include <cstring>
#include <new>

#include "absl/hash/hash.h"

namespace flyball::promql {
namespace {

constexpr unsigned char kLongText = 255;  // the four bytes that follow are the length

void AppendText(absl::string_view text, std::string* encoded) {
  if (text.size() < kLongText) {
    encoded->push_back(static_cast<char>(text.size()));
  } else {
    encoded->push_back(static_cast<char>(kLongText));
    const auto size = static_cast<uint32_t>(text.size());
    encoded->append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  encoded->append(text.data(), text.size());
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
  void* const memory = ::operator new(sizeof(Shared) + encoded.size());
  labels.shared_ =
      new (memory) Shared{1, static_cast<uint32_t>(encoded.size()), HashOfEncoded(encoded)};
  std::memcpy(reinterpret_cast<char*>(labels.shared_ + 1), encoded.data(), encoded.size());
  return labels;
}

void Labels::Free() {
  shared_->~Shared();
  ::operator delete(shared_);
}

size_t Labels::HashOfEncoded(absl::string_view encoded) { return absl::HashOf(encoded); }

Labels::Iterator Labels::begin() const {
  const absl::string_view all = encoded();
  return {all.data(), all.data() + all.size()};
}

Labels::Iterator Labels::end() const {
  const absl::string_view all = encoded();
  return {all.data() + all.size(), all.data() + all.size()};
}

absl::string_view Labels::Iterator::ReadText() {
  uint32_t size = static_cast<unsigned char>(*next_++);
  if (size == kLongText) {
    std::memcpy(&size, next_, sizeof size);
    next_ += sizeof size;
  }
  const absl::string_view text(next_, size);
  next_ += size;
  return text;
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

std::strong_ordering operator<=>(const Labels& a, const Labels& b) {
  if (a.shared_ == b.shared_) return std::strong_ordering::equal;
  auto at_a = a.begin(), at_b = b.begin();
  const auto end_a = a.end(), end_b = b.end();
  for (; at_a != end_a && at_b != end_b; ++at_a, ++at_b) {
    if (const int order = at_a->first.compare(at_b->first); order != 0) return order <=> 0;
    if (const int order = at_a->second.compare(at_b->second); order != 0) return order <=> 0;
  }
  return (at_a != end_a) <=> (at_b != end_b);
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
