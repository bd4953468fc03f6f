// Finds one value of a document that is handed over piece by piece, so that the rest of the
// document is never held.
//
// Not thread-safe. Of a repeated key the first counts, also where it does not lead further.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// What stands at the path.
struct FoundValue {
  Node::Kind kind = Node::Kind::kNull;
  std::string text;   // of a number or a string
  size_t length = 0;  // of a list
};

class PathFinder {
 public:
  // Names of members or indices of lists, from the outside in. They outlive the finder.
  explicit PathFinder(const std::vector<std::string>& steps) : steps_(steps) {}

  // The pieces of the document, in its order. A key comes before its value.
  void Key(absl::string_view key);
  void Begin(Node::Kind list_or_map);
  void End();
  void Scalar(Node::Kind kind, absl::string_view text);

  // nullopt: nothing stands there.
  const std::optional<FoundValue>& found() const { return found_; }

 private:
  // To be called when a value begins. Returns whether it lies on the path.
  bool Take();

  const std::vector<std::string>& steps_;
  size_t depth_ = 0;    // open lists and maps
  size_t on_path_ = 0;  // how many of these lie on the path, which are the outermost
  // Of the innermost list or map that lies on the path:
  bool is_list_ = false;
  size_t index_ = 0;       // of the next item
  bool key_fits_ = false;  // whether the key of the next member is the one of the path
  bool left_ = false;      // the value that the path goes through is over
  size_t counted_ = 0;     // the depth inside the list that was found, while it is open
  std::optional<FoundValue> found_;
};

}  // namespace flyball::scaler
