// Walks the fields of simdjson's on-demand values; shared by the readers of API objects.
//
// Pure. Only .cc files include it: the library's header is large. null counts as absent, as it does
// for Go's JSON decoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"
#include "simdjson.h"

namespace flyball::kube {

// Parses one text after the other, in buffers that it keeps. Not thread-safe.
class JsonParser {
 public:
  // Calls on_root(value) with the root of `text`.
  template <typename F>
  simdjson::error_code Read(absl::string_view text, F on_root) {
    text_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    text_.assign(text.data(), text.size());
    return ReadInPlace(text_, on_root);
  }
  // The text's capacity may grow: the parser needs room behind it.
  template <typename F>
  simdjson::error_code ReadInPlace(std::string& text, F on_root) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    auto error = parser_.iterate(text.data(), text.size(), text.capacity()).get(document);
    if (!error) error = document.get_value().get(root);
    return error ? error : on_root(root);
  }

 private:
  simdjson::ondemand::parser parser_;
  std::string text_;
};

// Calls on_field(key, value) for each field of a document's root; stops at the first error of its
// or the document's.
template <typename F>
simdjson::error_code ForEachRootField(simdjson::ondemand::value value, F on_field) {
  simdjson::ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value inner;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = field.value().get(inner)) return error;
    if (const auto error = on_field(key, inner)) return error;
  }
  return simdjson::SUCCESS;
}

// The same for any value below the root.
template <typename F>
simdjson::error_code ForEachField(simdjson::ondemand::value value, F on_field) {
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  return null ? simdjson::SUCCESS : ForEachRootField(value, on_field);
}

// Calls on_item(value) for each item; stops as ForEachField does.
template <typename F>
simdjson::error_code ForEachItem(simdjson::ondemand::value value, F on_item) {
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  if (null) return simdjson::SUCCESS;
  simdjson::ondemand::array items;
  if (const auto error = value.get_array().get(items)) return error;
  for (auto item : items) {
    simdjson::ondemand::value inner;
    if (const auto error = item.get(inner)) return error;
    if (const auto error = on_item(inner)) return error;
  }
  return simdjson::SUCCESS;
}

inline simdjson::error_code ReadText(simdjson::ondemand::value value, std::string* out) {
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  if (null) return simdjson::SUCCESS;
  std::string_view text;
  if (const auto error = value.get_string().get(text)) return error;
  out->assign(text);
  return simdjson::SUCCESS;
}

inline simdjson::error_code ReadInt32(simdjson::ondemand::value value, int32_t* out) {
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  if (null) return simdjson::SUCCESS;
  int64_t number = 0;
  if (const auto error = value.get_int64().get(number)) return error;
  if (!std::in_range<int32_t>(number)) return simdjson::NUMBER_OUT_OF_RANGE;
  *out = static_cast<int32_t>(number);
  return simdjson::SUCCESS;
}

inline simdjson::error_code ReadTextMap(simdjson::ondemand::value value, Labels* out) {
  return ForEachField(value, [out](std::string_view key, simdjson::ondemand::value inner) {
    return ReadText(inner, &(*out)[std::string(key)]);
  });
}

}  // namespace flyball::kube
