// Makes a struct from an object of a document, as Go's decoders do.
//
// Pure. A function says which member of the object goes into which field of the struct. Its
// arguments are a MemberDecoder, by which it names the fields, and the struct:
//
//   constexpr auto kPolicyFields = [](auto& field, HpaPolicy& to) {
//     field("type", to.type);                     // of one of the types that Decoder::Value takes
//     field("target", to.target, kTargetFields);  // an object, or a list of them: their own fields
//   };
//   absl::Status status = Decode(node, KeyMatch::kExact, policy, kPolicyFields);
//
// The function is called once for each member of the object, so that a variable in it does not last
// from one member to the next.
//
// Source: sigs.k8s.io/json (fields by exact name) and, for the JSON that v1 annotations carry,
// encoding/json (names without regard to case): unknown fields are ignored, null leaves a field
// alone or empties it, repeated keys merge, integers take no fraction and no exponent, a quantity
// is read from the bytes between the quotes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "kube/objects/quantity.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

enum class KeyMatch { kExact, kIgnoreCase };

// Writes values over those of earlier members of the same name. Errors are those of Decode.
class Decoder {
 public:
  explicit Decoder(KeyMatch match) : match_(match) {}

  static absl::Status Value(const Node& from, const std::string& path, std::string& to);
  static absl::Status Value(const Node& from, const std::string& path, bool& to);
  static absl::Status Value(const Node& from, const std::string& path, int32_t& to);
  static absl::Status Value(const Node& from, const std::string& path, int64_t& to);
  static absl::Status Value(const Node& from, const std::string& path, kube::Quantity& to);
  // A time in RFC 3339 as Go accepts it. Absent: Go accepts the text, but absl::ParseTime does not.
  static absl::Status Value(const Node& from, const std::string& path,
                            std::optional<absl::Time>& to);
  static absl::Status Value(const Node& from, const std::string& path,
                            std::map<std::string, std::string>& to);
  static absl::Status Value(const Node& from, const std::string& path, Node& to);  // anything

  template <typename T, typename... Fields>
  absl::Status Value(const Node& from, const std::string& path, std::optional<T>& to,
                     const Fields&... fields) const {
    if (!to.has_value()) to.emplace();
    return Value(from, path, *to, fields...);
  }

  template <typename T, typename... Fields>
  absl::Status Value(const Node& from, const std::string& path, std::vector<T>& to,
                     const Fields&... fields) const {
    if (!from.is_list()) return Mismatch(from, path, "a list");
    to.resize(from.items.size());
    for (size_t i = 0; i < to.size(); ++i) {
      if (from.items[i].is_null()) continue;
      RETURN_IF_ERROR(Value(from.items[i], absl::StrCat(path, "[", i, "]"), to[i], fields...));
    }
    return absl::OkStatus();
  }

  template <typename Struct, typename... Fields>
  absl::Status Value(const Node& from, const std::string& path, Struct& to,
                     const Fields&... fields) const;

 private:
  static absl::Status Mismatch(const Node& node, absl::string_view path,
                               absl::string_view expected);

  const KeyMatch match_;
};

// Passes one member to the field of its name; the functions of fields are called with it.
class MemberDecoder {
 public:
  MemberDecoder(const Decoder& decoder, const Member& member, const std::string& path,
                KeyMatch match)
      : decoder_(decoder), member_(member), path_(path), match_(match) {}

  // `to` may be the struct itself if the members of an inner object belong to it.
  template <typename T, typename... Fields>
  void operator()(absl::string_view name, T& to, const Fields&... fields) {
    if (taken_ || !Fits(name)) return;
    taken_ = true;
    if (member_.value.is_null()) return Empty(to);
    status_ = decoder_.Value(member_.value, PathOf(name), to, fields...);
  }

  // A pointer in Go, whose default is `absent`: null sets it. `to` must have the default
  // beforehand, since an absent field changes nothing.
  template <typename T>
  void OrElse(absl::string_view name, T& to, T absent) {
    std::optional<T> value = to;
    (*this)(name, value);
    to = value.value_or(absent);
  }

  // A field that must have type T; only whether it is present is kept.
  template <typename T>
  void Presence(absl::string_view name, bool& to) {
    const bool taken = taken_;
    Check<T>(name);
    if (taken_ && !taken) to = !member_.value.is_null();
  }

  // A field that must have type T and is not kept.
  template <typename T>
  void Check(absl::string_view name) {
    T ignored{};
    (*this)(name, ignored);
  }

  bool taken() const { return taken_; }
  const absl::Status& status() const { return status_; }

 private:
  bool Fits(absl::string_view name) const;
  std::string PathOf(absl::string_view name) const;

  // null empties pointers, lists, maps, quantities and times, as in Go; other fields ignore it.
  template <typename T>
  static void Empty(std::optional<T>& to) {
    to.reset();
  }
  template <typename T>
  static void Empty(std::vector<T>& to) {
    to.clear();
  }
  static void Empty(std::map<std::string, std::string>& to) { to.clear(); }
  static void Empty(kube::Quantity& to) { to = {}; }
  template <typename T>
  static void Empty(T&) {}

  const Decoder& decoder_;
  const Member& member_;
  const std::string& path_;
  const KeyMatch match_;
  bool taken_ = false;
  absl::Status status_;
};

template <typename Struct, typename... Fields>
absl::Status Decoder::Value(const Node& from, const std::string& path, Struct& to,
                            const Fields&... fields) const {
  static_assert(sizeof...(Fields) == 1, "of a struct it must be said which fields it has");
  if (!from.is_map()) return Mismatch(from, path, "an object");
  for (const Member& member : from.members) {
    // A field of exactly that name has precedence over one that differs in case.
    for (const KeyMatch match : {KeyMatch::kExact, match_}) {
      MemberDecoder field(*this, member, path, match);
      (fields(field, to), ...);
      RETURN_IF_ERROR(field.status());
      if (field.taken() || match == match_) break;
    }
  }
  return absl::OkStatus();
}

// kInvalidArgument "PATH: expected …, got …", with "line N: " before it where known. `path` is
// what the message calls the root: "" for a whole object.
template <typename T, typename Fields>
absl::Status Decode(const Node& from, KeyMatch match, T& to, const Fields& fields,
                    absl::string_view path = "") {
  return Decoder(match).Value(from, std::string(path), to, fields);
}

// Whether Go's time.Parse accepts the text as RFC 3339.
bool IsRfc3339(absl::string_view text);

}  // namespace flyball::scaler
