#include "scaler/triggers/parts/path_finder.h"

#include "absl/strings/numbers.h"

namespace flyball::scaler {
namespace {

bool IsIndex(const std::string& step, size_t index) {
  size_t wanted = 0;
  const bool digits = !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
  return digits && absl::SimpleAtoi(step, &wanted) && wanted == index;
}

}  // namespace

bool PathFinder::Take() {
  if (counted_ != 0 && counted_ == depth_) ++found_->length;
  if (found_.has_value() || left_ || on_path_ != depth_) return false;
  if (depth_ == 0) return true;
  const bool fits = is_list_ ? IsIndex(steps_[depth_ - 1], index_++) : key_fits_;
  return fits;
}

void PathFinder::Key(absl::string_view key) {
  if (on_path_ == depth_ && depth_ > 0) key_fits_ = key == steps_[depth_ - 1];
}

void PathFinder::Begin(Node::Kind list_or_map) {
  const bool taken = Take();
  ++depth_;
  if (!taken) return;
  if (on_path_ == steps_.size()) {
    found_ = FoundValue{.kind = list_or_map, .text = "", .length = 0};
    counted_ = depth_;
    return;
  }
  on_path_ = depth_;
  is_list_ = list_or_map == Node::Kind::kList;
  index_ = 0;
  key_fits_ = false;
}

void PathFinder::End() {
  if (counted_ == depth_) counted_ = 0;
  // What lay on the path is over: nothing after it does.
  if (on_path_ == depth_) left_ = true;
  --depth_;
}

void PathFinder::Scalar(Node::Kind kind, absl::string_view text) {
  if (!Take()) return;
  left_ = true;
  if (on_path_ == steps_.size()) {
    found_ = FoundValue{.kind = kind, .text = std::string(text), .length = 0};
  }
}

}  // namespace flyball::scaler
