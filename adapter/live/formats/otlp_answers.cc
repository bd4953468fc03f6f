#include "adapter/live/formats/otlp_answers.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_attributes.h"

namespace flyball::formats {
namespace {

using google::protobuf::internal::WireFormatLite;

// A message of a number (field 1) and a text (field 2); what is zero or empty is left out.
std::string NumberAndText(uint64_t number, absl::string_view text) {
  std::string message;
  {
    google::protobuf::io::StringOutputStream bytes(&message);
    google::protobuf::io::CodedOutputStream out(&bytes);
    if (number != 0) WireFormatLite::WriteUInt64(1, number, &out);
    if (!text.empty()) WireFormatLite::WriteString(2, std::string(text), &out);
  }
  return message;
}

std::string Wrapped(const std::string& inner) {
  std::string message;
  {
    google::protobuf::io::StringOutputStream bytes(&message);
    google::protobuf::io::CodedOutputStream out(&bytes);
    WireFormatLite::WriteBytes(1, inner, &out);
  }
  return message;
}

OtlpValue Text(absl::string_view text) { return OtlpValue{std::string(text)}; }

}  // namespace

std::string OtlpSuccess(OtlpEncoding encoding, size_t rejected_points, absl::string_view message) {
  const bool partial = rejected_points > 0 || !message.empty();
  if (encoding == OtlpEncoding::kProtobuf) {
    return partial ? Wrapped(NumberAndText(rejected_points, message)) : "";
  }
  if (!partial) return "{}";
  const OtlpMap inner = {{"rejectedDataPoints", Text(absl::StrCat(rejected_points))},
                         {"errorMessage", Text(message)}};
  return OtlpValueText({OtlpMap{{"partialSuccess", OtlpValue{inner}}}});
}

std::string OtlpFailure(OtlpEncoding encoding, const absl::Status& status) {
  const auto code = static_cast<int>(status.code());
  if (encoding == OtlpEncoding::kProtobuf) return NumberAndText(code, status.message());
  return OtlpValueText(
      {OtlpMap{{"code", OtlpValue{int64_t{code}}}, {"message", Text(status.message())}}});
}

absl::string_view OtlpMediaType(OtlpEncoding encoding) {
  return encoding == OtlpEncoding::kJson ? "application/json" : "application/x-protobuf";
}

}  // namespace flyball::formats
