#include "cmd/flyball/backtest_subject.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flags/dialect_flags.h"
#include "cmd/flyball/decide_cluster.h"
#include "http/client/transport.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/spec/shown_gates.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

// The schedules of an HPA's annotations. If they are wrong only their pauses, as in `serve`.
scaler::Schedules SchedulesOf(const scaler::Autoscaler& hpa, std::vector<std::string>& notes) {
  scaler::FieldErrors errors;
  scaler::Schedules schedules = scaler::ReadScheduleAnnotations(hpa, errors);
  const std::vector<scaler::FieldError> found = std::move(errors).Sorted();
  for (const scaler::FieldError& error : found) {
    notes.push_back(absl::StrCat("of its schedules only pauses are followed: ", error.ToString()));
  }
  if (!schedules.windows.empty()) {
    notes.push_back(
        absl::StrCat("the ", found.empty() ? "schedules" : "pauses",
                     " of its annotation are followed, as in the modes act and advise"));
  }
  return schedules;
}

void TakeOwn(const scaler::GivenOwnAutoscaler& given, BacktestSubject& out) {
  const scaler::OwnSpec& own = given.own;
  out.own_kind = true;
  out.autoscaler = given.autoscaler;
  out.schedules = own.schedules;
  if (own.paused) out.notes.push_back("it is paused, and decided as if it were not");
  if (std::any_of(own.metric_fallbacks.begin(), own.metric_fallbacks.end(),
                  [](const auto& fallback) { return fallback.has_value(); })) {
    out.notes.push_back(
        "the fallbacks of its metrics are left out: while a metric is unknown, the count does not "
        "fall");
  }
}

// The flags, with what they leave at its default as the server has it.
scaler::ControllerFlags OrElse(scaler::ControllerFlags flags,
                               const scaler::ControllerFlags& server) {
  const scaler::ControllerFlags none;
  const auto take = [&](auto scaler::ControllerFlags::*field) {
    if (flags.*field == none.*field) flags.*field = server.*field;
  };
  take(&scaler::ControllerFlags::tolerance);
  take(&scaler::ControllerFlags::downscale_stabilization);
  take(&scaler::ControllerFlags::cpu_initialization_period);
  take(&scaler::ControllerFlags::initial_readiness_delay);
  return flags;
}

}  // namespace

absl::StatusOr<BacktestSubject> SubjectOf(const scaler::ClusterSnapshot& snapshot) {
  if (snapshot.autoscalers.size() + snapshot.own_autoscalers.size() != 1) {
    return absl::InvalidArgumentError("expected one HorizontalPodAutoscaler or one Autoscaler");
  }
  if (!snapshot.own_autoscalers.empty() && !snapshot.own_autoscalers[0].own.triggers.empty()) {
    return absl::InvalidArgumentError(
        "an Autoscaler with triggers cannot be decided again: what they read is not in Prometheus");
  }
  BacktestSubject out;
  if (snapshot.autoscalers.empty()) {
    TakeOwn(snapshot.own_autoscalers[0], out);
  } else {
    out.autoscaler = snapshot.autoscalers[0];
    out.schedules = SchedulesOf(out.autoscaler, out.notes);
  }
  // All of the past is before that time.
  if (out.schedules.paused_until.has_value()) {
    out.schedules.paused_until.reset();
    out.notes.push_back("it is paused until some time, and decided as if it were not");
  }
  if (!snapshot.pods.empty()) out.pod = snapshot.pods[0];
  return out;
}

absl::StatusOr<BacktestSubject> SubjectOfFiles(const std::vector<std::string>& files,
                                               const std::string& config) {
  scaler::ClusterSnapshot snapshot;
  for (const std::string& path : files) {
    const absl::StatusOr<std::string> text = ReadFileOrStdin(path);
    if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
    RETURN_IF_ERROR(scaler::AddFile(path == "-" ? "stdin" : path, *text, snapshot));
  }
  ASSIGN_OR_RETURN(BacktestSubject out, SubjectOf(snapshot));
  if (config.empty()) return absl::InvalidArgumentError("--filename needs --config");
  ASSIGN_OR_RETURN(out.rules, RulesOfFile(config, ""));
  return out;
}

absl::StatusOr<BacktestSubject> SubjectOfCluster(const std::string& object,
                                                 const std::string& config,
                                                 const ClusterFlags& flags) {
  Clock& clock = Clock::System();
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler named, serve::ParseNamedAutoscaler(object));
  if (named.kind == scaler::AutoscalerKind::kOwn || named.name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected hpa/NAME, got ", object,
                     "; an Autoscaler can be given as a file, with --filename"));
  }
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags, clock));
  const bool inside = cluster.inside;
  const std::string url = cluster.transport.url, ns = cluster.ns;
  ASSIGN_OR_RETURN(const auto server, http::MakeHttpTransport(std::move(cluster.transport), clock));
  ASSIGN_OR_RETURN(const ReadSnapshot read, ReadHpa(*server, clock, ns, named.name));
  ASSIGN_OR_RETURN(BacktestSubject out, SubjectOf(read.snapshot));
  out.server = read.server;
  out.near_server = inside && config.empty();
  if (config.empty()) {
    ASSIGN_OR_RETURN(out.rules, RulesOfCluster(*server, url, clock));
  } else {
    ASSIGN_OR_RETURN(out.rules, RulesOfFile(config, ""));
  }
  return out;
}

scaler::MathConfig MathFor(const BacktestSubject& subject, const scaler::ControllerFlags& flags,
                           scaler::DialectChoice choice) {
  const scaler::ScalerOptions server = serve::ScalerOptionsFrom(subject.rules.server.scaler);
  choice = cmd::OrElse(std::move(choice), server.dialect);
  if (scaler::ShowsScaleToZero(subject.autoscaler.status)) {
    choice = scaler::WithScaleToZeroShown(std::move(choice), subject.server);
  }
  const scaler::MathConfig config = scaler::MathConfigOf(OrElse(flags, server.controller),
                                                         scaler::DialectOf(choice, subject.server));
  return subject.own_kind ? scaler::ForOwnKind(config) : config;
}

adapter::NanValue NanFor(const BacktestSubject& subject, const std::string& flag) {
  const std::string& word = flag.empty() ? subject.rules.server.nan_value : flag;
  return word == "drop" ? adapter::NanValue::kDrop : adapter::NanValue::kZero;
}

}  // namespace flyball::cmd
