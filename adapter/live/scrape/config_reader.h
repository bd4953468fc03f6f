// Reads the YAML tree of a scrape configuration. Only for config_yaml.cc and its neighbours.
//
// Pure; not thread-safe.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "adapter/live/scrape/config.h"
#include "rules/yaml_reader.h"

namespace flyball::scrape {

class ConfigReader : private rules::YamlReader {
 public:
  using YamlReader::YamlReader;
  void ReadFile(const rules::YamlNode& node, Config& out);
  // A list of {targets, labels}; its items are named `source`/0, /1, …
  void ReadGroups(const rules::YamlNode& list, const std::string& path, absl::string_view source,
                  std::vector<TargetGroup>& out);

 private:
  // A rule with the places of its fields.
  struct PlacedRule {
    relabel::RuleText text;
    rules::Place place;
    std::string path;
    std::map<std::string, rules::Place> places;
  };

  void ReadGlobal(const rules::YamlNode& node, const std::string& path);
  Job ReadJob(const rules::YamlNode& node, const std::string& path);
  void CheckTimeout(const rules::YamlNode& node, const std::string& path, const Job& job);
  void FinishJob(const rules::YamlNode& node, const std::string& path, Job& job);
  void Compile(const std::vector<PlacedRule>& placed, bool legacy_names,
               std::vector<relabel::Rule>& out);

  // Readers of one field into `out`, which outlives them.
  ReadField Text(std::string& out);
  ReadField Texts(std::vector<std::string>& out);
  ReadField Bool(bool& out);
  ReadField Number(uint64_t& out);
  ReadField Bytes(uint64_t& out);
  ReadField Duration(absl::Duration& out);
  ReadField Interval(absl::Duration& out);  // not shorter than kMinInterval
  ReadField OneOf(std::initializer_list<absl::string_view> words, std::string& out);
  ReadField NameScheme(bool& legacy);
  ReadField Ignored();
  ReadField Unsupported(std::string instead);
  ReadField RelabelRules(std::vector<PlacedRule>& out);
  ReadField Params(Job& job);
  ReadField Labels(promql::LabelSet& out);
  ReadField Headers(http::TransportOptions& http);
  ReadField StaticGroups(Job& job);
  ReadField FileDiscoveries(Job& job);
  ReadField KubernetesDiscoveries(Job& job);
  KubernetesDiscovery ReadKubernetes(const rules::YamlNode& node, const std::string& path);
  ReadField Selectors(KubernetesDiscovery& out);

  void AddLimits(Limits& limits, Keys& keys);
  void AddNativeHistograms(Keys& keys);
  void AddHttp(http::TransportOptions& http, Keys& keys);
  ReadField Tls(http::TransportOptions& http);
  ReadField BasicAuth(http::TransportOptions& http);
  ReadField Authorization(http::TransportOptions& http);
  void CheckHttp(const rules::YamlNode& node, const std::string& path,
                 const http::TransportOptions& http);

  Job global_;  // defaults of interval, timeout, limits and the like
  std::set<std::string> job_names_;
  std::vector<PlacedRule> relabel_rules_, metric_relabel_rules_;  // of the present job
};

}  // namespace flyball::scrape
