// flyball decide: the replica math on vectors, or what a controller would do with the autoscalers
// in files, and why. The code that reads and decides is in scaler/explain and scaler/vectors.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/decide_cluster.h"
#include "cmd/flyball/decide_flags.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"
#include "scaler/spec/shown_gates.h"
#include "scaler/vectors/vectors.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

// Exit statuses: 0 if all lines were answered, 1 if a line was bad, 2 if the command line or a file
// was.
int DecideVectors(const std::string& path, const scaler::DialectChoice& dialect) {
  std::ifstream file;
  if (path == "-") {
    std::ios::sync_with_stdio(false);
  } else {
    file.open(path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  const bool empty = in.peek() == std::istream::traits_type::eof();
  const size_t bad = scaler::AnswerLines(in, std::cout, dialect);
  if (&in == &file && (!file.is_open() || file.bad())) {  // bad: a folder, among other things
    std::fprintf(stderr, "flyball decide: cannot read %s\n", path.c_str());
    return kUsageError;
  }
  if (empty) {
    std::fprintf(stderr, "flyball decide: %s has no scenario\n", path.c_str());
    return kUsageError;
  }
  if (bad > 0) std::fprintf(stderr, "flyball decide: %zu bad lines\n", bad);
  return bad > 0 ? 1 : 0;
}

absl::StatusOr<scaler::ClusterSnapshot> ReadFiles(const std::vector<std::string>& paths) {
  scaler::ClusterSnapshot snapshot;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(path));
    RETURN_IF_ERROR(scaler::AddFile(path == "-" ? "stdin" : path, text, snapshot));
  }
  if (snapshot.autoscalers.empty() && snapshot.own_autoscalers.empty()) {
    std::string others;
    for (const auto& [kind, count] : snapshot.ignored) {
      absl::StrAppend(&others, others.empty() ? "; found only other kinds: " : ", ", kind);
    }
    return absl::NotFoundError(
        absl::StrCat("no HorizontalPodAutoscaler and no Autoscaler in the files", others));
  }
  return snapshot;
}

int FailWith(const absl::Status& why) {
  Fail("decide", why);
  return kUsageError;
}

int PrintDecisions(const std::vector<scaler::GivenCase>& cases, const DecideFlags& options) {
  std::string text;
  for (const scaler::GivenCase& given : cases) {
    if (options.output == "json") {
      text += scaler::ExplainJson(given);
    } else if (options.output == "yaml") {
      text += scaler::ExplainYaml(given);
    } else {
      absl::StrAppend(&text, text.empty() ? "" : "\n\n", scaler::ExplainText(given));
    }
  }
  return Print(text);
}

int DecideFiles(const DecideFlags& options) {
  const absl::StatusOr<scaler::ClusterSnapshot> snapshot = ReadFiles(options.files);
  if (!snapshot.ok()) return FailWith(snapshot.status());
  const scaler::CaseOptions case_options = CaseOptionsOf(options, Clock::System().WallNow());
  std::vector<scaler::GivenCase> cases;
  for (const scaler::Autoscaler& autoscaler : snapshot->autoscalers) {
    cases.push_back(scaler::DecideGiven(*snapshot, autoscaler, case_options));
  }
  for (const scaler::GivenOwnAutoscaler& own : snapshot->own_autoscalers) {
    cases.push_back(scaler::DecideGiven(*snapshot, own, case_options));
  }
  return PrintDecisions(cases, options);
}

absl::StatusOr<ReadSnapshot> ReadObject(const std::string& object, const ClusterFlags& flags) {
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler named, serve::ParseNamedAutoscaler(object));
  if (named.kind == scaler::AutoscalerKind::kOwn || named.name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("expected hpa/NAME, got ", object,
                                                   "; `flyball explain` tells of autoscalers"));
  }
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags, Clock::System()));
  ASSIGN_OR_RETURN(const auto server,
                   http::MakeHttpTransport(std::move(cluster.transport), Clock::System()));
  return ReadHpa(*server, Clock::System(), cluster.ns, named.name);
}

int DecideObject(const std::string& object, const ClusterFlags& flags, DecideFlags options) {
  const absl::StatusOr<ReadSnapshot> read = ReadObject(object, flags);
  if (!read.ok()) return FailWith(read.status());
  for (const std::string& gap : read->gaps) {
    std::fprintf(stderr, "flyball decide: warning: %s\n", gap.c_str());
  }
  // `serve` does the same, but looks at all HPAs of the cluster.
  if (scaler::ShowsScaleToZero(read->snapshot.autoscalers[0].status)) {
    options.dialect.choice =
        scaler::WithScaleToZeroShown(std::move(options.dialect.choice), read->server);
  }
  return PrintDecisions(
      {scaler::DecideGiven(read->snapshot, read->snapshot.autoscalers[0],
                           CaseOptionsOf(options, Clock::System().WallNow(), read->server))},
      options);
}

}  // namespace

int RunDecide(const Args& args) {
  CLI::App app("Decides replica counts as the HorizontalPodAutoscaler does.", "flyball decide");
  std::string vectors;
  CLI::Option* from_vectors =
      app.add_option("--vectors", vectors, "Scenarios, one a line; - is standard input")
          ->type_name("FILE|-");
  DecideFlags options;
  AddDecideFlags(app, options);
  CLI::Option* const from_files = app.get_option("--filename")->excludes(from_vectors);
  std::string object;
  ClusterFlags cluster;
  app.add_option("object", object, "Read this, and what it needs, from the cluster")
      ->excludes(from_vectors)
      ->excludes(from_files)
      ->type_name("hpa/NAME");
  AddClusterFlags(app, cluster, "Address of the API server");
  app.footer(ExitStatuses("a line of the vectors is bad"));
  if (const auto ended = Parse(app, args)) return *ended;
  if (const auto ended = ReadDialectFlags("decide", options.dialect)) return *ended;
  if (!vectors.empty()) return DecideVectors(vectors, options.dialect.choice);
  if (!options.files.empty()) return DecideFiles(options);
  if (!object.empty()) return DecideObject(object, cluster, options);
  return FailWith(absl::InvalidArgumentError(
      "name an hpa/NAME of the cluster, or give files with -f, or scenarios with --vectors"));
}

}  // namespace flyball::cmd
