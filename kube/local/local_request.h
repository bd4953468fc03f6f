// Parses requests to the API server of this process, and makes the documents of its answers.
//
// For this room and for test doubles only. Pure.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "http/client/transport.h"
#include "kube/local/local_object_store.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {

// The parts of a request's target. The path is left encoded: an encoded slash is no boundary.
struct LocalQuery {
  explicit LocalQuery(absl::string_view target);
  // "" if absent.
  std::string operator[](const std::string& key) const;

  std::string path;
  std::map<std::string, std::string> values;
};

// Whether PartialObjectMetadata is asked for.
bool WantsMetadata(const http::HttpCall& call);

// The object, or only its metadata.
nlohmann::json Shown(const nlohmann::json& object, bool metadata_only);

// One line of a watch.
std::string EventLine(absl::string_view type, const nlohmann::json& object);

http::HttpAnswer AsHttp(const LocalAnswer& answer);

// The APIGroupDiscoveryList of the core group, or of all the others.
nlohmann::json LocalDiscovery(const std::deque<LocalKind>& kinds, bool core);

}  // namespace flyball::kube
