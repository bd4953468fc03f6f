// OpenAPI documents of the served kinds, for the aggregator and `kubectl explain`.
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

// Swagger 2.0 for all of them.
std::string OpenApiV2Json(const std::vector<GroupVersionName>& served);

// OpenAPI 3.0 for one.
std::string OpenApiV3Json(const GroupVersionName& served);

}  // namespace flyball::apiservice
