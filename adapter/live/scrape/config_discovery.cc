// Fields that say where targets come from.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/config_reader.h"
#include "base/go/text.h"

namespace flyball::scrape {

using rules::YamlNode;

ConfigReader::ReadField ConfigReader::Params(Job& job) {
  return [this, &job](const YamlNode& n, const std::string& p) {
    if (rules::IsNothing(n)) return;
    if (n.kind != YamlNode::Kind::kMap) return Wrong(n, p, "a mapping from names to lists");
    ForEachEntry(
        n, p, [](const YamlNode&) {},
        [&](const YamlNode& key, const YamlNode& value) {
          const auto name = TextOf(key, p);
          if (name)
            Texts(job.params.emplace_back(*name, 0).second)(value, absl::StrCat(p, ".", *name));
        });
  };
}

ConfigReader::ReadField ConfigReader::Labels(promql::LabelSet& out) {
  return [this, &out](const YamlNode& n, const std::string& p) {
    if (rules::IsNothing(n)) return;
    if (n.kind != YamlNode::Kind::kMap) return Wrong(n, p, "a mapping from names to values");
    ForEachEntry(
        n, p, [](const YamlNode&) {},
        [&](const YamlNode& key, const YamlNode& value) {
          const auto name = TextOf(key, p);
          const auto text = TextOf(value, p);
          if (!name || !text) return;
          if (!relabel::IsLabelName(*name, false)) return Wrong(key, p, "the name of a label");
          if (!text->empty()) out.emplace_back(*name, *text);
        });
    std::sort(out.begin(), out.end());
  };
}

void ConfigReader::ReadGroups(const YamlNode& list, const std::string& path,
                              absl::string_view source, std::vector<TargetGroup>& out) {
  ReadItems(list, path, [&](const YamlNode& n, const std::string& p) {
    std::vector<std::string> addresses;
    TargetGroup group;
    group.source = absl::StrCat(source, "/", out.size());
    ReadMap(n, p, {{"targets", Texts(addresses)}, {"labels", Labels(group.labels)}});
    for (const std::string& address : addresses) {
      group.targets.push_back({{"__address__", address}});
    }
    out.push_back(std::move(group));
  });
}

ConfigReader::ReadField ConfigReader::StaticGroups(Job& job) {
  return [this, &job](const YamlNode& list, const std::string& path) {
    ReadGroups(list, path, "static", job.static_groups);
  };
}

ConfigReader::ReadField ConfigReader::FileDiscoveries(Job& job) {
  return [this, &job](const YamlNode& list, const std::string& list_path) {
    ReadItems(list, list_path, [this, &job](const YamlNode& n, const std::string& p) {
      FileDiscovery& discovery = job.file_discoveries.emplace_back();
      ReadMap(n, p,
              {{"files", Texts(discovery.files)},
               {"refresh_interval", Duration(discovery.refresh_interval)}});
      if (discovery.files.empty()) findings_.Error(n.place, p, "files is missing");
      for (const std::string& file : discovery.files) {
        const std::string last = file.substr(file.rfind('/') + 1);
        const auto stars = std::count(file.begin(), file.end(), '*');
        const bool good_star = stars == 0 || (stars == 1 && absl::StrContains(last, '*'));
        const bool good_end = absl::EndsWith(last, ".json") || absl::EndsWith(last, ".yml") ||
                              absl::EndsWith(last, ".yaml");
        if (good_star && good_end) continue;
        findings_.Error(n.place, p,
                        absl::StrCat("found ", go::Quote(file),
                                     ", expected a path that ends in .json, .yml or .yaml, with "
                                     "one * in its last part at most"));
      }
    });
  };
}

ConfigReader::ReadField ConfigReader::KubernetesDiscoveries(Job& job) {
  return [this, &job](const YamlNode& list, const std::string& list_path) {
    ReadItems(list, list_path, [this, &job](const YamlNode& n, const std::string& p) {
      job.kubernetes_discoveries.push_back(ReadKubernetes(n, p));
    });
  };
}

namespace {

using Role = KubernetesDiscovery::Role;

constexpr absl::string_view kRoles[] = {"pod", "node", "endpoints"};

bool AllowsSelector(Role role, Role selected) {
  return role == selected || (role == Role::kPod && selected == Role::kNode) ||
         (role == Role::kEndpoints && selected == Role::kPod);
}

Role RoleOf(absl::string_view name) {
  return static_cast<Role>(std::find(std::begin(kRoles), std::end(kRoles), name) -
                           std::begin(kRoles));
}

}  // namespace

ConfigReader::ReadField ConfigReader::Selectors(KubernetesDiscovery& out) {
  return [this, &out](const YamlNode& list, const std::string& list_path) {
    ReadItems(list, list_path, [this, &out](const YamlNode& n, const std::string& p) {
      KubernetesDiscovery::Selector selector;
      std::string role;
      ReadMap(n, p,
              {{"role", OneOf({"pod", "node", "endpoints"}, role)},
               {"label", Text(selector.label)},
               {"field", Text(selector.field)}});
      if (role.empty()) return findings_.Error(n.place, p, "role is missing");
      selector.role = RoleOf(role);
      const bool twice = std::any_of(out.selectors.begin(), out.selectors.end(),
                                     [&](const auto& s) { return s.role == selector.role; });
      if (twice) findings_.Error(n.place, p, "there is a selector of this role already");
      out.selectors.push_back(std::move(selector));
    });
  };
}

KubernetesDiscovery ConfigReader::ReadKubernetes(const YamlNode& node, const std::string& path) {
  KubernetesDiscovery discovery;
  std::string role;
  const std::string own = "none: the API server of this program's own flags is asked";
  bool attach_namespace = false;
  Keys keys = {
      {"role", OneOf({"pod", "node", "endpoints"}, role)},
      {"namespaces",
       [&](const YamlNode& n, const std::string& p) {
         ReadMap(n, p,
                 {{"own_namespace", Bool(discovery.own_namespace)},
                  {"names", Texts(discovery.namespaces)}});
       }},
      {"selectors", Selectors(discovery)},
      {"attach_metadata",
       [&](const YamlNode& n, const std::string& p) {
         ReadMap(n, p,
                 {{"node", Bool(discovery.attach_node)}, {"namespace", Bool(attach_namespace)}});
         if (attach_namespace) Unsupported("false")(n, absl::StrCat(p, ".namespace"));
       }},
      {"api_server", Unsupported(own)},
      {"kubeconfig_file", Unsupported(own)}};
  ReadMap(node, path, keys);
  if (role.empty()) {
    findings_.Error(node.place, path, "role is missing: pod, node or endpoints");
    return discovery;
  }
  discovery.role = RoleOf(role);
  for (const auto& selector : discovery.selectors) {
    if (AllowsSelector(discovery.role, selector.role)) continue;
    findings_.Error(node.place, path,
                    absl::StrCat("the role ", role, " takes no selectors of the role ",
                                 kRoles[static_cast<size_t>(selector.role)]));
  }
  return discovery;
}

std::vector<TargetGroup> ReadTargetFile(absl::string_view text, const std::string& file,
                                        rules::Findings& findings) {
  std::vector<TargetGroup> groups;
  // As in Prometheus: no JSON, but valid YAML without a target. Its writer may just have begun.
  if (absl::EndsWith(file, ".json") && absl::StripAsciiWhitespace(text).empty()) {
    findings.Error({}, "", "it is empty; expected a list of target groups");
    return groups;
  }
  const rules::YamlTree tree = rules::ReadYaml(text, findings);
  if (tree.root != nullptr) ConfigReader(findings).ReadGroups(*tree.root, "", file, groups);
  for (TargetGroup& group : groups) {
    group.labels.emplace_back("__meta_filepath", file);
    std::sort(group.labels.begin(), group.labels.end());
  }
  return groups;
}

}  // namespace flyball::scrape
