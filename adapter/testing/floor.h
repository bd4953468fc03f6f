// The whole adapter on fakes and one thread, for tests: rules in, answers out.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapter/answering.h"
#include "adapter/custom_provider.h"
#include "adapter/external_provider.h"
#include "adapter/relist.h"
#include "adapter/resource_provider.h"
#include "adapter/testing/fakes.h"
#include "base/clock.h"
#include "base/worker_pool.h"
#include "gtest/gtest.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

inline std::shared_ptr<const rules::CompiledRules> CompileOrDie(const std::string& text) {
  rules::CompileResult result = rules::CompileRules(text, "test.yaml");
  for (const rules::Finding& finding : result.findings) {
    if (finding.severity == rules::Finding::Severity::kError) ADD_FAILURE() << finding.ToString();
  }
  return result.rules;
}

inline std::string ReadRules(const std::string& name) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/rules/", name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Series queries run inside Step; nothing happens by itself.
class TestFloor {
 public:
  struct Options {
    BatcherOptions queries = {};
    NanValue nan_value = NanValue::kZero;
    RelistOptions relist = {};
  };

  explicit TestFloor(const Options& options)
      : relister_({.source = source,
                   .directory = directory,
                   .clock = clock,
                   .metrics = nullptr,
                   .run = [](const std::function<void()>& task) { task(); },
                   .wake = [] {}},
                  options.relist),
        batcher_(source, clock, options.queries, nullptr),
        merge_(options.queries.merge),
        values_(options.nan_value, clock, nullptr),
        complaints_(clock, absl::Seconds(10)),
        failures_(clock, complaints_, nullptr) {}

  // Puts the rules in and does one round of discovery.
  void Load(std::shared_ptr<const rules::CompiledRules> rules) {
    rules_ = std::move(rules);
    relister_.SetRules(rules_);
    relister_.Step();
  }

  Answering answering() {
    return {relister_, directory, batcher_, values_, clock, complaints_, failures_};
  }
  CustomProvider custom() { return CustomProvider(answering()); }
  ExternalProvider external() { return ExternalProvider(answering()); }
  ResourceProvider resource() {
    return ResourceProvider({.answering = answering(), .pool = pool_, .merge = merge_},
                            *rules_->resource);
  }
  Relister& relister() { return relister_; }
  QueryBatcher& batcher() { return batcher_; }

  SimulatedClock clock{absl::FromUnixMillis(1700000000900)};
  FakeSource source;
  FakeDirectory directory;

 private:
  std::shared_ptr<const rules::CompiledRules> rules_;
  Relister relister_;
  QueryBatcher batcher_;
  const bool merge_;
  ValueGuard values_;
  LogLimiter complaints_;
  RuleFailures failures_;
  WorkerPool pool_{4};
};

}  // namespace flyball::adapter
