#include "adapter/live/relabel/relabel.h"

#include <openssl/evp.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/letter_case.h"

namespace flyball::relabel {
namespace {

// The last eight bytes of the MD5, as a big-endian number.
uint64_t HashOf(const std::string& source) {
  unsigned char md5[EVP_MAX_MD_SIZE] = {};
  unsigned int size = 0;
  EVP_Digest(source.data(), source.size(), md5, &size, EVP_md5(), nullptr);
  uint64_t hash = 0;
  for (int i = 8; i < 16; ++i) hash = hash << 8 | md5[i];
  return hash;
}

}  // namespace

std::string Rule::SourceOf(const LabelEditor& labels) const {
  std::string source;
  for (size_t i = 0; i < text_.source_labels.size(); ++i) {
    absl::StrAppend(&source, i == 0 ? "" : text_.separator, labels.Get(text_.source_labels[i]));
  }
  return source;
}

void Rule::Replace(const std::string& source, LabelEditor& labels) const {
  const auto target = regex_.Expand(source, text_.target_label);
  if (!target || !IsLabelName(*target, text_.legacy_names)) return;
  labels.Set(*target, *regex_.Expand(source, text_.replacement));
}

void Rule::EditByName(LabelEditor& labels) const {
  for (auto& [name, value] : labels.Unsorted()) {
    const bool matches = regex_.Matches(name);
    if (action_ == Action::kLabelMap) {
      if (matches) labels.Set(*regex_.Expand(name, text_.replacement), std::move(value));
    } else if (matches == (action_ == Action::kLabelDrop)) {
      labels.Delete(name);
    }
  }
}

bool Rule::Apply(LabelEditor& labels) const {
  const std::string source = SourceOf(labels);
  switch (action_) {
    case Action::kKeep: return regex_.Matches(source);
    case Action::kDrop: return !regex_.Matches(source);
    case Action::kKeepEqual: return labels.Get(text_.target_label) == source;
    case Action::kDropEqual: return labels.Get(text_.target_label) != source;
    case Action::kReplace: Replace(source, labels); return true;
    case Action::kLowercase: labels.Set(text_.target_label, go::ToLower(source)); return true;
    case Action::kUppercase: labels.Set(text_.target_label, go::ToUpper(source)); return true;
    case Action::kHashMod:
      labels.Set(text_.target_label, absl::StrCat(HashOf(source) % text_.modulus));
      return true;
    case Action::kLabelMap:
    case Action::kLabelDrop:
    case Action::kLabelKeep: EditByName(labels); return true;
  }
  return true;
}

bool Apply(absl::Span<const Rule> rules, LabelEditor& labels) {
  for (const Rule& rule : rules) {
    if (!rule.Apply(labels)) return false;
  }
  return true;
}

}  // namespace flyball::relabel
