#include "cmd/flyball/query_metric.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "doctor/objects.h"
#include "kube/objects/json_members.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;
using http::HttpAnswer;

constexpr char kCustomApi[] = "/apis/custom.metrics.k8s.io";

absl::StatusOr<HttpAnswer> Get(http::HttpTransport& server, const std::string& path) {
  http::HttpCall call;
  call.target = path;
  return server.Do(call);
}

// The message of the API's Status; the body if it is no Status.
std::string MessageOf(const HttpAnswer& answer) {
  const Json json = Json::parse(answer.body, nullptr, false);
  std::string message = json.is_object() ? kube::TextOf(json, "message") : "";
  if (message.empty()) message = absl::StrCat("status ", answer.status);
  const absl::string_view warning = answer.Header("Warning");
  return warning.empty() ? message : absl::StrCat(message, " (", warning, ")");
}

// The values of an answer, as text.
absl::StatusOr<std::string> Values(const MetricQuestion& question, const std::string& path,
                                   const HttpAnswer& answer) {
  if (question.json) return answer.body;
  ASSIGN_OR_RETURN(const std::vector<doctor::MetricItem> items,
                   doctor::ReadMetricValues(answer.body));
  std::string out = absl::StrCat(path, "\n");
  const absl::string_view warning = answer.Header("Warning");
  if (!warning.empty()) absl::StrAppend(&out, "warning: ", warning, "\n");
  if (items.empty()) return absl::StrCat(out, "no values\n");
  size_t width = 6;
  for (const doctor::MetricItem& item : items) width = std::max(width, item.object.size());
  absl::StrAppendFormat(&out, "%-*s  %12s  %s\n", static_cast<int>(width), "OBJECT", "VALUE",
                        "TIME");
  for (const doctor::MetricItem& item : items) {
    absl::StrAppendFormat(&out, "%-*s  %12s  %s\n", static_cast<int>(width),
                          item.object.empty() ? "-" : item.object, item.value,
                          kube::TimeText(item.at));
  }
  return out;
}

// The preferred version of the custom metrics API; "" if the group is not served.
absl::StatusOr<std::string> CustomVersion(http::HttpTransport& server) {
  ASSIGN_OR_RETURN(const HttpAnswer group, Get(server, kCustomApi));
  if (group.status == 404) return "";
  if (group.status != 200) return absl::UnavailableError(MessageOf(group));
  return doctor::ReadPreferredVersion(group.body);
}

absl::StatusOr<Json> RulesPage(absl::string_view json) {
  Json page = Json::parse(json.begin(), json.end(), nullptr, false);
  if (page.is_object() && page.contains("rules")) return page;
  return absl::InvalidArgumentError("the answer is no page of rules; is this a flyball server?");
}

// "rules[3] config.yaml:12".
std::string RuleText(const Json& rule) {
  return absl::StrCat(kube::TextOf(rule, "list"), "[", kube::NumberOf(rule, "index"), "] ",
                      kube::TextOf(rule, "where"));
}

absl::Status Failure(const HttpAnswer& answer) {
  return absl::Status(http::HttpStatusCode(answer.status), MessageOf(answer));
}

}  // namespace

std::string CustomMetricPath(const MetricQuestion& question, const std::string& version) {
  const std::pair<std::string, std::string> object =
      absl::StrSplit(question.object, absl::MaxSplits('/', 1));
  std::string path =
      absl::StrCat(kCustomApi, "/", version, "/namespaces/", go::UrlEscape(question.ns), "/");
  // Metrics of the namespace itself have another form of path.
  if (object.first == "namespaces" || object.first == "namespace") {
    absl::StrAppend(&path, "metrics/");
  } else {
    absl::StrAppend(
        &path, object.first, "/",
        object.second.empty() || object.second == "*" ? "*" : go::UrlEscape(object.second), "/");
  }
  absl::StrAppend(&path, go::UrlEscape(question.metric));
  if (question.selector.empty()) return path;
  return absl::StrCat(path, "?metricLabelSelector=", go::UrlEscape(question.selector));
}

std::string ExternalMetricPath(const MetricQuestion& question) {
  return absl::StrCat(
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/", go::UrlEscape(question.ns), "/",
      go::UrlEscape(question.metric),
      question.selector.empty() ? "" : "?labelSelector=", go::UrlEscape(question.selector));
}

absl::StatusOr<std::string> AnswerMetric(http::HttpTransport& server,
                                         const MetricQuestion& question) {
  ASSIGN_OR_RETURN(const std::string version, CustomVersion(server));
  std::string no_custom = "the group custom.metrics.k8s.io is not served";
  if (!version.empty()) {
    const std::string path = CustomMetricPath(question, version);
    ASSIGN_OR_RETURN(const HttpAnswer custom, Get(server, path));
    if (custom.status == 200) return Values(question, path, custom);
    if (custom.status != 404) return Failure(custom);
    no_custom = MessageOf(custom);
  }
  const std::string path = ExternalMetricPath(question);
  ASSIGN_OR_RETURN(const HttpAnswer external, Get(server, path));
  if (external.status == 200) return Values(question, path, external);
  if (external.status != 404) return Failure(external);
  return absl::NotFoundError(absl::StrCat("custom: ", no_custom,
                                          "; external: ", MessageOf(external),
                                          "; `flyball metrics` lists what there is"));
}

absl::StatusOr<std::string> RulesOfMetric(absl::string_view rules_json, const std::string& metric) {
  ASSIGN_OR_RETURN(const Json page, RulesPage(rules_json));
  std::string out;
  for (const Json& rule : kube::ItemsOf(page, "rules")) {
    const std::vector<std::string> offered = kube::TextsOf(rule, "metrics");
    // A custom metric has its resource before it: "pods/queue_len".
    if (std::none_of(offered.begin(), offered.end(), [&](absl::string_view name) {
          return name.substr(name.rfind('/') + 1) == metric;
        })) {
      continue;
    }
    absl::StrAppend(&out, "made by ", RuleText(rule), " of ", kube::TextOf(rule, "seriesQuery"),
                    "\n");
    const Json& failure = kube::MemberOf(kube::MemberOf(rule, "queries"), "lastFailure");
    if (!failure.is_object()) continue;
    absl::StrAppend(&out, "  failed at ", kube::TextOf(failure, "at"), ": ",
                    kube::TextOf(failure, "promql"), ": ", kube::TextOf(failure, "error"), "\n");
  }
  return out.empty() ? "made by no rule that is in force\n" : out;
}

absl::StatusOr<std::string> MetricsTable(absl::string_view rules_json) {
  ASSIGN_OR_RETURN(const Json page, RulesPage(rules_json));
  std::vector<std::vector<std::string>> rows;
  for (const Json& rule : kube::ItemsOf(page, "rules")) {
    const std::string list = kube::TextOf(rule, "list");
    const Json& queries = kube::MemberOf(rule, "queries");
    const bool failing = queries.is_object() && kube::MemberOf(queries, "failing") == true;
    for (const Json& metric : kube::ItemsOf(rule, "metrics")) {
      if (!metric.is_string()) continue;
      rows.push_back({list == "rules" ? "custom" : "external", metric.get<std::string>(),
                      absl::StrCat(RuleText(rule), failing ? "  its query fails" : "")});
    }
  }
  std::sort(rows.begin(), rows.end());
  size_t width = 6;
  for (const auto& row : rows) width = std::max(width, row[1].size());
  std::string out =
      absl::StrFormat("%-8s  %-*s  %s\n", "API", static_cast<int>(width), "METRIC", "RULE");
  for (const auto& row : rows) {
    absl::StrAppendFormat(&out, "%-8s  %-*s  %s\n", row[0], static_cast<int>(width), row[1],
                          row[2]);
  }
  return out;
}

}  // namespace flyball::cmd
