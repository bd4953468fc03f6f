#include "scaler/inputs/pod_json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/inputs/document_reader.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {
namespace {

std::string Describe(const ResourceList& list) {
  std::string out;
  for (const auto& [name, quantity] : list) {
    absl::StrAppend(&out, name, "=", quantity.ToString(), ",");
  }
  return out;
}

std::string Describe(const std::vector<Container>& containers) {
  std::string out;
  for (const Container& c : containers) {
    absl::StrAppend(&out, c.name, "(", Describe(c.requests), c.restarts_always, ")");
  }
  return out;
}

// Everything that a Pod holds, as text.
std::string Describe(const Pod& pod) {
  std::string out = absl::StrCat(pod.ns, "/", pod.name, " ", pod.deleting, " ",
                                 static_cast<int>(pod.phase), " labels:");
  for (const auto& [key, value] : pod.labels) absl::StrAppend(&out, key, "=", value, ",");
  if (pod.start_time.has_value()) {
    absl::StrAppend(&out, " start:", absl::FormatTime(*pod.start_time, absl::UTCTimeZone()));
  }
  if (pod.ready.has_value()) {
    absl::StrAppend(&out, " ready:", static_cast<int>(pod.ready->status), "@",
                    absl::FormatTime(pod.ready->last_transition_time, absl::UTCTimeZone()));
  }
  absl::StrAppend(&out, " containers:", Describe(pod.containers),
                  " init:", Describe(pod.init_containers));
  if (pod.pod_requests.has_value()) absl::StrAppend(&out, " pod:", Describe(*pod.pod_requests));
  absl::StrAppend(&out, " overhead:", Describe(pod.overhead));
  return out;
}

// Expects the same pod, or a refusal, from both readers.
void ExpectSame(const std::string& json) {
  const absl::StatusOr<Node> node = ParseJson(json);
  ASSERT_TRUE(node.ok()) << json;
  const absl::StatusOr<Pod> slow = ReadPod(*node);
  PodJsonReader reader;
  Pod fast;
  const absl::Status status = reader.Read(json, fast);
  EXPECT_EQ(status.ok(), slow.ok()) << json << "\n" << status << "\n" << slow.status();
  if (!status.ok() || !slow.ok()) return;
  EXPECT_EQ(Describe(fast), Describe(*slow)) << json;
}

TEST(PodJson, ReadsWhatTheSlowReaderReads) {
  const char* const pods[] = {
      R"({"metadata":{"name":"a"}})",
      R"({"metadata":{"name":"a","namespace":"n","labels":{"app":"web","x":""}},"spec":null})",
      R"({"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z"},"metadata":{"name":"a"}})",
      R"({"metadata":{"name":"a","deletionTimestamp":null,"labels":null}})",
      R"({"metadata":{"name":"a","labels":{"k":null,"l":""}}})",
      R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})",
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":
          {"cpu":"100m","memory":1024,"x":1.5 }}}],"overhead":{"cpu":"5m"}}})",
      R"({"metadata":{"name":"a"},"spec":{"resources":{},"initContainers":[{"name":"i",
          "restartPolicy":"Always"},{"name":"j","restartPolicy":null,"resources":null}]}})",
      R"({"metadata":{"name":"a"},"spec":{"resources":{"requests":{"cpu":"2"}}}})",
      R"({"metadata":{"name":"a"},"status":{"conditions":[{"type":"PodScheduled","status":"True"},
          {"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:01.5Z"},
          {"type":"Ready","status":"True"}]}})",
      R"({"metadata":{"name":"a"},"status":{"conditions":[{"status":"Unknown","type":"Ready"}]}})",
      R"({"metadata":{"name":"a\u0041","labels":{"k":"\u00e9"}},"kind":"Pod","extra":[[1],{}]})",
      R"({"metadata":{"name":"a"},"status":{"phase":7}})",
      R"({"metadata":{"name":"a"},"spec":{"containers":{}}})",
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}})",
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":[]}}}]}})",
      R"({"metadata":{"name":"a"},"status":{"startTime":"yesterday"}})",
  };
  for (const char* pod : pods) ExpectSame(pod);
}

TEST(PodJson, AgreesWithTheSlowReaderOnManyPods) {
  std::mt19937 random(7);
  const auto any = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  for (int i = 0; i < 2000; ++i) {
    const auto container = [&] {
      return absl::StrCat(
          R"({"name":")", any({"app", "log", "c"}), R"(")",
          any({"", R"(,"restartPolicy":"Always")", R"(,"restartPolicy":"Never")"}),
          any({"", R"(,"resources":{})", R"(,"resources":{"requests":{"cpu":"250m"}})",
               R"(,"resources":{"limits":{"cpu":"1"},"requests":{"memory":"1Gi","cpu":2}})"}),
          "}");
    };
    ExpectSame(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-)", i, R"(","namespace":")",
        any({"shop", "prod"}), R"(","uid":"u")",
        any({"", R"(,"labels":{})", R"(,"labels":{"app":"web","tier":"x"})"}),
        any({"", R"(,"deletionTimestamp":"2026-01-01T10:00:00Z")"}), R"(},"spec":{"containers":[)",
        container(), ",", container(), "]",
        any({"", R"(,"resources":{"requests":{"cpu":"3"}})", R"(,"overhead":{"memory":"10Mi"})"}),
        random() % 3 == 0 ? absl::StrCat(R"(,"initContainers":[)", container(), "]") : "",
        R"(},"status":{"phase":")", any({"Pending", "Running", "Succeeded", "Failed", "Odd"}),
        R"(")", any({"", R"(,"startTime":"2026-01-01T00:00:00Z")", R"(,"startTime":null)"}),
        any({"", R"(,"conditions":[])",
             R"(,"conditions":[{"type":"Ready","status":"True",
                 "lastTransitionTime":"2026-01-01T00:00:09Z","message":"m"}])"}),
        "}}"));
  }
}

TEST(PodJson, RefusesWhatIsNoPod) {
  PodJsonReader reader;
  Pod pod;
  for (const char* text : {"", "[]", "7", "{", R"({"metadata":{}})", R"({"metadata":[]})"}) {
    EXPECT_EQ(reader.Read(text, pod).code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace flyball::scaler
