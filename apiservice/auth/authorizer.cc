#include "apiservice/auth/authorizer.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "apiservice/requests/digest.h"
#include "apiservice/wire/metric_lists.h"
#include "apiservice/wire/text.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"

namespace flyball::apiservice {
namespace {

using Json = nlohmann::json;
using wire::AppendField;
using wire::AppendJsonString;
using wire::AppendKey;
using wire::AppendStrings;

constexpr size_t kMaxDecisions = 8192;
constexpr size_t kMaxDecisionBytes = 2 << 20;
constexpr size_t kMaxCachedQuestionBytes = 10'000;
// What a review takes for each byte of its spec: the request, and the answer, which repeats it, as
// text and as a tree.
constexpr size_t kMemoryForEachByte = 6;
constexpr size_t kMemoryOfAll = 4 << 20;
constexpr size_t kMemoryOfSmall = 16 << 10;                 // needs no room
constexpr absl::Duration kLongestWait = absl::Seconds(10);  // as a review itself
constexpr char kPath[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

// Requirements that a review cannot express are left out: the review then asks for a larger right,
// never for a smaller one.
void AppendLabelSelector(const kube::Selector& selector, std::string* out) {
  std::string list = "[";
  for (const kube::Requirement& requirement : selector.requirements()) {
    if (wire::SelectorOperator(requirement.op).empty()) continue;
    wire::AppendComma(&list);
    wire::AppendRequirement(requirement, &list);
  }
  if (list.size() == 1) return;
  AppendKey("labelSelector", out);
  absl::StrAppend(out, "{\"requirements\":", list, "]}");
}

size_t AttributeBytes(const Attributes& a) {
  return a.ns.size() + a.verb.size() + a.group.size() + a.version.size() + a.resource.size() +
         a.subresource.size() + a.name.size() + a.path.size();
}

// Reads a field like Go's decoder: a missing or null one is unchanged. False: it has another type.
template <typename T>
bool ReadField(const Json& object, const char* key, T* out) {
  const Json& value = kube::MemberOf(object, key);
  if (value.is_null()) return true;
  if (!(std::is_same_v<T, bool> ? value.is_boolean() : value.is_string())) return false;
  *out = value.get<T>();
  return true;
}

// The `spec` of the review, in the order of the Go struct. Its digest is the cache's key.
std::string ReviewSpecJson(const User& user, const Attributes& attributes) {
  std::string out = "{";
  if (attributes.is_resource) {
    out.append("\"resourceAttributes\":{");
    AppendField("namespace", attributes.ns, &out);
    AppendField("verb", attributes.verb, &out);
    AppendField("group", attributes.group, &out);
    AppendField("version", attributes.version, &out);
    AppendField("resource", attributes.resource, &out);
    AppendField("subresource", attributes.subresource, &out);
    AppendField("name", attributes.name, &out);
    AppendLabelSelector(attributes.label_selector, &out);
  } else {
    out.append("\"nonResourceAttributes\":{");
    AppendField("path", attributes.path, &out);
    AppendField("verb", attributes.verb, &out);
  }
  out.push_back('}');
  AppendField("user", user.name, &out);
  if (!user.groups.empty()) {
    AppendKey("groups", &out);
    AppendStrings(user.groups, &out);
  }
  if (!user.extra.empty()) {
    AppendKey("extra", &out);
    out.push_back('{');
    for (const auto& [key, values] : user.extra) {
      wire::AppendComma(&out);
      AppendJsonString(key, &out);
      out.push_back(':');
      AppendStrings(values, &out);
    }
    out.push_back('}');
  }
  AppendField("uid", user.uid, &out);
  out.push_back('}');
  return out;
}

// The decision of a review's answer. An error: not a review, or both allowed and denied.
absl::StatusOr<Decision> DecisionFromReview(absl::string_view body) {
  const Json review = Json::parse(body.begin(), body.end(), nullptr, false);
  const Json& status = kube::MemberOf(review, "status");  // null: no permission
  Decision decision;
  if (!review.is_object() || !(status.is_object() || status.is_null()) ||
      !ReadField(status, "allowed", &decision.allowed) ||
      !ReadField(status, "denied", &decision.denied) ||
      !ReadField(status, "reason", &decision.reason)) {
    return absl::InternalError("the answer is not a SubjectAccessReview");
  }
  if (decision.allowed && decision.denied) {
    return absl::InternalError(
        "webhook subject access review returned both allow and deny response");
  }
  return decision;
}

}  // namespace

std::string ForbiddenSentence(const User& user, const Attributes& attributes) {
  std::string out = absl::StrCat("User ", go::Quote(user.name), " cannot ", attributes.verb);
  if (attributes.is_resource) {
    const std::string resource = absl::StrCat(
        attributes.resource, attributes.subresource.empty() ? "" : "/", attributes.subresource);
    absl::StrAppend(&out, " resource ", go::Quote(resource), " in API group ",
                    go::Quote(attributes.group));
    absl::StrAppend(&out, attributes.ns.empty() ? " at the cluster scope" : " in the namespace ",
                    attributes.ns.empty() ? "" : go::Quote(attributes.ns));
  } else {
    absl::StrAppend(&out, " path ", go::Quote(attributes.path));
  }
  // Should it ever be shown as HTML.
  return absl::StrReplaceAll(out, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

Authorizer::Authorizer(AuthorizationOptions options, ReviewClient* reviews, Clock* clock,
                       int max_waiting)
    : options_(std::move(options)),
      reviews_(reviews),
      clock_(clock),
      cache_(kMaxDecisions, kMaxDecisionBytes),
      flights_(*clock, "review", max_waiting),
      memory_({.all = kMemoryOfAll, .free = kMemoryOfSmall}, *clock) {}

bool Authorizer::AlwaysAllowed(const User& user, const Attributes& attributes) const {
  if (options_.mode == AuthorizationMode::kAll || user.InGroup(kMastersGroup)) return true;
  if (attributes.is_resource) return false;
  // As in Go's authorizer one slash in front is of no account on either side.
  absl::string_view asked = attributes.path;
  absl::ConsumePrefix(&asked, "/");
  for (absl::string_view path : options_.always_allow_paths) {
    absl::ConsumePrefix(&path, "/");
    if (path == asked) return true;
    if (absl::ConsumeSuffix(&path, "*") && absl::StartsWith(asked, path)) return true;
  }
  return false;
}

absl::StatusOr<Decision> Authorizer::Review(const User& user, const Attributes& attributes) {
  if (reviews_ == nullptr) return absl::InternalError("no reviewer is configured");
  std::string spec = ReviewSpecJson(user, attributes);
  const std::string key = Sha256(spec);
  const size_t bytes = kMemoryForEachByte * spec.size();
  spec = std::string();  // nobody keeps it while it waits
  if (std::optional<Decision> known = cache_.Get(key, clock_->MonotonicNow())) {
    return *std::move(known);
  }
  const bool remember = AttributeBytes(attributes) < kMaxCachedQuestionBytes;
  const auto ask = [&]() -> absl::StatusOr<Decision> {
    // Another request's review may have been answered since.
    if (std::optional<Decision> known = cache_.Get(key, clock_->MonotonicNow())) {
      return *std::move(known);
    }
    const auto room = memory_.Take(bytes, clock_->MonotonicNow() + kLongestWait);
    if (!room.ok()) return absl::ResourceExhaustedError("other reviews take all the memory");
    return Post(ReviewSpecJson(user, attributes), remember, key);
  };
  return flights_.Ask(key, absl::InfiniteDuration(), ask, user.name);
}

absl::StatusOr<Decision> Authorizer::Post(const std::string& spec, bool remember,
                                          const std::string& key) {
  ASSIGN_OR_RETURN(
      const std::string answer,
      reviews_->Post(kPath, absl::StrCat("{\"kind\":\"SubjectAccessReview\",\"apiVersion\":"
                                         "\"authorization.k8s.io/v1\",\"spec\":",
                                         spec, "}")));
  ASSIGN_OR_RETURN(Decision decision, DecisionFromReview(answer));
  if (remember) {
    const MonotonicTime now = clock_->MonotonicNow();
    cache_.Put(key, decision, sizeof(Decision) + decision.reason.size(), now,
               now + (decision.allowed ? options_.authorized_ttl : options_.unauthorized_ttl));
  }
  return decision;
}

absl::StatusOr<Decision> Authorizer::Authorize(const User& user, const Attributes& attributes) {
  absl::StatusOr<Decision> decision = Decision{.allowed = true, .reason = ""};
  if (!AlwaysAllowed(user, attributes)) {
    decision = options_.mode == AuthorizationMode::kReview
                   ? Review(user, attributes)
                   : Decision{.allowed = user.InGroup(kAuthenticatedGroup), .reason = ""};
  }
  if (!decision.ok()) {
    ++counters_.error;
  } else if (decision->allowed) {
    ++counters_.allowed;
  } else {
    ++(decision->denied ? counters_.denied : counters_.no_opinion);
  }
  return decision;
}

}  // namespace flyball::apiservice
