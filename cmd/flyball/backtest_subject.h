// The autoscaler that `flyball backtest` decides again, with its rules and its math: from files, or
// from a cluster.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backtest/history.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flyball/rules_at_hand.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/math_config.h"
#include "scaler/spec/dialect.h"
#include "scaler/spec/schedules.h"

namespace flyball::cmd {

struct BacktestSubject {
  scaler::Autoscaler autoscaler;  // as it is written
  scaler::Schedules schedules;    // without `paused until`, which concerns only the present
  bool own_kind = false;          // an Autoscaler (CRD)
  scaler::Pod pod;
  std::vector<std::string> notes;  // which parts of it are not decided again
  RulesAtHand rules;
  scaler::ServerVersion server = scaler::kNewestServer;  // the cluster's
  bool near_server = false;  // this runs in a pod, and rules.server names the Prometheus to ask
};

// The one HPA or Autoscaler of a snapshot, without rules.
//   kInvalidArgument  there is not exactly one, or it has triggers
absl::StatusOr<BacktestSubject> SubjectOf(const scaler::ClusterSnapshot& snapshot);

// kInvalidArgument also where a file cannot be read. `config` is the rule file.
absl::StatusOr<BacktestSubject> SubjectOfFiles(const std::vector<std::string>& files,
                                               const std::string& config);
// `object` is hpa/NAME. Without a `config` the rules are the server's.
absl::StatusOr<BacktestSubject> SubjectOfCluster(const std::string& object,
                                                 const std::string& config,
                                                 const ClusterFlags& flags);

// The math that decides it. Settings that the flags leave open are those of the server, and the
// version is the cluster's.
scaler::MathConfig MathFor(const BacktestSubject& subject, const scaler::ControllerFlags& flags,
                           scaler::DialectChoice choice);
// How NaN counts; `flag` is zero, drop, or "" for the server's setting.
adapter::NanValue NanFor(const BacktestSubject& subject, const std::string& flag);

}  // namespace flyball::cmd
