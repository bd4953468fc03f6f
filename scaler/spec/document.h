// A JSON or YAML document as the clients of Kubernetes read it: with JSON's types, in the written
// order, and with the line of every value.
//
// Pure. A Node lives only until a typed struct has been made from it. YAML becomes
// JSON as kubectl makes it (YAML 1.1: `yes` is true, 010 is 8, 1_000 is 1000; keys become strings).
//
// Differences from Go's decoders: invalid UTF-8 and lone surrogates are refused, where Go puts
// U+FFFD in their place.
// Limits: depth 100, and those of ParseLimits; beyond them kInvalidArgument. What YAML's aliases
// repeat counts as if it were written out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {

struct Member;

struct Node {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kMap };

  Kind kind = Kind::kNull;
  bool boolean = false;
  bool escaped = false;  // JSON writes the string with a backslash
  int32_t line = 0;      // 1-based; 0: not known
  std::string text;      // a string's value; a number as JSON writes it
  std::vector<Node> items;
  std::vector<Member> members;  // repeated keys are all kept

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_null() const { return kind == Kind::kNull; }

  // The last member of that name; nullptr when absent or when this is no map.
  const Node* Find(absl::string_view key) const;
  // The text of a string member; empty when absent or no string.
  absl::string_view FindText(absl::string_view key) const;
};

struct Member {
  std::string key;
  Node value;
};

// "null", "a bool", "a number", "a string", "a list", "an object": for messages.
absl::string_view KindName(Node::Kind kind);

// Whether `text` is a number as JSON writes it; `integer`: without fraction and exponent.
bool IsJsonNumber(absl::string_view text, bool integer = false);

inline constexpr int kMaxDocumentDepth = 100;

struct ParseLimits {
  size_t max_bytes = 64 << 20;  // limits the text, and separately what aliases repeat of it
  size_t max_nodes = 4'000'000;
};

// The line of the field at that path ("spec.metrics[0].resource.name"), or of the innermost object
// or list around it that the document has. 0: not known.
int LineOf(const Node& document, absl::string_view path);

// Every document of `text`: one when it is JSON (its first character is `{` or `[`), any number
// when it is YAML; documents that are null are left out.
//   kInvalidArgument  "line N, column M: what", or which limit the text exceeds
absl::StatusOr<std::vector<Node>> ParseDocuments(absl::string_view text,
                                                 const ParseLimits& limits = {});

// Puts an object whose metadata names no namespace into `default`, as kubectl does: files often
// leave it out. Returns whether there was none.
bool GiveNamespace(Node& object);

// The one object that `text` must be, of at most 100,000 nodes.
absl::StatusOr<Node> ParseOneObject(absl::string_view text);

// The parsers that ParseDocuments calls for text that is one JSON document, and for YAML.
absl::StatusOr<Node> ParseJson(absl::string_view text, const ParseLimits& limits = {});
absl::StatusOr<std::vector<Node>> ParseYamlDocuments(absl::string_view text,
                                                     const ParseLimits& limits);

}  // namespace flyball::scaler
