#include "http/client/response_reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

constexpr size_t kBytesOfAHeader = 64;  // what one costs beside its text
constexpr size_t kOverheadOfABodyByte = 8;

// Answers that have no body, although they may say how long it would be.
bool NeverHasABody(int status) { return status / 100 == 1 || status == 204 || status == 304; }

ResponseReader& Of(llhttp_t* parser) { return *static_cast<ResponseReader*>(parser->data); }

absl::Status NoHttp() { return absl::UnavailableError("the answer is not HTTP"); }

absl::Status TooLarge(absl::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the server ", what, " than ", kMaxHeadBytes, " bytes allow"));
}

}  // namespace

ResponseReader::ResponseReader(bool head_only, Handlers handlers)
    : head_only_(head_only), handlers_(std::move(handlers)) {
  llhttp_init(&parser_, HTTP_RESPONSE, &Settings());
  parser_.data = this;
}

absl::Status ResponseReader::Feed(absl::string_view bytes) {
  fed_ += bytes.size();
  const llhttp_errno_t code = llhttp_execute(&parser_, bytes.data(), bytes.size());
  if (whole_) {
    // If bytes follow the answer, which were not asked for, the connection cannot be used any more.
    left_over_ = llhttp_get_error_pos(&parser_) != bytes.data() + bytes.size();
    return EndOfBody();
  }
  if (stopped_) return absl::OkStatus();
  RETURN_IF_ERROR(failure_);
  if (code != HPE_OK) return NoHttp();
  if (fed_ - body_bytes_ > kMaxHeadBytes + kOverheadOfABodyByte * body_bytes_) {
    return TooLarge("sends more around the answer's body");
  }
  return absl::OkStatus();
}

absl::Status ResponseReader::End() {
  const llhttp_errno_t code = llhttp_finish(&parser_);
  if (whole_) {
    closed_ = true;
    return EndOfBody();
  }
  if (code == HPE_OK && !started_ && fed_ == 0) {
    return absl::UnavailableError("connection closed without an answer");
  }
  return absl::UnavailableError("connection lost before the answer was whole");
}

int ResponseReader::Fail(absl::Status failure) {
  failure_ = std::move(failure);
  return -1;
}

int ResponseReader::TakeName(absl::string_view piece) {
  if (started_) return 0;  // a trailer
  if (in_value_ || headers_.empty()) {
    if (headers_.size() == kMaxHeaders) {
      return Fail(absl::ResourceExhaustedError(
          absl::StrCat("the server sends more than ", kMaxHeaders, " header lines")));
    }
    headers_.emplace_back();
    head_bytes_ += kBytesOfAHeader;
  }
  in_value_ = false;
  return Append(piece, headers_.back().first);
}

int ResponseReader::TakeValue(absl::string_view piece) {
  if (started_ || headers_.empty()) return 0;
  in_value_ = true;
  return Append(piece, headers_.back().second);
}

int ResponseReader::Append(absl::string_view piece, std::string& to) {
  head_bytes_ += piece.size();
  if (head_bytes_ > kMaxHeadBytes) return Fail(TooLarge("sends longer headers"));
  to.append(piece.data(), piece.size());
  return 0;
}

// 1: there is no body.
int ResponseReader::TakeHead() {
  const int status = parser_.status_code;
  if (status == 101) return Fail(NoHttp());  // no other protocol was asked for
  if (status / 100 == 1) {
    headers_.clear();
    head_bytes_ = 0;
    return 1;
  }
  for (auto& header : headers_) absl::StripTrailingAsciiWhitespace(&header.second);
  const absl::string_view encoding = FindHeader(headers_, "Content-Encoding");
  if (absl::EqualsIgnoreCase(encoding, "gzip") || absl::EqualsIgnoreCase(encoding, "x-gzip")) {
    inflater_.emplace();
  } else if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
    return Fail(absl::UnavailableError("the answer has an encoding that was not asked for"));
  }
  started_ = true;
  keep_alive_ = llhttp_should_keep_alive(&parser_) != 0;
  stopped_ = !handlers_.on_head(status, std::move(headers_));
  if (stopped_) return -1;
  return head_only_ || NeverHasABody(status) ? 1 : 0;
}

int ResponseReader::TakeBody(absl::string_view piece) {
  body_bytes_ += piece.size();
  const auto hand_on = [this](absl::string_view data) {
    unpacked_bytes_ += data.size();
    stopped_ = !handlers_.on_data(data);
    return !stopped_;
  };
  if (!inflater_.has_value()) return hand_on(piece) ? 0 : -1;
  absl::Status status = inflater_->Feed(piece, hand_on);
  if (!status.ok()) return Fail(std::move(status));
  if (body_bytes_ > unpacked_bytes_ + kMaxHeadBytes) {
    return Fail(TooLarge("sends more gzip without content"));
  }
  return stopped_ ? -1 : 0;
}

int ResponseReader::TakeEnd() {
  if (!started_) return 0;  // of an informational answer
  whole_ = true;
  return HPE_PAUSED;
}

absl::Status ResponseReader::EndOfBody() const {
  if (!inflater_.has_value() || inflater_->AtEnd()) return absl::OkStatus();
  return absl::UnavailableError("the answer's gzip is cut short");
}

const llhttp_settings_t& ResponseReader::Settings() {
  static const llhttp_settings_t settings = [] {
    llhttp_settings_t s;
    llhttp_settings_init(&s);
    s.on_header_field = [](llhttp_t* parser, const char* at, size_t length) {
      return Of(parser).TakeName({at, length});
    };
    s.on_header_value = [](llhttp_t* parser, const char* at, size_t length) {
      return Of(parser).TakeValue({at, length});
    };
    s.on_headers_complete = [](llhttp_t* parser) { return Of(parser).TakeHead(); };
    s.on_body = [](llhttp_t* parser, const char* at, size_t length) {
      return Of(parser).TakeBody({at, length});
    };
    s.on_message_complete = [](llhttp_t* parser) { return Of(parser).TakeEnd(); };
    return s;
  }();
  return settings;
}

}  // namespace flyball::http
