#include "kube/objects/list_splitter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace flyball::kube {

absl::Status ListSplitter::Feed(absl::string_view piece,
                                absl::FunctionRef<void(absl::string_view)> on_object) {
  size_t at = 0;
  while (at < piece.size()) {
    if (!in_item_) {
      FollowRest(piece[at]);
      if (!in_item_) ++at;
      continue;
    }
    absl::string_view item = piece.substr(at, FollowItem(piece.substr(at)));
    at += item.size();
    const bool whole = !in_item_;
    if (!whole || !item_.empty()) {
      item_.append(item.data(), item.size());
      item = item_;
    }
    if (item.size() > max_bytes_) break;
    if (!whole) continue;
    if (item.back() != '}') return absl::InvalidArgumentError("the list's brackets do not match");
    on_object(item);
    item_.clear();
  }
  if (std::max(item_.size(), rest_.size()) <= max_bytes_ && at == piece.size()) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("the list has an object larger than ", max_bytes_, " bytes"));
}

// Its state is kept in locals: each byte of a cluster's pods goes through here.
size_t ListSplitter::FollowItem(absl::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  int depth = depth_;
  bool in_string = in_string_, escaped = escaped_;
  while (at < end) {
    if (escaped) {
      escaped = false;
      ++at;
      continue;
    }
    if (in_string) {
      while (at < end && *at != '"' && *at != '\\') ++at;
      if (at == end) break;
      escaped = *at == '\\';
      in_string = escaped;
      ++at;
      continue;
    }
    const char c = *at++;
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      in_item_ = false;
      in_items_ = true;
      depth = 2;
      break;
    }
  }
  depth_ = depth;
  in_string_ = in_string;
  escaped_ = escaped;
  return static_cast<size_t>(at - text.data());
}

// An item's first bracket is left to FollowItem.
void ListSplitter::FollowRest(char c) {
  if (in_items_ && !in_string_) {
    if (c == ',' || absl::ascii_isspace(c)) return;
    if (c == '{') {
      in_items_ = false;
      in_item_ = true;
      depth_ = 0;
      return;
    }
    in_items_ = false;  // the end; or what is no object, which the reader of the rest refuses
  }
  rest_.push_back(c);
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    last_string_.push_back(c);
  } else if (c == '"') {
    in_string_ = true;
    last_string_.clear();
  } else if (c == '{' || c == '[') {
    ++depth_;
    in_items_ = c == '[' && depth_ == 2 && last_string_ == "items";
  } else if (c == '}' || c == ']') {
    --depth_;
  }
}

}  // namespace flyball::kube
