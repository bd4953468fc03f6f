// The path of a number in a JSON or YAML document: `queue.stats.0.depth`, `jobs.#`.
//
// Pure.
//
// Source:  the plain part of gjson 1.18's paths: names and list indices between dots, `\` before a
//          character that is meant literally, `#` at the end for a list's length. Of a repeated key
//          the first counts. Parse refuses wildcards, queries, modifiers, pipes and JSON lines.
// Differs: a document that is not valid is refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// The value at the path.
struct FoundValue {
  Node::Kind kind = Node::Kind::kNull;
  std::string text;   // if it is a number or a string
  size_t length = 0;  // if it is a list
};

class ValuePath {
 public:
  // kInvalidArgument: the text is empty, or has a part of gjson's grammar that is not supported.
  static absl::StatusOr<ValuePath> Parse(absl::string_view text);

  // Reads a number, or a string that is a Kubernetes quantity with a digit (`1500m` is 1.5). A
  // quantity beyond the largest double is infinite.
  //   kNotFound            there is no value at the path
  //   kFailedPrecondition  the value is neither
  absl::StatusOr<double> Read(const Node& document) const;
  // Does the same for a JSON text, of which only the value at the path is kept in memory.
  //   kInvalidArgument     it is not JSON, or has a number beyond the largest double
  absl::StatusOr<double> ReadJson(absl::string_view text) const;

 private:
  absl::StatusOr<double> NumberOf(const std::optional<FoundValue>& found) const;

  std::string text_;
  std::vector<std::string> steps_;
  bool length_ = false;  // the path ends in `#`: the length of the list at the steps is the number
};

}  // namespace flyball::scaler
