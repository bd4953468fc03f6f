// Splits a list of objects that arrives in pieces of any size into the text of each object, as soon
// as that is whole.
//
// Pure; not thread-safe. For lists that are too large for memory: only the incomplete object and
// the text around the items are kept. Only brackets and strings are followed; the readers of the
// objects and of the rest find other errors.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

class ListSplitter {
 public:
  // The limit of bytes for each object, and for the text around the items.
  explicit ListSplitter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Passes on each object that ends in this piece; its text lives until the call returns.
  // kResourceExhausted: the limit is exceeded. kInvalidArgument: an item ends like an array.
  absl::Status Feed(absl::string_view piece, absl::FunctionRef<void(absl::string_view)> on_object);

  // The list without its items, to be read as a page: {"kind":"PodList","items":[]}.
  std::string TakeRest() { return std::move(rest_); }

 private:
  // How many bytes of `text` belong to the item: all, or those up to its end.
  size_t FollowItem(absl::string_view text);
  void FollowRest(char c);

  const size_t max_bytes_;
  std::string rest_;
  std::string item_;         // begun in an earlier piece
  std::string last_string_;  // of the rest: a key, if a bracket follows
  int depth_ = 0;            // of brackets; within an item counted from the item
  bool in_items_ = false;    // between the brackets of the items, not in those of an item
  bool in_item_ = false;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace flyball::kube
