#include "scaler/spec/schedules_read.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/one_line.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/scheduled_targets.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxAnnotation = 64 << 10;
constexpr size_t kMaxNodes = 1000;
constexpr size_t kMaxPauses = 64;  // each decision looks which of them are open

struct WrittenSchedule {
  std::string name, start, end, zone;
  int32_t priority = 0;
  std::optional<int32_t> min_replicas, max_replicas;
  std::map<std::string, std::string> targets;
  std::optional<bool> paused;
};
struct WrittenSchedules {
  std::vector<WrittenSchedule> all;
};

constexpr auto kScheduleFields = [](auto& field, WrittenSchedule& to) {
  field("name", to.name);
  field("start", to.start);
  field("end", to.end);
  field("timezone", to.zone);
  field.OrElse("priority", to.priority, 0);
  field("minReplicas", to.min_replicas);
  field("maxReplicas", to.max_replicas);
  field("targets", to.targets);
  field("paused", to.paused);
};
// What a window needs to pause.
constexpr auto kPauseFields = [](auto& field, WrittenSchedule& to) {
  field("start", to.start);
  field("end", to.end);
  field("timezone", to.zone);
  field("paused", to.paused);
};
constexpr auto kAllFields = [](auto& field, WrittenSchedules& to) {
  field("schedules", to.all, kScheduleFields);
};

std::optional<CronExpression> ReadExpression(const std::string& text, const std::string& field,
                                             FieldErrors& errors) {
  if (text.empty()) {
    errors.Required(field, "a cron expression of five fields");
    return std::nullopt;
  }
  absl::StatusOr<CronExpression> read = CronExpression::Parse(text);
  if (read.ok()) return *std::move(read);
  errors.Invalid(field, read.status().message());
  return std::nullopt;
}

// Checks both bounds as they are while this schedule alone is open.
void CheckBounds(const WrittenSchedule& written, const std::string& at,
                 const ScheduledObject& object, FieldErrors& errors) {
  const auto& [spec, triggers, least] = object;
  if (!written.min_replicas && !written.max_replicas && written.targets.empty() &&
      !written.paused) {
    errors.Required(at, "must set minReplicas, maxReplicas, targets or paused");
  }
  const int32_t min = written.min_replicas.value_or(spec.min_or_default());
  const int32_t max = written.max_replicas.value_or(spec.max_replicas);
  if (written.min_replicas.value_or(least) < least) {
    errors.Invalid(at + ".minReplicas", absl::StrCat("must be greater than or equal to ", least));
  }
  if (written.max_replicas.value_or(1) < 1) {
    errors.Invalid(at + ".maxReplicas", "must be greater than 0");
  }
  if ((written.min_replicas || written.max_replicas) && min > max) {
    errors.Invalid(at, absl::StrCat("while it is open minReplicas is ", min,
                                    ", more than maxReplicas, which is ", max));
  }
}

std::vector<ScheduledTarget> ReadTargets(const WrittenSchedule& written, const std::string& at,
                                         const ScheduledObject& object, FieldErrors& errors) {
  std::vector<ScheduledTarget> out;
  if (written.targets.size() > kMaxTargets) {
    errors.Invalid(at + ".targets", absl::StrCat("must have at most ", kMaxTargets, " items"));
    return out;
  }
  for (const auto& [name, amount] : written.targets) {
    out.push_back({.name = name, .amount = amount});
    const std::string problem = TargetProblem(out.back(), object.spec.metrics, object.triggers);
    if (problem.empty()) continue;
    errors.Invalid(absl::StrCat(at, ".targets[", BriefText(name), "]"), problem);
  }
  return out;
}

std::optional<ScheduleWindow> ReadOne(const WrittenSchedule& written, const std::string& at,
                                      FieldErrors& errors) {
  const auto start = ReadExpression(written.start, at + ".start", errors);
  const auto end = ReadExpression(written.end, at + ".end", errors);
  if (start && end && written.start == written.end) {
    errors.Invalid(at + ".end", "must differ from start");
  }
  absl::StatusOr<absl::TimeZone> zone = absl::UTCTimeZone();
  if (!written.zone.empty()) zone = LoadZone(written.zone);
  if (!zone.ok()) errors.Invalid(at + ".timezone", zone.status().message());
  if (!start || !end || !zone.ok()) return std::nullopt;
  return ScheduleWindow{.name = written.name,
                        .start = *start,
                        .end = *end,
                        .zone = *zone,
                        .priority = written.priority,
                        .min_replicas = written.min_replicas,
                        .max_replicas = written.max_replicas,
                        .targets = {},
                        .paused = written.paused};
}

std::vector<ScheduleWindow> ReadWindows(const Node& node, const std::string& list,
                                        const ScheduledObject& object, FieldErrors& errors) {
  Node document;
  document.kind = Node::Kind::kMap;
  document.members.push_back({.key = "schedules", .value = node});
  WrittenSchedules written;
  if (const absl::Status status = Decode(document, KeyMatch::kExact, written, kAllFields);
      !status.ok()) {
    errors.Invalid(list, status.message());
    return {};
  }
  if (written.all.size() > kMaxSchedules) {
    errors.Invalid(list, absl::StrCat("must have at most ", kMaxSchedules, " items"));
    return {};
  }
  std::vector<ScheduleWindow> windows;
  std::set<std::string> names;
  for (size_t i = 0; i < written.all.size(); ++i) {
    const WrittenSchedule& one = written.all[i];
    const std::string at = absl::StrCat(list, "[", i, "]");
    if (one.name.empty()) errors.Required(at + ".name", "what explanations call it");
    if (one.name.size() > kMaxName) errors.TooLong(at + ".name", kMaxName);
    if (!one.name.empty() && !names.insert(one.name).second) {
      errors.Invalid(at + ".name",
                     absl::StrCat("\"", BriefText(one.name), "\" names an earlier schedule"));
    }
    CheckBounds(one, at, object, errors);
    std::vector<ScheduledTarget> targets = ReadTargets(one, at, object, errors);
    if (auto window = ReadOne(one, at, errors)) {
      window->targets = std::move(targets);
      windows.push_back(*std::move(window));
    }
  }
  std::stable_sort(
      windows.begin(), windows.end(),
      [](const ScheduleWindow& a, const ScheduleWindow& b) { return a.priority > b.priority; });
  return windows;
}

// The windows that pause, as nothing but pauses. Each item is read for itself, so that one that is
// wrong, or one too many, ends no pause.
std::vector<ScheduleWindow> PausesOf(const Node& list) {
  std::vector<ScheduleWindow> pauses;
  for (const Node& item : list.items) {
    if (pauses.size() == kMaxPauses) break;
    WrittenSchedule written;
    const absl::Status status = Decode(item, KeyMatch::kExact, written, kPauseFields);
    if (!status.ok() || !written.paused.value_or(false)) continue;
    written.name = BriefText(item.FindText("name"), kMaxName);
    FieldErrors ignored;
    if (auto window = ReadOne(written, "", ignored)) pauses.push_back(*std::move(window));
  }
  return pauses;
}

}  // namespace

Schedules ReadSchedules(const WrittenTimes& written, const ScheduledObject& object,
                        FieldErrors& errors) {
  Schedules out;
  if (written.schedules != nullptr && !written.schedules->is_null()) {
    out.windows = ReadWindows(*written.schedules, written.schedules_field, object, errors);
  }
  if (written.paused_until == nullptr) return out;
  absl::Time until;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, *written.paused_until, &until, &error)) {
    out.paused_until = until;
  } else {
    errors.Invalid(written.paused_until_field, "must be a time like 2026-03-04T08:00:00Z");
  }
  return out;
}

Schedules ReadScheduleAnnotations(const Autoscaler& hpa, FieldErrors& errors) {
  const auto text_of = [&](absl::string_view name) -> const std::string* {
    const auto found = hpa.annotations.find(std::string(name));
    return found == hpa.annotations.end() ? nullptr : &found->second;
  };
  WrittenTimes written = {
      .paused_until = text_of(kPausedUntilAnnotation),
      .schedules_field = absl::StrCat("metadata.annotations[", kSchedulesAnnotation, "]"),
      .paused_until_field = absl::StrCat("metadata.annotations[", kPausedUntilAnnotation, "]")};
  std::vector<Node> documents;
  if (const std::string* text = text_of(kSchedulesAnnotation)) {
    // JSON is YAML too, while a list that begins with `[` need not be JSON.
    auto parsed = ParseYamlDocuments(*text, {.max_bytes = kMaxAnnotation, .max_nodes = kMaxNodes});
    if (parsed.ok() && parsed->size() == 1) {
      documents = *std::move(parsed);
      written.schedules = &documents.front();
    } else {
      errors.Invalid(written.schedules_field,
                     parsed.ok() ? "must be one list of schedules" : parsed.status().message());
    }
  }
  Schedules out = ReadSchedules(
      written, {.spec = hpa, .triggers = {}, .least = std::min(hpa.min_or_default(), 1)}, errors);
  if (!errors.empty()) {
    out.windows = documents.empty() ? std::vector<ScheduleWindow>() : PausesOf(documents.front());
  }
  return out;
}

}  // namespace flyball::scaler
