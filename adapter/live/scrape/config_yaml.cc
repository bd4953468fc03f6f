// The YAML tree of a scrape configuration -> its typed form.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/config_reader.h"

namespace flyball::scrape {

using rules::YamlNode;

void ConfigReader::ReadFile(const YamlNode& node, Config& out) {
  Keys keys = {{"global", [this](const YamlNode& n, const std::string& p) { ReadGlobal(n, p); }},
               {"scrape_configs", [](const YamlNode&, const std::string&) {}}};
  for (const char* name : {"runtime", "alerting", "rule_files", "storage", "tracing",
                           "remote_write", "remote_read", "otlp"}) {
    keys.push_back({name, [this](const YamlNode& n, const std::string& p) {
                      findings_.Warn(n.place, p, "has nothing to do with scraping and is not read");
                    }});
  }
  ReadMap(node, "", keys);
  if (node.kind != YamlNode::Kind::kMap) return;
  // `global` may come after the jobs, so these are read in a second pass.
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    if (Follow(*node.items[i]).text != "scrape_configs") continue;
    ReadItems(Follow(*node.items[i + 1]), "scrape_configs",
              [this, &out](const YamlNode& n, const std::string& p) {
                out.jobs.push_back(ReadJob(n, p));
              });
  }
}

void ConfigReader::ReadGlobal(const YamlNode& node, const std::string& path) {
  global_.interval = global_.timeout = absl::ZeroDuration();
  Keys keys = {{"scrape_interval", Interval(global_.interval)},
               {"scrape_timeout", Interval(global_.timeout)},
               {"metric_name_validation_scheme", NameScheme(global_.legacy_names)},
               {"extra_scrape_metrics", Bool(global_.extra_scrape_metrics)}};
  AddLimits(global_.limits, keys);
  for (const char* name :
       {"evaluation_interval", "rule_query_offset", "query_log_file", "external_labels",
        "keep_dropped_targets", "scrape_protocols", "metric_name_escaping_scheme"}) {
    keys.push_back({name, Ignored()});
  }
  AddNativeHistograms(keys);
  ReadMap(node, path, keys);
  // Zero means the default, as if the field were absent.
  const Job defaults;
  if (global_.interval == absl::ZeroDuration()) global_.interval = defaults.interval;
  CheckTimeout(node, path, global_);
  if (global_.timeout == absl::ZeroDuration()) global_.timeout = defaults.timeout;
}

void ConfigReader::CheckTimeout(const YamlNode& node, const std::string& path, const Job& job) {
  if (job.timeout <= job.interval) return;
  findings_.Error(
      node.place, path,
      absl::StrCat("scrape_timeout ", absl::FormatDuration(job.timeout),
                   " is longer than scrape_interval ", absl::FormatDuration(job.interval)));
}

Job ConfigReader::ReadJob(const YamlNode& node, const std::string& path) {
  Job job;
  job.legacy_names = global_.legacy_names;
  job.extra_scrape_metrics = global_.extra_scrape_metrics;
  job.interval = job.timeout = absl::ZeroDuration();
  relabel_rules_.clear();
  metric_relabel_rules_.clear();
  Keys keys = {{"job_name", Text(job.name)},
               {"scrape_interval", Interval(job.interval)},
               {"scrape_timeout", Interval(job.timeout)},
               {"metrics_path", Text(job.metrics_path)},
               {"scheme", OneOf({"http", "https"}, job.scheme)},
               {"params", Params(job)},
               {"honor_labels", Bool(job.honor_labels)},
               {"honor_timestamps", Bool(job.honor_timestamps)},
               {"track_timestamps_staleness", Bool(job.track_timestamps_staleness)},
               {"enable_compression", Bool(job.enable_compression)},
               {"extra_scrape_metrics", Bool(job.extra_scrape_metrics)},
               {"metric_name_validation_scheme", NameScheme(job.legacy_names)},
               {"static_configs", StaticGroups(job)},
               {"file_sd_configs", FileDiscoveries(job)},
               {"kubernetes_sd_configs", KubernetesDiscoveries(job)},
               {"relabel_configs", RelabelRules(relabel_rules_)},
               {"metric_relabel_configs", RelabelRules(metric_relabel_rules_)}};
  for (const char* name : {"scrape_protocols", "fallback_scrape_protocol", "keep_dropped_targets",
                           "metric_name_escaping_scheme"}) {
    keys.push_back({name, Ignored()});
  }
  AddLimits(job.limits, keys);
  AddNativeHistograms(keys);
  AddHttp(job.http, keys);
  ReadMap(node, path, keys);
  CheckHttp(node, path, job.http);
  FinishJob(node, path, job);
  return job;
}

void ConfigReader::FinishJob(const YamlNode& node, const std::string& path, Job& job) {
  if (job.name.empty()) {
    findings_.Error(node.place, path, "job_name is missing");
  } else if (!job_names_.insert(job.name).second) {
    findings_.Error(node.place, path,
                    absl::StrCat("another job is named ", job.name, ", expected each name once"));
  }
  if (job.interval == absl::ZeroDuration()) job.interval = global_.interval;
  CheckTimeout(node, path, job);
  if (job.timeout == absl::ZeroDuration()) job.timeout = std::min(global_.timeout, job.interval);
  const auto inherit = [](uint64_t& limit, uint64_t global) {
    if (limit == 0) limit = global;
  };
  inherit(job.limits.samples, global_.limits.samples);
  inherit(job.limits.targets, global_.limits.targets);
  inherit(job.limits.labels, global_.limits.labels);
  inherit(job.limits.label_name_bytes, global_.limits.label_name_bytes);
  inherit(job.limits.label_value_bytes, global_.limits.label_value_bytes);
  inherit(job.limits.body_bytes, global_.limits.body_bytes);
  // The rules are compiled last, since the field with the naming scheme may come after them.
  Compile(relabel_rules_, job.legacy_names, job.relabel_rules);
  Compile(metric_relabel_rules_, job.legacy_names, job.metric_relabel_rules);
}

void ConfigReader::Compile(const std::vector<PlacedRule>& placed, bool legacy_names,
                           std::vector<relabel::Rule>& out) {
  for (const PlacedRule& rule : placed) {
    relabel::RuleText text = rule.text;
    text.legacy_names = legacy_names;
    auto compiled = relabel::Rule::Compile(std::move(text));
    if (compiled.ok()) {
      out.push_back(*std::move(compiled));
      continue;
    }
    const absl::string_view message = compiled.status().message();
    const size_t colon = message.find(": ");  // behind the field
    const std::string field(message.substr(0, colon));
    const auto place = rule.places.find(field);
    findings_.Error(place == rule.places.end() ? rule.place : place->second,
                    absl::StrCat(rule.path, ".", field), std::string(message.substr(colon + 2)));
  }
}

ConfigReader::ReadField ConfigReader::RelabelRules(std::vector<PlacedRule>& out) {
  return [this, &out](const YamlNode& list, const std::string& list_path) {
    ReadItems(list, list_path, [this, &out](const YamlNode& n, const std::string& p) {
      PlacedRule rule;
      rule.place = n.place;
      rule.path = p;
      Keys keys = {{"source_labels", Texts(rule.text.source_labels)},
                   {"separator", Text(rule.text.separator)},
                   {"regex", Text(rule.text.regex)},
                   {"modulus", Number(rule.text.modulus)},
                   {"target_label", Text(rule.text.target_label)},
                   {"replacement", Text(rule.text.replacement)},
                   {"action", Text(rule.text.action)}};
      for (Key& key : keys) {
        key.read = [read = key.read, name = std::string(key.name), &rule](const YamlNode& value,
                                                                          const std::string& path) {
          rule.places[name] = value.place;
          read(value, path);
        };
      }
      ReadMap(n, p, keys);
      out.push_back(std::move(rule));
    });
  };
}

Config ReadScrapeConfig(absl::string_view text, rules::Findings& findings) {
  Config config;
  if (text.size() > rules::kMaxFileBytes) {
    findings.Error({}, "",
                   absl::StrCat("the file is larger than ", rules::kMaxFileBytes, " bytes"));
    return config;
  }
  const rules::YamlTree tree = rules::ReadYaml(text, findings);
  if (tree.root != nullptr) ConfigReader(findings).ReadFile(*tree.root, config);
  return config;
}

}  // namespace flyball::scrape
