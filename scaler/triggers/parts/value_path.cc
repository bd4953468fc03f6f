#include "scaler/triggers/parts/value_path.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/quantity.h"

namespace flyball::scaler {
namespace {

// What is known of a document that is there whole.
void Tell(const Node& node, PathFinder& finder) {
  if (!node.is_list() && !node.is_map()) return finder.Scalar(node.kind, node.text);
  finder.Begin(node.kind);
  for (const Node& item : node.items) Tell(item, finder);
  for (const Member& member : node.members) {
    finder.Key(member.key);
    Tell(member.value, finder);
  }
  finder.End();
}

// Events of a JSON text. Called by the library, whose names these are.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonEvents(PathFinder& finder) : finder_(finder) {}

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
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not of JSON
  bool start_object(size_t) override { return Begin(Node::Kind::kMap); }
  bool start_array(size_t) override { return Begin(Node::Kind::kList); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }
  bool key(std::string& key) override {
    finder_.Key(key);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool Scalar(Node::Kind kind, absl::string_view text) {
    finder_.Scalar(kind, text);
    return true;
  }
  bool Begin(Node::Kind kind) {
    finder_.Begin(kind);
    return true;
  }
  bool End() {
    finder_.End();
    return true;
  }
  PathFinder& finder_;
};

absl::StatusOr<double> ToNumber(const FoundValue& node, absl::string_view path) {
  double number = 0;
  if (node.kind == Node::Kind::kNumber && absl::SimpleAtod(node.text, &number) &&
      std::isfinite(number)) {
    return number;
  }
  if (node.kind == Node::Kind::kString) {
    // The grammar lets `m` and `+` through as 0, which is no number that somebody wrote.
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
        why, "; what works is names and list indices between dots, and `#` at the end"));
  };
  if (text.empty()) return refuse("is empty");
  if (absl::StartsWith(text, "..")) return refuse("JSON lines are not read");
  std::string step;
  bool escaped = false;  // the step has an escaped character, so it is meant as it stands
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
      return refuse(absl::StrCat("`", text.substr(i, 1), "` has a meaning that is left out here"));
    }
    step += text[i];
  }
  return out;
}

absl::StatusOr<double> ValuePath::Read(const Node& document) const {
  PathFinder finder(steps_);
  Tell(document, finder);
  return NumberOf(finder.found());
}

absl::StatusOr<double> ValuePath::ReadJson(absl::string_view text) const {
  PathFinder finder(steps_);
  JsonEvents events(finder);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &events)) {
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
