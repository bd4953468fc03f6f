#include "scaler/loop/autoscaler_gauges.h"

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

std::string Escaped(absl::string_view value) {
  return absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

// The numbers of one autoscaler; an absent one has no series.
struct Numbers {
  std::string labels;
  std::optional<int32_t> current, desired, unbounded, proposal;
  std::string metric;  // the one that made the proposal
  std::optional<double> age_seconds;
  absl::string_view reason;
};

// A deque, which copies nothing while it grows, so the autoscalers need not be counted first.
using NumbersOfAll = std::deque<Numbers>;

Numbers NumbersOf(const AutoscalerKey& key, const LoggedDecision& last) {
  const Decision& decision = last.decision;
  Numbers out;
  out.labels = absl::StrCat(
      "kind=\"", key.kind == AutoscalerKind::kHpa ? "HorizontalPodAutoscaler" : "Autoscaler",
      "\",namespace=\"", Escaped(key.ns), "\",autoscaler=\"", Escaped(key.name), "\"");
  out.reason = LimitingReason(decision);
  if (decision.outcome == Outcome::kScaleUnknown) return out;
  out.current = decision.current;
  out.desired = decision.count();
  if (decision.outcome != Outcome::kDecided) return out;
  out.unbounded = decision.recommendation;
  const std::optional<size_t> winner = decision.winner();
  if (!winner.has_value()) return out;
  out.proposal = decision.proposals[*winner].replicas;
  out.metric = Escaped(decision.proposals[*winner].name);
  if (last.sampled == absl::InfinitePast()) return out;
  out.age_seconds = absl::ToDoubleSeconds(last.last - last.sampled);
  return out;
}

// Writes the sample of one autoscaler, if it has one: `more` labels and the value.
struct Sample {
  absl::string_view more;
  std::string value;
};
using SampleOf = absl::FunctionRef<std::optional<Sample>(const Numbers&)>;

class FamilyWriter {
 public:
  FamilyWriter(const NumbersOfAll& all, std::string& out) : all_(all), out_(out) {}

  // `label`: the name of the additional label that the samples have, or "".
  void Write(absl::string_view name, absl::string_view help, absl::string_view label,
             SampleOf sample_of) {
    bool first = true;
    for (const Numbers& numbers : all_) {
      const std::optional<Sample> sample = sample_of(numbers);
      if (!sample.has_value()) continue;
      if (first) absl::StrAppend(&out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " gauge\n");
      first = false;
      absl::StrAppend(&out_, name, "{", numbers.labels);
      if (!label.empty()) absl::StrAppend(&out_, ",", label, "=\"", sample->more, "\"");
      absl::StrAppend(&out_, "} ", sample->value, "\n");
    }
  }
  void WriteCount(absl::string_view name, absl::string_view help,
                  std::optional<int32_t> Numbers::*count) {
    Write(name, help, "", [count](const Numbers& numbers) -> std::optional<Sample> {
      if (!(numbers.*count).has_value()) return std::nullopt;
      return Sample{"", absl::StrCat(*(numbers.*count))};
    });
  }

 private:
  const NumbersOfAll& all_;
  std::string& out_;
};

// Enough for all lines, so that the text is not copied while it grows.
size_t BytesOf(const NumbersOfAll& all) {
  constexpr size_t kSeries = 6, kNameAndValue = 60;
  size_t bytes = 2000;  // what each family begins with
  for (const Numbers& one : all) {
    bytes += kSeries * (one.labels.size() + kNameAndValue) + one.metric.size();
  }
  return bytes;
}

}  // namespace

void AppendAutoscalerGauges(const DecisionLog& log, std::string& out) {
  NumbersOfAll all;
  log.ForEachNewest([&](const AutoscalerKey& key, const LoggedDecision& last) {
    all.push_back(NumbersOf(key, last));
  });
  out.reserve(out.size() + BytesOf(all));
  FamilyWriter writer(all, out);
  writer.WriteCount("flyball_autoscaler_current_replicas",
                    "Replicas that the target had when the autoscaler was last decided",
                    &Numbers::current);
  writer.WriteCount("flyball_autoscaler_desired_replicas",
                    "Replicas that were decided, after stabilization windows, policies and bounds",
                    &Numbers::desired);
  writer.WriteCount(
      "flyball_autoscaler_unbounded_replicas",
      "Replicas that the load asks for, before stabilization windows, policies and bounds",
      &Numbers::unbounded);
  writer.Write("flyball_autoscaler_proposal_replicas",
               "Replicas that the metric which decided asks for", "metric",
               [](const Numbers& numbers) -> std::optional<Sample> {
                 if (!numbers.proposal.has_value()) return std::nullopt;
                 return Sample{numbers.metric, absl::StrCat(*numbers.proposal)};
               });
  writer.Write("flyball_autoscaler_reading_age_seconds",
               "Age in seconds of the reading that decided, when it was last decided", "",
               [](const Numbers& numbers) -> std::optional<Sample> {
                 if (!numbers.age_seconds.has_value()) return std::nullopt;
                 return Sample{"", absl::StrCat(*numbers.age_seconds)};
               });
  writer.Write("flyball_autoscaler_limited",
               "Always 1; its label says what kept the count from being what the load asks for",
               "reason", [](const Numbers& numbers) {
                 return std::optional<Sample>({numbers.reason, "1"});
               });
}

}  // namespace flyball::scaler
