// OpenAPI documents of the served kinds, as the aggregator and `kubectl explain` read them.
//
// Pure: the schemas are small tables; the documents depend only on which groups are on.
#pragma once

#include <string>
#include <vector>

namespace flyball::apiservice {

struct GroupVersionName {
  std::string group;
  std::string version;
};

// swagger 2.0 of all of them.
std::string OpenApiV2Json(const std::vector<GroupVersionName>& served);

// OpenAPI 3.0 of one.
std::string OpenApiV3Json(const GroupVersionName& served);

}  // namespace flyball::apiservice
