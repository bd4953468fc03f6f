// The labels that identify a series, in two forms with the same order and meaning: `Labels`, shared
// and compact, for code that holds many series; `LabelSet`, a plain vector, for code that makes or
// reads a few.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::promql {

// Name and value of each label, sorted by name, none of them empty; `__name__` among them.
using LabelSet = std::vector<std::pair<std::string, std::string>>;

// The value of a label; "" where it is absent, as in Prometheus.
inline absl::string_view LabelValue(const LabelSet& labels, absl::string_view name) {
  const auto at = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  return at == labels.end() || at->first != name ? "" : absl::string_view(at->second);
}

// One label; the texts belong to the labels it was read from.
using Label = std::pair<absl::string_view, absl::string_view>;

// An immutable label set in one allocation that all copies share: a pointer wide, a header of 16
// bytes, and two bytes for each label beyond its texts. Copies may be made and dropped on any
// thread.
class Labels {
 public:
  class Iterator;

  Labels() = default;
  // Sorted by name, each name once, no empty value.
  explicit Labels(const LabelSet& labels);
  // Takes the bytes of AppendLabel calls, in the order of names, each name once, no empty value.
  // Throws std::length_error beyond 4 GiB.
  static Labels FromEncoded(absl::string_view encoded);

  Labels(const Labels& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Labels(Labels&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Labels& operator=(Labels other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Labels() {
    if (shared_ != nullptr && shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }

  bool empty() const { return shared_ == nullptr; }
  Iterator begin() const;
  Iterator end() const;
  // The value of a label; "" where it is absent.
  absl::string_view Get(absl::string_view name) const;
  LabelSet ToLabelSet() const;

  // All labels as AppendLabel writes them: equal for equal labels only.
  absl::string_view encoded() const {
    if (shared_ == nullptr) return {};
    return {reinterpret_cast<const char*>(shared_ + 1), shared_->size};
  }
  // The memory of this copy beyond its pointer; 0 while others share it.
  size_t bytes_alone() const {
    if (shared_ == nullptr || shared_->owners.load(std::memory_order_relaxed) > 1) return 0;
    return sizeof(Shared) + shared_->size;
  }
  // Computed when the labels were made. Not the same in another process.
  size_t hash() const { return shared_ == nullptr ? HashOfEncoded({}) : shared_->hash; }
  static size_t HashOfEncoded(absl::string_view encoded);

  friend bool operator==(const Labels& a, const Labels& b) {
    if (a.shared_ == b.shared_) return true;
    return a.hash() == b.hash() && a.encoded() == b.encoded();
  }
  // Compares label by label, name before value; a text comes before its longer continuations.
  friend std::strong_ordering operator<=>(const Labels& a, const Labels& b);
  template <typename H>
  friend H AbslHashValue(H state, const Labels& labels) {
    return H::combine(std::move(state), labels.hash());
  }

 private:
  struct Shared {  // the encoded labels follow it
    std::atomic<uint32_t> owners;
    uint32_t size;
    size_t hash;
  };

  void Free();

  Shared* shared_ = nullptr;  // null: no label
};

// Appends one label in the form of Labels::encoded: each text with its length in front, a byte, or
// 255 and four bytes. Throws std::length_error at a text of more than 4 GiB.
void AppendLabel(absl::string_view name, absl::string_view value, std::string* encoded);

// Reads labels one after the other; they must outlive it.
class Labels::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Label;
  using difference_type = std::ptrdiff_t;
  using pointer = const Label*;
  using reference = const Label&;

  Iterator(const char* at, const char* end) : next_(at), end_(end) { ++*this; }

  const Label& operator*() const { return label_; }
  const Label* operator->() const { return &label_; }
  Iterator& operator++() {
    at_ = next_;
    if (at_ != end_) {
      label_.first = ReadText();
      label_.second = ReadText();
    }
    return *this;
  }
  bool operator==(const Iterator& other) const { return at_ == other.at_; }

 private:
  absl::string_view ReadText();

  const char* at_ = nullptr;
  const char* next_;
  const char* end_;
  Label label_;
};

// Makes Labels from labels in any order. The texts are borrowed until Build.
class LabelsBuilder {
 public:
  LabelsBuilder() = default;
  explicit LabelsBuilder(const Labels& base) : labels_(base.begin(), base.end()) {}

  void Clear() { labels_.clear(); }
  // Adds another label, even if the name exists.
  void Add(absl::string_view name, absl::string_view value) { labels_.emplace_back(name, value); }
  // Sets the only label of this name; an empty value drops it.
  void Set(absl::string_view name, absl::string_view value);
  // Sorts and drops empty values. False if a name then occurs twice; `twice` is that name.
  bool Build(Labels* labels, absl::string_view* twice);
  // For callers whose names cannot occur twice.
  Labels Build();

 private:
  std::vector<Label> labels_;
  std::string encoded_;
};

}  // namespace flyball::promql
