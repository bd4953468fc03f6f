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
#include "doctor/target_object.h"

namespace {

namespace doctor = flyball::doctor;

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  doctor::Findings findings = {doctor::Bad("text", text, text)};
  if (const auto api = doctor::ReadApiService(text); api.ok()) {
    Require(!api->name.empty());
    findings.push_back(doctor::Good("api", api->name + api->message));
  }
  if (const auto pod = doctor::ReadServerPod(text); pod.ok()) {
    findings.push_back(doctor::Doubt("pod", pod->trouble, pod->config_map));
  }
  if (const auto endpoints = doctor::ReadEndpoints(text); endpoints.ok()) {
    Require(endpoints->ready >= 0);
  }
  if (const auto service = doctor::ReadService(text); service.ok()) {
    findings.push_back(doctor::Good("service", service->selector));
  }
  if (const auto target = doctor::ReadTargetObject(text); target.ok()) {
    findings.push_back(doctor::Bad("target", target->replica_failure, target->uid));
  }
  if (const auto pod = doctor::ReadPodOrigin(text); pod.ok()) {
    findings.push_back(doctor::Bad("origin", pod->unschedulable, pod->controller_uid));
  }
  (void)doctor::ReadConfigKey(text, "config.yaml");
  (void)doctor::ReadVersion(text);
  (void)doctor::ReadPreferredVersion(text);
  (void)doctor::ReadResourceNames(text);
  (void)doctor::ReadAllowed(text);
  (void)doctor::ReadMetricValues(text);
  (void)doctor::ReadPodUsage(text, "cpu", "");
  if (const auto read = doctor::ReadValidity(text); read.ok()) {
    findings.push_back(doctor::Good("certificate", absl::FormatTime(read->not_after)));
    (void)doctor::WhyNotTrusted(text, text, "a.b.svc", absl::UnixEpoch());
  }

  const doctor::Report report = {{text, findings}};
  for (const char c : doctor::ReportText(report)) {
    Require(c == '\n' || !absl::ascii_iscntrl(static_cast<unsigned char>(c)));
  }
  const std::string json = doctor::ReportJson(report);
  Require(nlohmann::json::accept(json));
  return 0;
}
