#include "apiservice/wire/discovery.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "apiservice/wire/proto_writer.h"
#include "apiservice/wire/text.h"

namespace flyball::apiservice::wire {
namespace {

std::string GroupVersionJson(absl::string_view group, absl::string_view version) {
  return absl::StrCat("{\"groupVersion\":\"", group, "/", version, "\",\"version\":\"", version,
                      "\"}");
}

constexpr absl::string_view kAllClients = "0.0.0.0/0";

// The fields from `name` on, without the closing brace.
void AppendGroupFields(const DiscoveryGroup& group, std::string* out) {
  absl::StrAppend(out, "\"name\":\"", group.name, "\",\"versions\":[");
  for (const DiscoveryVersion& version : group.versions) {
    AppendComma(out);
    out->append(GroupVersionJson(group.name, version.version));
  }
  absl::StrAppend(
      out, "],\"preferredVersion\":", GroupVersionJson(group.name, group.versions[0].version));
}

ProtoWriter GroupProto(const DiscoveryGroup& group) {
  const auto group_version = [&](const DiscoveryVersion& version) {
    ProtoWriter out;
    out.String(1, absl::StrCat(group.name, "/", version.version));
    out.String(2, version.version);
    return out;
  };
  ProtoWriter out;
  out.String(1, group.name);
  for (const DiscoveryVersion& version : group.versions) out.Message(2, group_version(version));
  out.Message(3, group_version(group.versions[0]));
  return out;
}

constexpr absl::string_view kNoKind =
    "\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"";

// A parent resource and its subresources in aggregated discovery.
struct Parent {
  std::string name;
  bool namespaced = true;
  const ApiResource* own = nullptr;  // nullptr: only subresources are served
  std::vector<const ApiResource*> subresources;
};

std::vector<Parent> GroupByParent(const std::vector<ApiResource>& resources) {
  std::vector<Parent> parents;
  absl::flat_hash_map<std::string, size_t> index;
  for (const ApiResource& resource : resources) {
    const size_t slash = resource.name.find('/');
    const std::string name = resource.name.substr(0, slash);
    const auto [found, is_new] = index.try_emplace(name, parents.size());
    if (is_new) {
      parents.emplace_back();
      parents.back().name = name;
      parents.back().namespaced = resource.namespaced;
    }
    Parent& parent = parents[found->second];
    if (slash == std::string::npos) {
      parent.own = &resource;
    } else {
      parent.subresources.push_back(&resource);
    }
  }
  return parents;
}

void AppendParent(const Parent& parent, std::string* out) {
  out->append("{\"resource\":");
  AppendJsonString(parent.name, out);
  absl::StrAppend(out, ",", kNoKind, parent.own != nullptr ? parent.own->kind : "",
                  "\"},\"scope\":\"", parent.namespaced ? "Namespaced" : "Cluster",
                  "\",\"singularResource\":\"\",\"verbs\":");
  AppendStrings(parent.own != nullptr ? parent.own->verbs : std::vector<std::string>(), out);
  if (!parent.subresources.empty()) {
    out->append(",\"subresources\":[");
    for (const ApiResource* sub : parent.subresources) {
      AppendComma(out);
      out->append("{\"subresource\":");
      AppendJsonString(absl::string_view(sub->name).substr(sub->name.find('/') + 1), out);
      absl::StrAppend(out, ",", kNoKind, sub->kind, "\"},\"verbs\":");
      AppendStrings(sub->verbs, out);
      out->push_back('}');
    }
    out->push_back(']');
  }
  out->push_back('}');
}

}  // namespace

std::string ApiResourceListJson(absl::string_view group_version,
                                const std::vector<ApiResource>& resources) {
  std::string out;
  out.reserve(128 + resources.size() * 128);
  absl::StrAppend(&out, "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"",
                  group_version, "\",\"resources\":[");
  for (const ApiResource& resource : resources) {
    AppendComma(&out);
    out.append("{\"name\":");
    AppendJsonString(resource.name, &out);
    absl::StrAppend(
        &out, ",\"singularName\":\"\",\"namespaced\":", resource.namespaced ? "true" : "false",
        ",\"kind\":\"", resource.kind, "\",\"verbs\":");
    AppendStrings(resource.verbs, &out);
    out.push_back('}');
  }
  out.append("]}\n");
  return out;
}

std::string ApiResourceListProtobuf(absl::string_view group_version,
                                    const std::vector<ApiResource>& resources) {
  ProtoWriter message;
  message.String(1, group_version);
  for (const ApiResource& resource : resources) {
    ProtoWriter verbs;
    for (const std::string& verb : resource.verbs) verbs.String(1, verb);
    ProtoWriter item;
    item.String(1, resource.name);
    item.Bool(2, resource.namespaced);
    item.String(3, resource.kind);
    item.Message(4, verbs);
    item.String(6, "");   // singularName
    item.String(8, "");   // group
    item.String(9, "");   // version
    item.String(10, "");  // storageVersionHash
    message.Message(2, item);
  }
  return ProtoEnvelope("v1", "APIResourceList", message);
}

std::string ApiGroupJson(const DiscoveryGroup& group) {
  std::string out = "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",";
  AppendGroupFields(group, &out);
  out.append("}\n");
  return out;
}

std::string ApiGroupProtobuf(const DiscoveryGroup& group) {
  return ProtoEnvelope("v1", "APIGroup", GroupProto(group));
}

std::string ApiGroupListJson(const std::vector<DiscoveryGroup>& groups, absl::string_view address) {
  std::string out = "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[";
  for (const DiscoveryGroup& group : groups) {
    AppendComma(&out);
    out.push_back('{');
    AppendGroupFields(group, &out);
    absl::StrAppend(&out, ",\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"", kAllClients,
                    "\",\"serverAddress\":\"", address, "\"}]}");
  }
  out.append("]}\n");
  return out;
}

std::string ApiGroupListProtobuf(const std::vector<DiscoveryGroup>& groups,
                                 absl::string_view address) {
  ProtoWriter server;
  server.String(1, kAllClients);
  server.String(2, address);
  ProtoWriter message;
  for (const DiscoveryGroup& group : groups) {
    ProtoWriter item = GroupProto(group);
    item.Message(4, server);
    message.Message(1, item);
  }
  return ProtoEnvelope("v1", "APIGroupList", message);
}

std::string ApiGroupDiscoveryListJson(absl::string_view version,
                                      const std::vector<DiscoveryGroup>& groups) {
  std::string out =
      absl::StrCat("{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/",
                   version, "\",\"metadata\":{},\"items\":[");
  for (const DiscoveryGroup& group : groups) {
    AppendComma(&out);
    absl::StrAppend(&out, "{\"metadata\":{\"name\":\"", group.name,
                    "\",\"creationTimestamp\":null},\"versions\":[");
    for (const DiscoveryVersion& entry : group.versions) {
      AppendComma(&out);
      absl::StrAppend(&out, "{\"version\":\"", entry.version,
                      "\",\"freshness\":\"Current\",\"resources\":[");
      for (const Parent& parent : GroupByParent(entry.resources)) {
        AppendComma(&out);
        AppendParent(parent, &out);
      }
      out.append("]}");
    }
    out.append("]}");
  }
  out.append("]}\n");
  return out;
}

std::string RootPathsJson(const std::vector<std::string>& paths) {
  std::string out = "{\"paths\":";
  AppendStrings(paths, &out);
  out.push_back('}');
  return IndentJson(out);
}

}  // namespace flyball::apiservice::wire
