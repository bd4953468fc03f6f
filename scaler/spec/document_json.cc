#include <simdjson.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

// Walks a document once, in order, as simdjson's on-demand parser wants it.
class Reader {
 public:
  Reader(absl::string_view text, const ParseLimits& limits) : text_(text), limits_(limits) {}

  absl::StatusOr<Node> Read() {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(text_.data(), text_.size());
    begin_ = padded.data();
    simdjson::ondemand::document document;
    Node root;
    if (const auto error = parser.iterate(padded).get(document)) return Error(error);
    json_type type;
    if (const auto error = document.type().get(type)) return Error(error);
    if (type != json_type::object && type != json_type::array) {
      return absl::InvalidArgumentError("expected an object");
    }
    value top;
    if (const auto error = document.get_value().get(top)) return Error(error);
    if (const auto error = Fill(top, 0, root)) return Error(error);
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return Error(simdjson::TRAILING_CONTENT);
    }
    return root;
  }

 private:
  absl::Status Error(simdjson::error_code error) const {
    const char* what = error == simdjson::DEPTH_ERROR ? "nested too deeply"
                       : error == simdjson::CAPACITY  ? "too many values"
                                                      : simdjson::error_message(error);
    if (line_ == 0) return absl::InvalidArgumentError(absl::StrCat("not JSON: ", what));
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": not JSON: ", what));
  }

  // Values come in the order of the text, so each newline is counted only once.
  void MoveTo(const char* token) {
    const char* from = std::max(begin_ + counted_, begin_);
    if (token >= from && token <= begin_ + text_.size()) {
      newlines_ += static_cast<int32_t>(std::count(from, token, '\n'));
      counted_ = static_cast<size_t>(token - begin_);
    }
    line_ = newlines_ + 1;
  }

  simdjson::error_code Fill(value from, int depth, Node& to) {
    if (depth > kMaxDocumentDepth) return simdjson::DEPTH_ERROR;
    if (++nodes_ > limits_.max_nodes) return simdjson::CAPACITY;
    const std::string_view token = from.raw_json_token();
    MoveTo(token.data());
    to.line = line_;
    json_type type;
    if (const auto error = from.type().get(type)) return error;
    switch (type) {
      case json_type::object: return FillMap(from, depth, to);
      case json_type::array: return FillList(from, depth, to);
      case json_type::string: {
        std::string_view text;
        if (const auto error = from.get_string().get(text)) return error;
        to.kind = Node::Kind::kString;
        to.escaped = token.substr(0, token.rfind('"')).find('\\') != std::string_view::npos;
        to.text.assign(text.data(), text.size());
        return simdjson::SUCCESS;
      }
      case json_type::number: {
        const size_t end = token.find_last_not_of(" \t\r\n");
        to.kind = Node::Kind::kNumber;
        to.text.assign(token.substr(0, end + 1));
        // The parser hands over the token unchecked; a number that no C++ type holds is still one.
        return IsJsonNumber(to.text) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
      }
      case json_type::boolean: to.kind = Node::Kind::kBool; return from.get_bool().get(to.boolean);
      case json_type::null: {
        bool is_null = false;
        if (const auto error = from.is_null().get(is_null)) return error;
        return is_null ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
      }
    }
    return simdjson::TAPE_ERROR;
  }

  simdjson::error_code FillMap(value from, int depth, Node& to) {
    to.kind = Node::Kind::kMap;
    simdjson::ondemand::object object;
    if (const auto error = from.get_object().get(object)) return error;
    for (auto next : object) {
      simdjson::ondemand::field field;
      if (const auto error = std::move(next).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      to.members.push_back({std::string(key), Node{}});
      if (const auto error = Fill(field.value(), depth + 1, to.members.back().value)) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code FillList(value from, int depth, Node& to) {
    to.kind = Node::Kind::kList;
    simdjson::ondemand::array array;
    if (const auto error = from.get_array().get(array)) return error;
    for (auto next : array) {
      value item;
      if (const auto error = std::move(next).get(item)) return error;
      to.items.emplace_back();
      if (const auto error = Fill(item, depth + 1, to.items.back())) return error;
    }
    return simdjson::SUCCESS;
  }

  absl::string_view text_;
  const ParseLimits& limits_;
  const char* begin_ = nullptr;
  size_t counted_ = 0;
  int32_t newlines_ = 0;
  int32_t line_ = 0;
  size_t nodes_ = 0;
};

}  // namespace

absl::StatusOr<Node> ParseJson(absl::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is larger than ", limits.max_bytes, " bytes"));
  }
  return Reader(text, limits).Read();
}

}  // namespace flyball::scaler
