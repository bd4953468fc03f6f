// links: scaler_vectors_requests
//
// A scenario of scaling by requests of any bytes: an answer that is JSON, or an error, never a crash
// or an undefined conversion; counts are never negative, and what is bounded is within its bounds.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "scaler/vectors/requests/request_vectors.h"

namespace {

using Json = nlohmann::ordered_json;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckDecisions(const Json& out) {
  const Json& specs = out["specs"];
  for (const Json& decision : out["decisions"]) {
    if (decision["ok"] == false) Require(decision["n"] == 0 && decision["told"] == false);
    // Settings of one creation alone: with several it is not said here which of them count.
    if (specs.size() == 1 && specs[0]["max"] > 0 && specs[0]["max"] >= specs[0]["min"]) {
      Require(decision["b"] <= specs[0]["max"] && decision["b"] >= specs[0]["min"]);
    }
  }
}

// What would take long without telling anything new.
bool IsSmall(const Json& in) {
  for (const char* const count : {"replicas", "ready", "until_ms", "cc", "n"}) {
    const auto found = in.find(count);
    if (found != in.end() && found->is_number() && found->get<double>() > 1e6) return false;
  }
  const auto ticks = in.find("ticks");
  return ticks == in.end() || !ticks->is_array() || ticks->size() < 3 || !(*ticks)[1].is_number() ||
         (*ticks)[1].get<double>() < 1e6;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Json in = Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (!in.is_object() || !IsSmall(in)) return 0;
  const auto answer = flyball::scaler::AnswerRequestScenario(in);
  if (!answer.ok()) {
    Require(!answer.status().message().empty());
    return 0;
  }
  const Json& out = *answer;
  Require(!out.dump(-1, ' ', false, Json::error_handler_t::replace).empty());
  if (out["kind"] == "scale") CheckDecisions(out);
  if (out["kind"] == "throttle") {
    for (const Json& state : out["states"]) Require(state["running"] >= 0 && state["queued"] >= 0);
  }
  return 0;
}
