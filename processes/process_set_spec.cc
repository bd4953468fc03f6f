#include "processes/process_set_spec.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::processes {
namespace {

using scaler::Node;

constexpr absl::Duration kMaxGrace = absl::Hours(1);
constexpr size_t kMaxWords = 1000;

absl::Status Bad(const Node& at, absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", at.line, ": spec.", field, ": ", what));
}

absl::Status ReadText(const Node& value, absl::string_view field, std::string& to) {
  if (value.kind != Node::Kind::kString) {
    return Bad(value, field, absl::StrCat("a string was expected, not ", KindName(value.kind)));
  }
  if (absl::StrContains(value.text, '\0')) return Bad(value, field, "it has a zero byte");
  to = value.text;
  return absl::OkStatus();
}

absl::Status ReadNumber(const Node& value, absl::string_view field, int32_t most, int32_t& to) {
  if (value.kind != Node::Kind::kNumber || !absl::SimpleAtoi(value.text, &to) || to < 0 ||
      to > most) {
    return Bad(value, field, absl::StrCat("a whole number from 0 to ", most, " was expected"));
  }
  return absl::OkStatus();
}

absl::Status ReadTexts(const Node& value, absl::string_view field,
                       std::map<std::string, std::string>& to) {
  if (!value.is_map()) return Bad(value, field, "a map of strings was expected");
  if (value.members.size() > kMaxWords) return Bad(value, field, "it has too many entries");
  for (const scaler::Member& member : value.members) {
    if (member.key.empty() || absl::StrContains(member.key, '=')) {
      return Bad(member.value, field, "a name is empty or contains =");
    }
    RETURN_IF_ERROR(ReadText(member.value, absl::StrCat(field, ".", member.key), to[member.key]));
  }
  return absl::OkStatus();
}

absl::Status ReadCommand(const Node& value, std::vector<std::string>& to) {
  if (!value.is_list() || value.items.empty() || value.items.size() > kMaxWords) {
    return Bad(value, "command", "a list of words was expected, the first of them the program");
  }
  for (const Node& word : value.items) {
    RETURN_IF_ERROR(ReadText(word, "command", to.emplace_back()));
  }
  return to[0].empty() ? Bad(value, "command", "the program has no name") : absl::OkStatus();
}

absl::Status ReadReadiness(const Node& value, Readiness& to) {
  const Node* http = value.Find("http");
  const Node* tcp = value.Find("tcp");
  if (value.members.size() == 1 && http != nullptr) {
    to.check = Readiness::Check::kHttp;
    RETURN_IF_ERROR(ReadText(*http, "readiness.http", to.path));
    const bool path =
        absl::StartsWith(to.path, "/") && to.path.find_first_of(" \r\n") == to.path.npos;
    return path ? absl::OkStatus() : Bad(*http, "readiness.http", "a path was expected, as /ready");
  }
  if (value.members.size() == 1 && tcp != nullptr && tcp->boolean) {
    to.check = Readiness::Check::kTcp;
    return absl::OkStatus();
  }
  return Bad(value, "readiness", "either {http: PATH} or {tcp: true} was expected");
}

absl::Status ReadGrace(const Node& value, absl::Duration& to) {
  std::string text;
  RETURN_IF_ERROR(ReadText(value, "gracePeriod", text));
  if (!absl::ParseDuration(text, &to) || to < absl::ZeroDuration() || to > kMaxGrace) {
    return Bad(value, "gracePeriod", "a duration from 0s to 1h was expected");
  }
  return absl::OkStatus();
}

absl::Status ReadField(const std::string& name, const Node& value, ProcessSetSpec& spec) {
  if (name == "replicas") return ReadNumber(value, name, kMaxReplicas, spec.replicas);
  if (name == "command") return ReadCommand(value, spec.command);
  if (name == "env") return ReadTexts(value, name, spec.env);
  if (name == "workingDirectory") return ReadText(value, name, spec.working_directory);
  if (name == "labels") return ReadTexts(value, name, spec.labels);
  if (name == "port") return ReadNumber(value, name, 65535 - kMaxReplicas, spec.port);
  if (name == "metricsPath") return ReadText(value, name, spec.metrics_path);
  if (name == "readiness") return ReadReadiness(value, spec.readiness);
  if (name == "gracePeriod") return ReadGrace(value, spec.grace_period);
  return Bad(value, name, "there is no such field");
}

}  // namespace

absl::StatusOr<ProcessSetSpec> ReadProcessSet(const Node& object) {
  ProcessSetSpec spec;
  const Node* metadata = object.Find("metadata");
  if (metadata != nullptr) {
    spec.name = std::string(metadata->FindText("name"));
    spec.ns = std::string(metadata->FindText("namespace"));
  }
  if (spec.ns.empty()) spec.ns = "default";
  const Node* fields = object.Find("spec");
  if (fields == nullptr || !fields->is_map() || fields->Find("command") == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", object.line, ": spec.command is needed"));
  }
  for (const scaler::Member& member : fields->members) {
    RETURN_IF_ERROR(ReadField(member.key, member.value, spec));
  }
  const bool needs_port =
      spec.readiness.check != Readiness::Check::kNone || !spec.metrics_path.empty();
  if (needs_port && spec.port == 0) {
    return Bad(*fields, "port", "readiness and metricsPath need it");
  }
  if (spec.labels.empty()) spec.labels = {{"app", spec.name}};
  return spec;
}

std::string NameOfReplica(const ProcessSetSpec& spec, int32_t index) {
  return absl::StrCat(spec.name, "-", index);
}

int32_t PortOfReplica(const ProcessSetSpec& spec, int32_t index) {
  return spec.port == 0 ? 0 : spec.port + index;
}

std::map<std::string, std::string> EnvironmentOf(const ProcessSetSpec& spec, int32_t index) {
  std::map<std::string, std::string> out = {{"NAME", NameOfReplica(spec, index)},
                                            {"INDEX", absl::StrCat(index)}};
  if (spec.port != 0) out["PORT"] = absl::StrCat(PortOfReplica(spec, index));
  const std::map<std::string, std::string> given = out;
  for (const auto& [name, value] : spec.env) out[name] = Expand(value, given);
  return out;
}

std::string Expand(const std::string& text, const std::map<std::string, std::string>& environment) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text.find(')', i);
    if (text[i] == '$' && text[i + 1] == '$') {  // text[i + 1] exists: a string ends in a zero byte
      out += text[++i];
    } else if (text[i] == '$' && text[i + 1] == '(' && end != text.npos) {
      const auto found = environment.find(text.substr(i + 2, end - i - 2));
      if (found == environment.end()) {
        out += text[i];
        continue;
      }
      out += found->second;
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace flyball::processes
