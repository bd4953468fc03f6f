// A document as a value of the library nlohmann/json.
//
// Pure. `Json` is nlohmann::json, or nlohmann::ordered_json, which keeps the order of members.
#pragma once

#include "scaler/spec/document.h"

namespace flyball::scaler {

template <typename Json>
Json JsonOf(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return nullptr;
    case Node::Kind::kBool: return node.boolean;
    case Node::Kind::kNumber: return Json::parse(node.text, nullptr, false);
    case Node::Kind::kString: return node.text;
    case Node::Kind::kList: {
      Json out = Json::array();
      for (const Node& item : node.items) out.push_back(JsonOf<Json>(item));
      return out;
    }
    case Node::Kind::kMap: {
      Json out = Json::object();
      for (const Member& member : node.members) out[member.key] = JsonOf<Json>(member.value);
      return out;
    }
  }
  return nullptr;
}

}  // namespace flyball::scaler
