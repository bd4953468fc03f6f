#include "serve/rule_file.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "serve/logging.h"

namespace flyball::serve {
namespace {

constexpr size_t kMaxRuleFileBytes = 16u << 20;

// Two rules are the same if they find the same series and ask the same of them.
std::multiset<std::string> Identities(const rules::CompiledRules& rules) {
  std::multiset<std::string> out;
  for (const auto* list : {&rules.custom, &rules.external}) {
    for (const auto& rule : *list) {
      out.insert(absl::StrCat(list == &rules.custom ? "" : "external ", rule->series_query, "\n",
                              rule->query.text()));
    }
  }
  return out;
}

std::vector<std::string> Others(const std::multiset<std::string>& from,
                                const std::multiset<std::string>& other) {
  std::vector<std::string> others;
  std::set_difference(from.begin(), from.end(), other.begin(), other.end(),
                      std::back_inserter(others));
  return others;
}

bool HasRules(const rules::CompiledRules& rules) {
  return !rules.custom.empty() || !rules.external.empty() || rules.resource.has_value();
}

// The series of the first few, each after the sign.
std::string SeriesOf(absl::string_view sign, const std::vector<std::string>& rules) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(rules.size(), kNamed); ++i) {
    absl::StrAppend(&text, i == 0 ? ": " : ", ", sign, rules[i].substr(0, rules[i].find('\n')));
  }
  return rules.size() > kNamed ? absl::StrCat(text, ", ...") : text;
}

std::string WhatChanged(const rules::CompiledRules& before, const rules::CompiledRules& now) {
  const auto old_ones = Identities(before), new_ones = Identities(now);
  const std::vector<std::string> added = Others(new_ones, old_ones);
  const std::vector<std::string> gone = Others(old_ones, new_ones);
  if (added.empty() && gone.empty()) return "with the same series and queries as before";
  return absl::StrCat(added.size(), " new or changed", SeriesOf("+", added), "; ", gone.size(),
                      " gone or changed", SeriesOf("-", gone));
}

}  // namespace

std::string CountedRules(const rules::CompiledRules& rules) {
  return absl::StrCat(Counted(rules.custom.size(), "rule"), ", ",
                      Counted(rules.external.size(), "external rule"),
                      rules.resource.has_value() ? ", resource rules" : "");
}

RuleFile::RuleFile(std::string path, Clock& clock, prometheus::Registry& metrics)
    : path_(std::move(path)),
      clock_(clock),
      success_(prometheus::BuildGauge()
                   .Name("flyball_rules_reload_success")
                   .Help("1 if the rule file as it is now is in force, 0 if it was refused.")
                   .Register(metrics)
                   .Add({})),
      last_success_(prometheus::BuildGauge()
                        .Name("flyball_rules_last_reload_success_timestamp_seconds")
                        .Help("When a rule file was last taken into force.")
                        .Register(metrics)
                        .Add({})),
      reloads_(prometheus::BuildCounter()
                   .Name("flyball_rules_reloads_total")
                   .Help("Readings of the rule file whose text had changed, by result.")
                   .Register(metrics)) {
  reloads_.Add({{"result", "success"}});
  reloads_.Add({{"result", "refused"}});
}

absl::StatusOr<std::unique_ptr<RuleFile>> RuleFile::Open(std::string path, Clock& clock,
                                                         prometheus::Registry& metrics) {
  auto file = absl::WrapUnique(new RuleFile(std::move(path), clock, metrics));
  std::vector<std::string> warnings;
  auto rules = file->Read(warnings);
  if (!rules.ok()) return rules.status();
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
  file->success_.Set(1);
  file->last_success_.Set(static_cast<double>(absl::ToUnixSeconds(clock.WallNow())));
  absl::MutexLock lock(&file->mutex_);
  file->rules_ = *std::move(rules);
  return file;
}

absl::StatusOr<RulesPtr> RuleFile::Read(std::vector<std::string>& warnings) const {
  auto text = ReadFile(path_, kMaxRuleFileBytes);
  if (!text.ok()) return text.status();
  const RulesPtr before = Rules();
  if (before != nullptr && HasRules(*before)) RETURN_IF_ERROR(HasNotBecomeEmpty(*text));
  rules::CompileResult result = rules::CompileRules(*text, path_);
  std::vector<std::string> errors;
  for (const rules::Finding& finding : result.findings) {
    if (finding.severity == rules::Finding::Severity::kError) {
      errors.push_back(finding.ToString());
    } else if (result.rules != nullptr) {
      warnings.push_back(finding.ToString());
    }
  }
  if (result.rules == nullptr) return absl::InvalidArgumentError(ProblemLines(std::move(errors)));
  return std::move(result.rules);
}

RulesPtr RuleFile::Rules() const {
  absl::MutexLock lock(&mutex_);
  return rules_;
}

absl::Status RuleFile::LastReload() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

void RuleFile::Watch(absl::Duration interval, std::function<void(RulesPtr)> on_rules) {
  {
    absl::MutexLock lock(&reload_mutex_);
    on_rules_ = std::move(on_rules);
  }
  watcher_ = std::make_unique<FileWatcher>(clock_, FileStamps({path_}), interval, [this] {
    Reload();
    return LastReload();
  });
  Reload();  // what changed between Open and the watcher's first look
}

void RuleFile::StopWatching() { watcher_.reset(); }

void RuleFile::Reload() {
  absl::MutexLock reload_lock(&reload_mutex_);
  std::vector<std::string> warnings;
  auto rules = Read(warnings);
  RulesPtr accepted, before;
  {
    absl::MutexLock lock(&mutex_);
    if (rules.ok() && last_.ok() && (*rules)->fingerprint == rules_->fingerprint) return;
    if (!rules.ok() && rules.status() == last_) return;
    last_ = rules.status();
    before = rules_;
    if (rules.ok()) accepted = rules_ = *rules;
  }
  success_.Set(rules.ok() ? 1 : 0);
  reloads_.Add({{"result", rules.ok() ? "success" : "refused"}}).Increment();
  if (accepted == nullptr) {
    LogErrorLines(absl::StrCat(path_, ": refused, the last good rules stay in force:\n",
                               rules.status().message()));
    return;
  }
  last_success_.Set(static_cast<double>(absl::ToUnixSeconds(clock_.WallNow())));
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
  spdlog::info("{}: {} now in force, {}", path_, CountedRules(*accepted),
               WhatChanged(*before, *accepted));
  if (on_rules_ != nullptr) on_rules_(accepted);
}

}  // namespace flyball::serve
