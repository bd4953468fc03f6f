// Discovery documents: which groups, versions and resources are served.
//
// Pure. Small structs and their JSON and protobuf; discovery_docs.h builds them from the providers.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice::wire {

struct ApiResource {
  std::string name;  // "pods/queue_len"
  bool namespaced = true;
  std::string kind;
  std::vector<std::string> verbs;
};

struct DiscoveryVersion {
  std::string version;
  std::vector<ApiResource> resources;
};

struct DiscoveryGroup {
  std::string name;
  std::vector<DiscoveryVersion> versions;  // preferred one first
};

// meta/v1 APIResourceList of `group_version`.
std::string ApiResourceListJson(absl::string_view group_version,
                                const std::vector<ApiResource>& resources);
std::string ApiResourceListProtobuf(absl::string_view group_version,
                                    const std::vector<ApiResource>& resources);
std::string ApiGroupJson(const DiscoveryGroup& group);
std::string ApiGroupProtobuf(const DiscoveryGroup& group);
// Each group has `address`, HOST:PORT, as where every client reaches it.
std::string ApiGroupListJson(const std::vector<DiscoveryGroup>& groups, absl::string_view address);
std::string ApiGroupListProtobuf(const std::vector<DiscoveryGroup>& groups,
                                 absl::string_view address);

// apidiscovery.k8s.io/{version} APIGroupDiscoveryList; `version` is v2 or v2beta1. Names
// `parent/sub` become subresources of `parent`; parents are in the order of their first appearance.
std::string ApiGroupDiscoveryListJson(absl::string_view version,
                                      const std::vector<DiscoveryGroup>& groups);

// The index of paths at `/` and of unknown paths; always indented, like the original's.
std::string RootPathsJson(const std::vector<std::string>& paths);

}  // namespace flyball::apiservice::wire
