#include "cmd/flyball/explain_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "cmd/flags/words.h"
#include "kube/objects/json_members.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::NumberOf;
using kube::TextOf;

constexpr size_t kNamed = 8;  // names in one line

absl::StatusOr<Json> ParseAnswer(absl::string_view json) {
  Json answer = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!answer.is_object()) {
    return absl::InvalidArgumentError("the answer is no JSON object; is this a flyball server?");
  }
  if (const std::string error = TextOf(answer, "error"); !error.empty()) {
    return absl::InvalidArgumentError(error);
  }
  return answer;
}

// "2026-03-01T03:00:00Z  12 times  shop/web: Deployment web stays at 5 replicas. Why 5 and not …"
std::string OneLine(const Json& decision) {
  const std::vector<std::string> lines = absl::StrSplit(TextOf(decision, "text"), '\n');
  const int64_t times = NumberOf(decision, "times");
  return absl::StrCat(TextOf(decision, "last"), "  ", times, times == 1 ? " time  " : " times  ",
                      lines[0], lines.size() > 1 ? absl::StrCat(". ", lines[1]) : "", "\n");
}

std::string Reasons(const Json& counts) {
  std::vector<std::string> reasons;
  if (const auto found = counts.find("reasons"); found != counts.end() && found->is_object()) {
    for (const auto& [name, count] : found->items()) {
      reasons.push_back(absl::StrCat(name, " ", count.dump()));
    }
  }
  return absl::StrJoin(reasons, ", ");
}

std::string ObjectName(const Json& object) {
  return absl::StrCat(TextOf(object, "namespace"), "/", TextOf(object, "name"));
}

}  // namespace

absl::StatusOr<std::string> ExplainAnswer(absl::string_view json, bool all) {
  ASSIGN_OR_RETURN(const Json answer, ParseAnswer(json));
  std::string out;
  for (const Json& autoscaler : ItemsOf(answer, "autoscalers")) {
    bool newest = true;
    std::string earlier;
    for (const Json& decision : ItemsOf(autoscaler, "decisions")) {
      if (newest || all) {
        absl::StrAppend(&out, out.empty() ? "" : "\n\n", TextOf(decision, "text"));
      } else {
        earlier += OneLine(decision);
      }
      newest = false;
    }
    if (!earlier.empty()) absl::StrAppend(&out, "\nearlier\n", earlier);
  }
  if (out.empty()) {
    return absl::NotFoundError(
        absl::StrCat("this server has decided nothing for it (", TextOf(answer, "replica"), ")"));
  }
  return out;
}

absl::StatusOr<std::string> ShadowAnswer(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json answer, ParseAnswer(json));
  std::vector<const Json*> objects;
  size_t width = 10;
  for (const Json& object : ItemsOf(answer, "objects")) {
    objects.push_back(&object);
    width = std::max(width, ObjectName(object).size());
  }
  std::stable_sort(objects.begin(), objects.end(), [](const Json* a, const Json* b) {
    return NumberOf(*a, "different") > NumberOf(*b, "different");
  });
  const Json total = answer.value("total", Json::object());
  const int64_t equal = NumberOf(total, "equal"), different = NumberOf(total, "different");
  if (equal + different == 0) return "no status of the stock controller has been compared yet\n";
  std::string out = absl::StrFormat(
      "%d statuses of the stock controller compared: %d equal, %d different (%.2f%% equal)%s\n\n",
      equal + different, equal, different,
      100.0 * static_cast<double>(equal) / static_cast<double>(equal + different),
      different == 0 ? "" : absl::StrCat("; ", Reasons(total)));
  const int column = static_cast<int>(width);
  absl::StrAppendFormat(&out, "%-*s  %8s  %9s  %s\n", column, "AUTOSCALER", "EQUAL", "DIFFERENT",
                        "WHY");
  for (const Json* object : objects) {
    absl::StrAppendFormat(&out, "%-*s  %8d  %9d  %s\n", column, ObjectName(*object),
                          NumberOf(*object, "equal"), NumberOf(*object, "different"),
                          Reasons(*object));
  }
  for (const Json* object : objects) {
    for (const Json& difference : ItemsOf(*object, "last")) {
      const Json theirs = difference.value("theirs", Json::object());
      const Json ours = difference.value("ours", Json());
      absl::StrAppend(&out, "\n", TextOf(difference, "time"), "  ", ObjectName(*object), ": stock ",
                      NumberOf(theirs, "currentReplicas"), " -> ",
                      NumberOf(theirs, "desiredReplicas"), ", flyball ",
                      ours.is_object() ? absl::StrCat(NumberOf(ours, "currentReplicas"), " -> ",
                                                      NumberOf(ours, "desiredReplicas"))
                                       : "nothing",
                      "; ", TextOf(difference, "reason"), ": ", TextOf(difference, "detail"));
    }
  }
  if (out.back() != '\n') out += "\n";
  return out;
}
absl::StatusOr<std::string> NewDecisions(absl::string_view json, absl::Time& after) {
  ASSIGN_OR_RETURN(const Json answer, ParseAnswer(json));
  std::string out;
  absl::Time newest = after;
  for (const Json& autoscaler : ItemsOf(answer, "autoscalers")) {
    std::vector<std::string> texts;  // newest first
    for (const Json& decision : ItemsOf(autoscaler, "decisions")) {
      absl::Time first = absl::InfinitePast();
      absl::ParseTime(absl::RFC3339_full, TextOf(decision, "first"), &first, nullptr);
      if (first <= after) break;
      newest = std::max(newest, first);
      texts.push_back(
          absl::StrCat(TextOf(decision, "first"), "\n", TextOf(decision, "text"), "\n"));
      if (after == absl::InfinitePast()) break;
    }
    for (auto text = texts.rbegin(); text != texts.rend(); ++text) absl::StrAppend(&out, *text);
  }
  after = newest;
  return out;
}

std::string DecidedNearby(const std::vector<std::string>& lists, const std::string& ns,
                          const std::string& name) {
  std::vector<std::string> same_name, same_namespace;
  for (const std::string& list : lists) {
    const absl::StatusOr<Json> answer = ParseAnswer(list);
    if (!answer.ok()) continue;
    for (const Json& autoscaler : ItemsOf(*answer, "autoscalers")) {
      const std::string other = TextOf(autoscaler, "namespace");
      if (TextOf(autoscaler, "name") == name) same_name.push_back(other);
      if (other == ns) same_namespace.push_back(TextOf(autoscaler, "name"));
    }
  }
  if (!same_name.empty()) {
    return absl::StrCat("; there is one in namespace ", absl::StrJoin(same_name, ", "));
  }
  if (const std::string near = Nearest(name, same_namespace); !near.empty()) {
    return absl::StrCat("; did you mean ", near, "?");
  }
  if (same_namespace.empty()) return absl::StrCat("; none in namespace ", ns, " was");
  std::sort(same_namespace.begin(), same_namespace.end());
  return absl::StrCat("; in namespace ", ns, " there are ", Shortened(same_namespace, kNamed));
}

}  // namespace flyball::cmd
