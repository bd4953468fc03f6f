#include "apiservice/endpoints/health.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apiservice/wire/text.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kShownBytes = 512;  // of names that a client sent

bool BelongsTo(const HealthCheck& check, absl::string_view endpoint) {
  return check.liveness || endpoint == "readyz";
}

}  // namespace

HealthChecks::HealthChecks(std::vector<HealthCheck> checks) {
  const auto always = [] { return absl::OkStatus(); };
  checks_ = {{"ping", always, true}, {"log", always, true}};
  for (HealthCheck& check : checks) checks_.push_back(std::move(check));
}

HealthAnswer HealthChecks::Run(absl::string_view endpoint, bool verbose,
                               const std::vector<std::string>& excluded) const {
  std::vector<std::string> unmatched = excluded;
  std::sort(unmatched.begin(), unmatched.end());
  unmatched.erase(std::unique(unmatched.begin(), unmatched.end()), unmatched.end());
  std::string lines;
  bool failed = false;
  for (const HealthCheck& check : checks_) {
    if (!BelongsTo(check, endpoint)) continue;
    const auto skip = std::find(unmatched.begin(), unmatched.end(), check.name);
    if (skip != unmatched.end()) {
      unmatched.erase(skip);
      absl::StrAppend(&lines, "[+]", check.name, " excluded: ok\n");
      continue;
    }
    const absl::Status status = check.check();
    if (status.ok()) {
      absl::StrAppend(&lines, "[+]", check.name, " ok\n");
    } else if (check.warning_only) {
      absl::StrAppend(&lines, "[!]", check.name, " warning: ", status.message(), "\n");
    } else {
      absl::StrAppend(&lines, "[-]", check.name, " failed: reason withheld\n");
      failed = true;
    }
  }
  if (!unmatched.empty()) {
    std::string names = absl::StrJoin(unmatched, "\",\"");
    wire::Shorten(kShownBytes, &names);
    absl::StrAppend(&lines, "warn: some health checks cannot be excluded: no matches for \"", names,
                    "\"\n");
  }
  if (failed) return {500, absl::StrCat(lines, endpoint, " check failed\n")};
  if (!verbose) return {200, "ok"};
  return {200, absl::StrCat(lines, endpoint, " check passed\n")};
}

HealthAnswer HealthChecks::RunOne(absl::string_view endpoint, absl::string_view name) const {
  for (const HealthCheck& check : checks_) {
    if (!BelongsTo(check, endpoint) || check.name != name) continue;
    const absl::Status status = check.check();
    if (status.ok() || check.warning_only) return {200, "ok"};
    return {500, absl::StrCat("internal server error: ", status.message(), "\n")};
  }
  return {404, ""};
}

std::vector<std::string> HealthChecks::Names(absl::string_view endpoint) const {
  std::vector<std::string> names;
  for (const HealthCheck& check : checks_) {
    if (BelongsTo(check, endpoint)) names.push_back(check.name);
  }
  return names;
}

}  // namespace flyball::apiservice
