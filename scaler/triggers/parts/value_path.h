// Where in a JSON or YAML document a number stands: `queue.stats.0.depth`, `jobs.#`.
//
// Pure.
//
// Source:  the plain part of gjson 1.18's paths: names and list indices between dots, `\` before a
//          character that is meant literally, `#` at the end for a list's length. Of a repeated key
//          the first counts. Parse refuses wildcards, queries, modifiers, pipes and JSON lines.
// Differs: the document has to be valid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// What stands at the path.
struct FoundValue {
  Node::Kind kind = Node::Kind::kNull;
  std::string text;   // of a number or a string
  size_t length = 0;  // of a list
};

class ValuePath {
 public:
  // kInvalidArgument: empty, or beyond what is said above.
  static absl::StatusOr<ValuePath> Parse(absl::string_view text);

  // Reads a number, or a string that is a Kubernetes quantity with a digit (`1500m` is 1.5). A
  // quantity beyond the largest double is infinite.
  //   kNotFound            nothing stands there
  //   kFailedPrecondition  something stands there that is neither
  absl::StatusOr<double> Read(const Node& document) const;
  // The same of a JSON text, of which only the value at the path is held in memory.
  //   kInvalidArgument     it is not JSON, or holds a number beyond all doubles
  absl::StatusOr<double> ReadJson(absl::string_view text) const;

 private:
  absl::StatusOr<double> NumberOf(const std::optional<FoundValue>& found) const;

  std::string text_;
  std::vector<std::string> steps_;
  bool length_ = false;  // the length of the list at the end of the steps is wanted, not its value
};

}  // namespace flyball::scaler
