// flyball explain: asks a running server why an autoscaler has its count.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "cmd/flags/server_access.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/explain_answer.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

constexpr absl::Duration kWatchPeriod = absl::Seconds(1);

struct ExplainFlags : ServerFlags {
  std::string object;  // KIND/NAME or NAME
  bool all = false;
  bool shadow_report = false;
  bool watch = false;
  std::string output = "text";
};

// The path of the page that is asked for; kInvalidArgument: the message names the wrong flag.
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

// The text to print for one replica's answer.
absl::StatusOr<std::string> Shown(const ExplainFlags& flags, const std::string& json) {
  ASSIGN_OR_RETURN(std::string text,
                   flags.shadow_report ? ShadowAnswer(json) : ExplainAnswer(json, flags.all));
  return flags.output == "text" ? text : JsonAs(flags.output, json);
}

// The error for a name that no replica has decided, with similar names that the replicas know.
absl::Status WithNearby(const ExplainFlags& flags, ServerAccess& server, const absl::Status& none) {
  std::vector<std::string> lists;
  for (size_t i = 0; i < server.replicas(); ++i) {
    if (auto list = server.Get(i, "/debug/decisions?limit=100000"); list.ok()) {
      lists.push_back(*std::move(list));
    }
  }
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler object, serve::ParseNamedAutoscaler(flags.object));
  return absl::NotFoundError(absl::StrCat(none.message(),
                                          DecidedNearby(lists, server.ns(), object.name),
                                          server.direct() ? "; or ask the other replicas" : ""));
}

// An autoscaler is decided by one replica, so the replicas are asked in turn until one knows it; it
// does not matter if others do not answer. Each replica has its own part of the shadow report.
absl::Status Explain(const ExplainFlags& flags, ServerAccess& server, const std::string& target) {
  absl::Status none, failed;
  bool found = false;
  for (size_t i = 0; i < server.replicas(); ++i) {
    const absl::StatusOr<std::string> json = server.Get(i, target);
    if (!json.ok()) {
      failed = json.status();
      continue;
    }
    const absl::StatusOr<std::string> shown = Shown(flags, *json);
    if (absl::IsNotFound(shown.status())) {
      none = shown.status();
      continue;
    }
    if (!shown.ok()) return shown.status();
    std::cout << *shown;
    found = true;
    if (!flags.shadow_report) break;
  }
  if (found) return flags.shadow_report ? failed : absl::OkStatus();
  if (none.ok()) return failed;
  if (flags.shadow_report) return failed.ok() ? none : failed;
  const absl::Status nearby = WithNearby(flags, server, none);
  if (failed.ok()) return nearby;
  return absl::NotFoundError(
      absl::StrCat(nearby.message(), "; not every replica answered: ", failed.message()));
}

// Returns after an error, or when the output is closed. It asks all replicas each time, since
// another one may have taken the autoscaler over.
absl::Status Watch(const ExplainFlags& flags, ServerAccess& server, const std::string& target) {
  Clock& clock = Clock::System();
  const bool never = false;
  absl::Mutex mutex;
  absl::Time after = absl::InfinitePast();
  while (std::cout.good()) {
    absl::Status failed;
    size_t answered = 0;
    for (size_t i = 0; i < server.replicas(); ++i) {
      const absl::StatusOr<std::string> json = server.Get(i, target);
      if (!json.ok()) {
        failed = json.status();
        continue;
      }
      ++answered;
      ASSIGN_OR_RETURN(const std::string text, NewDecisions(*json, after));
      std::cout << text << std::flush;
    }
    if (answered == 0) return failed;
    if (after == absl::InfinitePast()) {
      return WithNearby(flags, server,
                        absl::NotFoundError("this server has decided nothing for it"));
    }
    absl::MutexLock lock(&mutex);
    clock.Await(mutex, absl::Condition(&never), clock.MonotonicNow() + kWatchPeriod);
  }
  return absl::OkStatus();
}

absl::Status Answer(const ExplainFlags& flags) {
  RETURN_IF_ERROR(TargetFrom(flags, "").status());  // wrong arguments are refused without a cluster
  ASSIGN_OR_RETURN(ServerAccess server, ServerAccess::Find(flags, Clock::System()));
  ASSIGN_OR_RETURN(const std::string target, TargetFrom(flags, server.ns()));
  return flags.watch ? Watch(flags, server, target) : Explain(flags, server, target);
}

}  // namespace

int RunExplain(const Args& args) {
  CLI::App app("Asks a running flyball why an autoscaler has the count it has.", "flyball explain");
  ExplainFlags flags;
  app.add_option("object", flags.object, "hpa/NAME, autoscaler/NAME or NAME")
      ->type_name("KIND/NAME");
  AddServerFlags(app, flags);
  app.add_flag("--all", flags.all, "Print the earlier decisions in full too");
  app.add_flag("--shadow-report", flags.shadow_report,
               "Print how the HPA controller's decisions compare with those of mode shadow");
  CLI::Option* const watch = app.add_flag(
      "-w,--watch", flags.watch, "Print the newest decision, and each new one as it comes");
  AddOutput(app, flags.output, {"text", "json", "yaml"});
  for (const char* other : {"--all", "--shadow-report", "--output"}) watch->excludes(other);
  app.footer(ExitStatuses("the server cannot be asked or knows nothing of it"));
  if (const auto ended = Parse(app, args)) return *ended;
  if (flags.object.empty() == !flags.shadow_report) {
    return Fail("explain",
                absl::InvalidArgumentError("name one autoscaler, or ask for --shadow-report"));
  }
  const absl::Status status = Answer(flags);
  return status.ok() ? Print("") : Fail("explain", status);
}

}  // namespace flyball::cmd
