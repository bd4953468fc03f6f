// flyball explain: asks a running server why an autoscaler has the count it has.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/server_access.h"
#include "cmd/flyball/words.h"
#include "kube/objects/json_members.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::NumberOf;
using kube::TextOf;

struct ExplainFlags : ServerFlags {
  std::string object;  // KIND/NAME or NAME
  bool all = false;
  bool shadow_report = false;
  std::string output = "text";
};

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

// The target of the question; kInvalidArgument names the flag.
absl::StatusOr<std::string> TargetFrom(const ExplainFlags& flags, const std::string& ns) {
  if (flags.shadow_report) {
    return absl::StrCat("/debug/decisions?report=shadow",
                        flags.ns.empty() ? "" : "&namespace=" + go::UrlEscape(flags.ns));
  }
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler object, serve::ParseNamedAutoscaler(flags.object));
  if (object.name.empty()) return absl::InvalidArgumentError("name an object: hpa/web");
  return absl::StrCat("/debug/decisions?namespace=", go::UrlEscape(ns),
                      "&name=", go::UrlEscape(object.name), object.kind.has_value() ? "&kind=" : "",
                      object.kind.has_value() ? serve::AutoscalerKindName(*object.kind) : "");
}

// What is printed of one replica's answer.
absl::StatusOr<std::string> Shown(const ExplainFlags& flags, const std::string& json) {
  ASSIGN_OR_RETURN(std::string text,
                   flags.shadow_report ? ShadowAnswer(json) : ExplainAnswer(json, flags.all));
  if (flags.output == "text") return text;
  ASSIGN_OR_RETURN(const Json answer, ParseAnswer(json));
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// One replica decides an autoscaler: they are asked in turn until one knows it. Of the shadow
// report each has its own part.
absl::Status Explain(const ExplainFlags& flags) {
  RETURN_IF_ERROR(TargetFrom(flags, "").status());  // wrong words need no cluster
  ASSIGN_OR_RETURN(ServerAccess server, ServerAccess::Find(flags, Clock::System()));
  ASSIGN_OR_RETURN(const std::string target, TargetFrom(flags, server.ns()));
  absl::Status none;
  bool found = false;
  for (size_t i = 0; i < server.replicas(); ++i) {
    ASSIGN_OR_RETURN(const std::string json, server.Get(i, target));
    const absl::StatusOr<std::string> shown = Shown(flags, json);
    if (absl::IsNotFound(shown.status())) {
      none = shown.status();
      continue;
    }
    if (!shown.ok()) return shown.status();
    std::cout << *shown;
    found = true;
    if (!flags.shadow_report) break;
  }
  return found ? absl::OkStatus() : none;
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
        absl::StrCat("nothing was decided of it here (", TextOf(answer, "replica"),
                     "): look for its name and namespace, and ask the other replicas"));
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
  if (equal + different == 0) {
    return "no status of the stock controller has been compared yet\n";
  }
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

int RunExplain(const Args& args) {
  CLI::App app("Asks a running flyball why an autoscaler has the count it has.", "flyball explain");
  ExplainFlags flags;
  app.add_option("object", flags.object, "hpa/NAME, autoscaler/NAME or NAME")
      ->type_name("KIND/NAME");
  AddServerFlags(app, flags);
  app.add_flag("--all", flags.all, "Print the earlier decisions in full too");
  app.add_flag("--shadow-report", flags.shadow_report,
               "How the stock controller's decisions compare with those of mode shadow");
  AddOutput(app, flags.output, {"text", "json"});
  app.footer(ExitStatuses("the server cannot be asked or knows nothing of it"));
  if (const auto ended = Parse(app, args)) return *ended;
  if (flags.object.empty() == !flags.shadow_report) {
    std::fprintf(stderr, "flyball explain: name one autoscaler, or ask for --shadow-report\n");
    return kUsageError;
  }
  if (const absl::Status status = Explain(flags); !status.ok()) {
    std::fprintf(stderr, "flyball explain: %s\n", std::string(status.message()).c_str());
    return absl::IsInvalidArgument(status) ? kUsageError : 1;
  }
  std::cout.flush();
  return std::cout.good() ? 0 : 1;
}

}  // namespace flyball::cmd
