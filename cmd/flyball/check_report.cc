#include "cmd/flyball/check_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/counted.h"
#include "kube/objects/yaml_text.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;
using rules::Finding;

const char* Level(const Finding& finding) {
  return finding.severity == Finding::Severity::kWarning ? "warning" : "error";
}

std::string Sentence(const Finding& finding) {
  return finding.field.empty() ? finding.message
                               : absl::StrCat(finding.field, ": ", finding.message);
}

Json FindingJson(const Finding& finding) {
  Json out = {{"severity", Level(finding)}};
  if (finding.line > 0) {
    out["line"] = finding.line;
    out["column"] = finding.column;
  }
  if (!finding.field.empty()) out["field"] = finding.field;
  out["message"] = finding.message;
  return out;
}

Json Report(const std::vector<CheckedRules>& checked) {
  Json files = Json::array();
  size_t errors = 0, warnings = 0;
  for (const CheckedRules& one : checked) {
    Json file = {{"file", one.file}};
    if (!one.of.empty()) file["of"] = one.of;
    file["ok"] = one.ok;
    file["rules"] = one.rules;
    file["externalRules"] = one.external_rules;
    file["resourceRules"] = one.resource_rules;
    file["findings"] = Json::array();
    for (const Finding& finding : one.findings) {
      ++(finding.severity == Finding::Severity::kWarning ? warnings : errors);
      file["findings"].push_back(FindingJson(finding));
    }
    files.push_back(std::move(file));
  }
  return {{"files", std::move(files)}, {"errors", errors}, {"warnings", warnings}};
}

const char* SarifRule(const Finding& finding) {
  switch (finding.severity) {
    case Finding::Severity::kError: return "rule-file";
    case Finding::Severity::kQuery: return "promql";
    case Finding::Severity::kWarning: break;
  }
  return "doubtful";
}

Json SarifResult(const Finding& finding) {
  Json place = {{"artifactLocation", {{"uri", finding.file}}}};
  if (finding.line > 0) {
    place["region"] = {{"startLine", finding.line}, {"startColumn", finding.column}};
  }
  return {{"ruleId", SarifRule(finding)},
          {"level", Level(finding)},
          {"message", {{"text", Sentence(finding)}}},
          {"locations", Json::array({{{"physicalLocation", std::move(place)}}})}};
}

// Escapes the text as the toolkit of GitHub Actions does.
std::string GithubText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

std::string GithubProperty(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}, {":", "%3A"}, {",", "%2C"}});
}

Json SarifReport(const std::vector<CheckedRules>& checked) {
  Json results = Json::array();
  for (const CheckedRules& one : checked) {
    for (const Finding& finding : one.findings) results.push_back(SarifResult(finding));
  }
  const Json kinds = Json::array(
      {{{"id", "rule-file"}, {"shortDescription", {{"text", "the server refuses the file"}}}},
       {{"id", "promql"}, {"shortDescription", {{"text", "Prometheus refuses the query"}}}},
       {{"id", "doubtful"}, {"shortDescription", {{"text", "allowed, but probably a mistake"}}}}});
  const Json driver = {{"name", "flyball"}, {"version", FLYBALL_VERSION}, {"rules", kinds}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}};
}

std::string GithubReport(const std::vector<CheckedRules>& checked) {
  std::string out;
  for (const CheckedRules& one : checked) {
    for (const Finding& finding : one.findings) {
      absl::StrAppend(&out, "::", Level(finding), " file=", GithubProperty(finding.file));
      if (finding.line > 0) absl::StrAppend(&out, ",line=", finding.line, ",col=", finding.column);
      absl::StrAppend(&out, "::", GithubText(Sentence(finding)), "\n");
    }
  }
  return out;
}

}  // namespace

std::string GoodLines(const std::vector<CheckedRules>& checked) {
  std::string out;
  for (const CheckedRules& one : checked) {
    if (!one.ok) continue;
    absl::StrAppend(&out, one.file, one.of.empty() ? "" : ": ", one.of,
                    ": ok: ", Counted(one.rules, "rule"), ", ",
                    Counted(one.external_rules, "external rule"),
                    one.resource_rules ? ", resource rules" : "", ", ",
                    Counted(one.findings.size(), "warning"), "\n");
  }
  return out;
}

std::string ErrorLines(const std::vector<CheckedRules>& checked) {
  std::string out;
  for (const CheckedRules& one : checked) {
    for (const Finding& finding : one.findings) absl::StrAppend(&out, finding.ToString(), "\n");
  }
  return out;
}

std::string ReportAs(const std::string& format, const std::vector<CheckedRules>& checked) {
  if (format == "github") return GithubReport(checked);
  const Json report = format == "sarif" ? SarifReport(checked) : Report(checked);
  if (format == "yaml") return kube::YamlOf(report);
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::cmd
