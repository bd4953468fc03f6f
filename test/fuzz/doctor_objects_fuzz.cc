// Objects of a cluster and certificates as the doctor reads them: nothing that they hold reaches a
// terminal's control, and the report stays JSON.
// links: doctor
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "doctor/certificate.h"
#include "doctor/finding.h"
#include "doctor/objects.h"

namespace {

using flyball::doctor::Findings;

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Findings findings;
  findings.Bad("text", text, text);
  if (const auto api = flyball::doctor::ReadApiService(text); api.ok()) {
    Require(!api->name.empty());
    findings.Good("api", api->name + api->message);
  }
  if (const auto pod = flyball::doctor::ReadServerPod(text); pod.ok()) {
    findings.Doubt("pod", pod->trouble, pod->config_map);
  }
  if (const auto endpoints = flyball::doctor::ReadEndpoints(text); endpoints.ok()) {
    Require(endpoints->ready >= 0 && endpoints->unready >= 0);
  }
  if (const auto service = flyball::doctor::ReadService(text); service.ok()) {
    findings.Good("service", service->selector);
  }
  (void)flyball::doctor::ReadConfigKey(text, "config.yaml");
  (void)flyball::doctor::ReadVersion(text);
  (void)flyball::doctor::ReadPreferredVersion(text);
  (void)flyball::doctor::ReadResourceNames(text);
  (void)flyball::doctor::ReadAllowed(text);
  (void)flyball::doctor::ReadMetricValues(text);
  (void)flyball::doctor::ReadPodUsage(text, "cpu", "");
  if (const auto read = flyball::doctor::ReadCertificates(text); read.ok()) {
    findings.Good("certificate", read->front().subject);
    (void)flyball::doctor::WhyNotTrusted(text, text, "a.b.svc", absl::UnixEpoch());
  }

  const flyball::doctor::Report report = {{text, findings}};
  for (const char c : flyball::doctor::ReportText(report)) {
    Require(c == '\n' || !absl::ascii_iscntrl(static_cast<unsigned char>(c)));
  }
  const std::string json = flyball::doctor::ReportJson(report);
  Require(nlohmann::json::accept(json));
  return 0;
}
