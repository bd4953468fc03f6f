#include "scaler/spec/dialect.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"

namespace flyball::scaler {
namespace {

constexpr int kNever = 1000;

// A gate, with the minor versions from which on it exists, is on by default, and cannot be changed.
struct Gate {
  absl::string_view name;
  bool FeatureGates::*member;
  int since, on_since, locked_since;
};
constexpr Gate kGates[] = {
    {"HPAConfigurableTolerance", &FeatureGates::configurable_tolerance, 33, 35, 37},
    {"HPAScaleToZero", &FeatureGates::scale_to_zero, 16, 37, kNever},
    {"HPAGeneration", &FeatureGates::generation, 37, 37, kNever},
    {"HPAOptimizedSelectorStore", &FeatureGates::optimized_selector_store, 37, 37, kNever},
    {"PodLevelResources", &FeatureGates::pod_level_resources, 32, 34, kNever},
    {"DeclarativeValidationBeta", &FeatureGates::declarative_validation_beta, 36, 36, kNever},
};

const Gate* FindGate(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kGates), std::end(kGates),
                                   [name](const Gate& gate) { return gate.name == name; });
  return found == std::end(kGates) ? nullptr : found;
}

std::string VersionText(int minor) { return absl::StrCat("1.", minor); }

bool IsOnByDefault(const Gate& gate, int minor) { return minor >= gate.on_since; }

// Why the gate can't have that value in that version; "" if it can.
std::string Refusal(const Gate& gate, bool on, int minor) {
  if (minor < gate.since) {
    return absl::StrCat(gate.name, ": Kubernetes ", VersionText(minor), " has no such gate");
  }
  if (minor >= gate.locked_since && on != IsOnByDefault(gate, minor)) {
    return absl::StrCat(gate.name, ": Kubernetes ", VersionText(minor), " has locked it to ",
                        on ? "false" : "true");
  }
  return "";
}

absl::StatusOr<std::optional<int>> ParseVersion(absl::string_view text) {
  if (text == "auto") return std::optional<int>();
  absl::string_view digits = text;
  int minor = 0;
  if (!absl::ConsumePrefix(&digits, "1.") || !absl::SimpleAtoi(digits, &minor) ||
      minor < kOldestMinor || minor > kNewestMinor || VersionText(minor) != text) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kubernetes-version: expected auto or ", VersionText(kOldestMinor), " to ",
                     VersionText(kNewestMinor), ", got \"", text, "\""));
  }
  return std::optional<int>(minor);
}

std::string NamesOfGates() {
  return absl::StrJoin(kGates, ", ",
                       [](std::string* to, const Gate& gate) { absl::StrAppend(to, gate.name); });
}

absl::Status ParseGates(absl::string_view text, DialectChoice& out) {
  for (const absl::string_view setting : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<std::string> sides = absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const std::string name(absl::StripAsciiWhitespace(sides[0]));
    bool on = false;
    if (name.empty() || sides.size() != 2 ||
        !absl::SimpleAtob(absl::StripAsciiWhitespace(sides[1]), &on)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--feature-gates: expected Name=true or Name=false, got \"", setting, "\""));
    }
    if (FindGate(name) != nullptr) {
      out.gates[name] = on;
    } else if (name == "AllAlpha" || name == "AllBeta") {
      return absl::InvalidArgumentError(absl::StrCat(
          "--feature-gates: ", name, ": name the gates that it sets, of these: ", NamesOfGates()));
    } else if (absl::StartsWithIgnoreCase(name, "HPA")) {
      return absl::InvalidArgumentError(absl::StrCat("--feature-gates: there is no gate ", name,
                                                     "; those of autoscalers: ", NamesOfGates()));
    } else {
      out.other_gates.push_back(name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DialectChoice> ParseDialectChoice(absl::string_view version,
                                                 absl::string_view gates) {
  DialectChoice out;
  ASSIGN_OR_RETURN(out.minor, ParseVersion(version));
  RETURN_IF_ERROR(ParseGates(gates, out));
  if (!out.minor.has_value()) return out;
  for (const auto& [name, on] : out.gates) {
    const std::string refusal = Refusal(*FindGate(name), on, *out.minor);
    if (!refusal.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", refusal));
    }
  }
  return out;
}

Dialect DialectOf(const ServerVersion& server, const GateSettings& gates) {
  Dialect out;
  out.minor = std::clamp(server.minor, kOldestMinor, kNewestMinor);
  const int of_gates =
      std::clamp(server.emulated_minor.value_or(out.minor), kOldestMinor, kNewestMinor);
  for (const Gate& gate : kGates) {
    bool& on = out.gates.*gate.member;
    on = IsOnByDefault(gate, of_gates);
    const auto set = gates.find(std::string(gate.name));
    if (set != gates.end() && Refusal(gate, set->second, of_gates).empty()) on = set->second;
  }
  return out;
}

Dialect DialectOf(const DialectChoice& choice, const ServerVersion& seen) {
  if (!choice.minor.has_value()) return DialectOf(seen, choice.gates);
  return DialectOf(ServerVersion{.minor = *choice.minor, .emulated_minor = {}}, choice.gates);
}

std::string DialectText(const Dialect& dialect) {
  std::string out = VersionText(dialect.minor);
  absl::string_view before = " with ";
  for (const Gate& gate : kGates) {
    const bool on = dialect.gates.*gate.member;
    if (on == IsOnByDefault(gate, dialect.minor)) continue;
    absl::StrAppend(&out, before, gate.name, "=", on ? "true" : "false");
    before = ", ";
  }
  return out;
}

absl::StatusOr<ServerVersion> ParseServerVersion(absl::string_view json) {
  const auto document = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  // Some distributions write a minor version as "37+".
  const auto number = [&document](const char* name) -> std::optional<int> {
    const std::string text = kube::TextOf(document, name);
    int value = 0;
    if (!absl::SimpleAtoi(absl::StripSuffix(text, "+"), &value)) return {};
    return value;
  };
  const std::optional<int> major = number("major");
  const std::optional<int> minor = number("minor");
  if (major != 1 || !minor.has_value()) {
    return absl::InvalidArgumentError("/version names no version of Kubernetes 1");
  }
  return ServerVersion{.minor = *minor, .emulated_minor = number("emulationMinor")};
}

}  // namespace flyball::scaler
