#include "scaler/front/envoy/answers.h"

#include "scaler/front/envoy/names.h"

namespace flyball::front {
namespace {

constexpr int kOverwriteOrAdd = 2;

}  // namespace

envoy::ProcessingResponse ReleaseMessage(const std::optional<std::string>& pod) {
  envoy::ProcessingResponse message;
  message.mutable_request_headers();
  if (pod) {
    envoy::Struct& ours =
        *(*message.mutable_dynamic_metadata()->mutable_fields())[kMetadataNamespace]
             .mutable_struct_value();
    (*ours.mutable_fields())[kMetadataPod].set_string_value(*pod);
  }
  return message;
}

envoy::ProcessingResponse RefusalMessage(const Refusal& refusal) {
  const RefusalAnswer answer = AnswerOf(refusal);
  envoy::ProcessingResponse message;
  envoy::ImmediateResponse& reply = *message.mutable_immediate_response();
  reply.mutable_status()->set_code(answer.http_status);
  for (const auto& [name, value] : answer.headers) {
    envoy::HeaderValueOption& header = *reply.mutable_headers()->add_set_headers();
    header.mutable_header()->set_key(name);
    header.mutable_header()->set_raw_value(value);
    header.set_append_action(kOverwriteOrAdd);
  }
  reply.set_body(answer.body);
  reply.set_details(answer.details);
  return message;
}

std::optional<envoy::ProcessingResponse> PassMessage(const envoy::ProcessingRequest& request) {
  envoy::ProcessingResponse message;
  switch (request.request_case()) {
    case envoy::ProcessingRequest::kRequestHeaders:
      message.mutable_request_headers();
      return message;
    case envoy::ProcessingRequest::kResponseHeaders:
      message.mutable_response_headers();
      return message;
    case envoy::ProcessingRequest::kRequestTrailers:
      message.mutable_request_trailers();
      return message;
    case envoy::ProcessingRequest::kResponseTrailers:
      message.mutable_response_trailers();
      return message;
    case envoy::ProcessingRequest::REQUEST_NOT_SET: break;
  }
  return std::nullopt;
}

}  // namespace flyball::front
