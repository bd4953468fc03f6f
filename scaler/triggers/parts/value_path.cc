#include "scaler/triggers/parts/value_path.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/quantity.h"

namespace flyball::scaler {
namespace {

// nullopt: the step is no index.
std::optional<size_t> IndexOf(const std::string& step) {
  size_t index = 0;
  const bool digits = !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
  return digits && absl::SimpleAtoi(step, &index) ? std::optional(index) : std::nullopt;
}

// Finds one value of a document that it gets piece by piece, so that the rest of a JSON text is
// never in memory. If a key is repeated the first counts, even if the path ends there too early.
class PathFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Names of members or indices of lists, from the outside in. They outlive the finder.
  explicit PathFinder(const std::vector<std::string>& steps) : steps_(steps) {}

  // Reads a document that is in memory.
  void Read(const Node& node) {
    if (!node.is_list() && !node.is_map()) return (void)Scalar(node.kind, node.text);
    Begin(node.kind);
    for (const Node& item : node.items) Read(item);
    for (const Member& member : node.members) {
      Key(member.key);
      Read(member.value);
    }
    End();
  }

  // nullopt: there is no value at the path.
  const std::optional<FoundValue>& found() const { return found_; }

  // The events of a JSON text, which the library calls.
  bool null() override { return Scalar(Node::Kind::kNull, ""); }
  bool boolean(bool) override { return Scalar(Node::Kind::kBool, ""); }
  bool number_integer(int64_t value) override {
    return Scalar(Node::Kind::kNumber, absl::StrCat(value));
  }
  bool number_unsigned(uint64_t value) override {
    return Scalar(Node::Kind::kNumber, absl::StrCat(value));
  }
  bool number_float(double, const std::string& text) override {
    return Scalar(Node::Kind::kNumber, text);
  }
  bool string(std::string& text) override { return Scalar(Node::Kind::kString, text); }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // does not occur in JSON
  bool start_object(size_t) override { return Begin(Node::Kind::kMap); }
  bool start_array(size_t) override { return Begin(Node::Kind::kList); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }
  bool key(std::string& key) override { return Key(key); }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  // Each takes the next piece. They return true, which tells the library to go on.
  bool Key(absl::string_view key);
  bool Begin(Node::Kind list_or_map);
  bool End();
  bool Scalar(Node::Kind kind, absl::string_view text);
  // Must be called once for each value, when it begins. Returns whether the value is on the path.
  bool IsOnPath();

  const std::vector<std::string>& steps_;
  size_t depth_ = 0;    // number of open lists and maps
  size_t on_path_ = 0;  // how many of these are on the path; they are the outermost ones
  // About the innermost list or map on the path:
  bool is_list_ = false;
  std::optional<size_t> wanted_;  // the index of the path
  size_t index_ = 0;              // of the next item
  bool key_fits_ = false;         // whether the key of the next member is the one of the path
  bool left_ = false;   // a value on the path has ended, so that no other one can be on it
  size_t counted_ = 0;  // the depth inside the list that was found, while it is open
  std::optional<FoundValue> found_;
};

bool PathFinder::IsOnPath() {
  if (counted_ != 0 && counted_ == depth_) ++found_->length;
  if (found_.has_value() || left_ || on_path_ != depth_) return false;
  if (depth_ == 0) return true;
  return is_list_ ? wanted_ == index_++ : key_fits_;
}

bool PathFinder::Key(absl::string_view key) {
  if (on_path_ == depth_ && depth_ > 0) key_fits_ = key == steps_[depth_ - 1];
  return true;
}

bool PathFinder::Begin(Node::Kind list_or_map) {
  const bool on_path = IsOnPath();
  ++depth_;
  if (!on_path) return true;
  if (on_path_ == steps_.size()) {
    found_ = FoundValue{.kind = list_or_map, .text = "", .length = 0};
    counted_ = depth_;
    return true;
  }
  on_path_ = depth_;
  is_list_ = list_or_map == Node::Kind::kList;
  // Not for each item: a step may be as long as an Autoscaler, and the list as long as an answer.
  if (is_list_) wanted_ = IndexOf(steps_[depth_ - 1]);
  index_ = 0;
  key_fits_ = false;
  return true;
}

bool PathFinder::End() {
  if (counted_ == depth_) counted_ = 0;
  if (on_path_ == depth_) left_ = true;
  --depth_;
  return true;
}

bool PathFinder::Scalar(Node::Kind kind, absl::string_view text) {
  if (!IsOnPath()) return true;
  left_ = true;
  if (on_path_ == steps_.size()) {
    found_ = FoundValue{.kind = kind, .text = std::string(text), .length = 0};
  }
  return true;
}

absl::StatusOr<double> ToNumber(const FoundValue& node, absl::string_view path) {
  double number = 0;
  if (node.kind == Node::Kind::kNumber && absl::SimpleAtod(node.text, &number) &&
      std::isfinite(number)) {
    return number;
  }
  if (node.kind == Node::Kind::kString) {
    // A quantity's grammar takes `m` and `+` as 0, but nobody who writes them means a number.
    const bool has_digit = node.text.find_first_of("0123456789") != std::string::npos;
    const absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(node.text);
    if (has_digit && quantity.ok()) return quantity->ToDouble();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("expected a number or a quantity at ", path, ", found ",
                   node.kind == Node::Kind::kString ? "another string" : KindName(node.kind)));
}

}  // namespace

absl::StatusOr<ValuePath> ValuePath::Parse(absl::string_view text) {
  ValuePath out;
  out.text_ = std::string(text);
  const auto refuse = [](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(
        why, "; expected names and list indices between dots, and `#` at the end if at all"));
  };
  if (text.empty()) return refuse("is empty");
  if (absl::StartsWith(text, "..")) return refuse("JSON lines are not read");
  std::string step;
  bool escaped = false;  // the step has an escaped character, so that `#` is a name
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '.') {
      if (step == "#" && !escaped) {
        if (i != text.size()) return refuse("`#` is not at the end");
        out.length_ = true;
      } else {
        out.steps_.push_back(step);
      }
      step.clear();
      escaped = false;
      continue;
    }
    if (text[i] == '\\') {
      if (++i == text.size()) return refuse("ends with `\\`");
      escaped = true;
    } else if (absl::StrContains("*?|", text.substr(i, 1)) ||
               (step.empty() && absl::StrContains("@!{[", text.substr(i, 1))) ||
               (text[i] == '(' && step == "#")) {
      return refuse(absl::StrCat("`", text.substr(i, 1), "` has a meaning that is not supported"));
    }
    step += text[i];
  }
  return out;
}

absl::StatusOr<double> ValuePath::Read(const Node& document) const {
  PathFinder finder(steps_);
  finder.Read(document);
  return NumberOf(finder.found());
}

absl::StatusOr<double> ValuePath::ReadJson(absl::string_view text) const {
  PathFinder finder(steps_);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &finder)) {
    return absl::InvalidArgumentError("the text is not JSON");
  }
  return NumberOf(finder.found());
}

absl::StatusOr<double> ValuePath::NumberOf(const std::optional<FoundValue>& found) const {
  if (!found.has_value()) return absl::NotFoundError(absl::StrCat("nothing at ", text_));
  if (!length_) return ToNumber(*found, text_);
  if (found->kind == Node::Kind::kList) return static_cast<double>(found->length);
  return absl::FailedPreconditionError(
      absl::StrCat("expected a list before `#` of ", text_, ", found ", KindName(found->kind)));
}

}  // namespace flyball::scaler
