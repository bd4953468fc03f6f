#include "apiservice/wire/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apiservice/wire/proto_writer.h"
#include "apiservice/wire/text.h"
#include "base/go/text.h"

namespace flyball::apiservice::wire {
namespace {

std::string Qualified(absl::string_view resource, absl::string_view group) {
  return group.empty() ? std::string(resource) : absl::StrCat(resource, ".", group);
}

StatusDetails About(absl::string_view group, absl::string_view resource,
                    absl::string_view name = "") {
  return {std::string(name), std::string(group), std::string(resource), {}};
}

void AppendDetails(const StatusDetails& details, std::string* out) {
  out->push_back('{');
  AppendField("name", details.name, out);
  AppendField("group", details.group, out);
  AppendField("kind", details.kind, out);
  if (!details.causes.empty()) {
    AppendKey("causes", out);
    out->push_back('[');
    for (const StatusCause& cause : details.causes) {
      AppendComma(out);
      out->push_back('{');
      AppendField("reason", cause.reason, out);
      AppendField("message", cause.message, out);
      AppendField("field", cause.field, out);
      out->push_back('}');
    }
    out->push_back(']');
  }
  out->push_back('}');
}

}  // namespace

std::string ToJson(const Status& status) {
  std::string out =
      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"";
  AppendField("message", status.message, &out);
  AppendField("reason", status.reason, &out);
  if (status.details.has_value()) {
    out.append(",\"details\":");
    AppendDetails(*status.details, &out);
  }
  absl::StrAppend(&out, ",\"code\":", status.code, "}\n");
  return out;
}

std::string ToProtobuf(const Status& status) {
  ProtoWriter message;
  message.Message(1, EmptyListMeta());
  message.String(2, "Failure");
  message.String(3, status.message);
  message.String(4, status.reason);
  if (status.details.has_value()) {
    ProtoWriter details;
    details.String(1, status.details->name);
    details.String(2, status.details->group);
    details.String(3, status.details->kind);
    for (const StatusCause& from : status.details->causes) {
      ProtoWriter cause;
      cause.String(1, from.reason);
      cause.String(2, from.message);
      cause.String(3, from.field);
      details.Message(4, cause);
    }
    details.Int(5, 0);      // retryAfterSeconds
    details.String(6, "");  // uid
    message.Message(5, details);
  }
  message.Int(6, status.code);
  return ProtoEnvelope("v1", "Status", message);
}

Status RouteNotFound() {
  return {404, "NotFound", "the server could not find the requested resource", StatusDetails{}};
}

Status MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", StatusDetails{}};
}

Status WatchNotSupported(absl::string_view group, absl::string_view resource) {
  return {405, "MethodNotAllowed",
          absl::StrCat("watch is not supported on resources of kind \"", Qualified(resource, group),
                       "\""),
          About(group, resource)};
}

Status BadRequest(absl::string_view message) {
  return {400, "BadRequest", std::string(message), std::nullopt};
}

Status UriTooLong(absl::string_view message) {
  return {414, "", std::string(message), std::nullopt};
}

Status RequestEntityTooLarge(absl::string_view message) {
  return {413, "RequestEntityTooLarge", absl::StrCat("Request entity too large: ", message),
          std::nullopt};
}

Status Unauthorized() { return {401, "Unauthorized", "Unauthorized", std::nullopt}; }

Status Forbidden(absl::string_view group, absl::string_view resource, absl::string_view name,
                 absl::string_view text) {
  const std::string subject = name.empty()
                                  ? Qualified(resource, group)
                                  : absl::StrCat(Qualified(resource, group), " ", go::Quote(name));
  return {403, "Forbidden", absl::StrCat(subject, " is forbidden: ", text),
          About(group, resource, name)};
}

Status ForbiddenPath(absl::string_view text) {
  return {403, "Forbidden", absl::StrCat("forbidden: ", text), StatusDetails{}};
}

Status NoRepresentation(const std::vector<std::string>& media_types) {
  return {406, "NotAcceptable",
          absl::StrCat("406: Not Acceptable\n\nAvailable representations: ",
                       absl::StrJoin(media_types, ", ")),
          StatusDetails{}};
}

Status NotAcceptable(const std::vector<std::string>& media_types) {
  return {406, "NotAcceptable",
          absl::StrCat("only the following media types are accepted: ",
                       absl::StrJoin(media_types, ", ")),
          std::nullopt};
}

Status UnsupportedMediaType() {
  return {415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails{}};
}

Status ObjectNotFound(absl::string_view group, absl::string_view resource, absl::string_view name) {
  return {404, "NotFound",
          absl::StrCat(Qualified(resource, group), " ", go::Quote(name), " not found"),
          About(group, resource, name)};
}

Status Timeout() {
  return {504, "Timeout", "Timeout: request did not complete within the allotted timeout",
          StatusDetails{}};
}

Status Shortened(Status status) {
  constexpr size_t kMessageBytes = 2048;
  constexpr size_t kNameBytes = 512;
  Shorten(kMessageBytes, &status.message);
  if (!status.details.has_value()) return status;
  for (std::string* name : {&status.details->name, &status.details->group, &status.details->kind}) {
    Shorten(kNameBytes, name);
  }
  for (StatusCause& cause : status.details->causes) Shorten(kMessageBytes, &cause.message);
  return status;
}

Status FromProviderError(const absl::Status& error) {
  const std::string text(error.message());
  switch (error.code()) {
    case absl::StatusCode::kNotFound: return {404, "NotFound", text, std::nullopt};
    case absl::StatusCode::kInvalidArgument: return BadRequest(text);
    case absl::StatusCode::kDeadlineExceeded: return Timeout();
    case absl::StatusCode::kUnavailable: return {503, "ServiceUnavailable", text, std::nullopt};
    case absl::StatusCode::kInternal: {
      StatusDetails details;
      details.causes.push_back({.message = text});
      return {500, "InternalError", absl::StrCat("Internal error occurred: ", text), details};
    }
    default: return {500, "", text, std::nullopt};
  }
}

}  // namespace flyball::apiservice::wire
