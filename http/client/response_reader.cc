#include "http/client/response_reader.h"

#include <llhttp.h>

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "http/client/inflater.h"

namespace flyball::http {
namespace {

constexpr size_t kBytesOfAHeader = 64;  // what one costs beside its text
constexpr size_t kOverheadOfABodyByte = 8;

// Answers that have no body, although they may say how long it would be.
bool NeverHasABody(int status) { return status / 100 == 1 || status == 204 || status == 304; }

}  // namespace

class ResponseReader::Impl {
 public:
  Impl(bool head_only, Handlers handlers) : head_only_(head_only), handlers_(std::move(handlers)) {
    llhttp_init(&parser_, HTTP_RESPONSE, &Settings());
    parser_.data = this;
  }

  absl::Status Feed(absl::string_view bytes) {
    fed_ += bytes.size();
    const llhttp_errno_t code = llhttp_execute(&parser_, bytes.data(), bytes.size());
    if (whole_) {
      // What follows the answer was not asked for: the connection is of no use any more.
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

  absl::Status End() {
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

  bool done() const { return whole_ || stopped_; }
  bool started() const { return started_; }
  bool keep_alive() const { return whole_ && !stopped_ && !closed_ && !left_over_ && keep_alive_; }

 private:
  static Impl& Of(llhttp_t* parser) { return *static_cast<Impl*>(parser->data); }

  static absl::Status NoHttp() { return absl::UnavailableError("the answer is not HTTP"); }

  static absl::Status TooLarge(absl::string_view what) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server ", what, " than ", kMaxHeadBytes, " bytes allow"));
  }

  // -1, llhttp's word for an error.
  int Fail(absl::Status failure) {
    failure_ = std::move(failure);
    return -1;
  }

  int Stop() {
    stopped_ = true;
    return -1;
  }

  int TakeName(absl::string_view piece) {
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

  int TakeValue(absl::string_view piece) {
    if (started_ || headers_.empty()) return 0;
    in_value_ = true;
    return Append(piece, headers_.back().second);
  }

  int Append(absl::string_view piece, std::string& to) {
    head_bytes_ += piece.size();
    if (head_bytes_ > kMaxHeadBytes) return Fail(TooLarge("sends longer headers"));
    to.append(piece.data(), piece.size());
    return 0;
  }

  // 1: there is no body.
  int TakeHead() {
    const int status = parser_.status_code;
    if (status == 101) return Fail(NoHttp());  // no other protocol was asked for
    if (status / 100 == 1) {
      headers_.clear();
      head_bytes_ = 0;
      return 1;
    }
    for (auto& header : headers_) absl::StripTrailingAsciiWhitespace(&header.second);
    const absl::string_view encoding = Header("Content-Encoding");
    if (absl::EqualsIgnoreCase(encoding, "gzip") || absl::EqualsIgnoreCase(encoding, "x-gzip")) {
      inflater_.emplace();
    } else if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
      return Fail(absl::UnavailableError("the answer has an encoding that was not asked for"));
    }
    started_ = true;
    keep_alive_ = llhttp_should_keep_alive(&parser_) != 0;
    if (!handlers_.on_head(status, std::move(headers_))) return Stop();
    return head_only_ || NeverHasABody(status) ? 1 : 0;
  }

  absl::string_view Header(absl::string_view name) const {
    for (const auto& [key, value] : headers_) {
      if (absl::EqualsIgnoreCase(key, name)) return value;
    }
    return "";
  }

  int TakeBody(absl::string_view piece) {
    body_bytes_ += piece.size();
    const auto hand_on = [this](absl::string_view data) {
      stopped_ = !handlers_.on_data(data);
      return !stopped_;
    };
    if (!inflater_.has_value()) return hand_on(piece) ? 0 : -1;
    absl::Status status = inflater_->Feed(piece, hand_on);
    if (!status.ok()) return Fail(std::move(status));
    return stopped_ ? -1 : 0;
  }

  int TakeEnd() {
    if (!started_) return 0;  // of an informational answer
    whole_ = true;
    return HPE_PAUSED;
  }

  absl::Status EndOfBody() const {
    if (!inflater_.has_value() || inflater_->AtEnd()) return absl::OkStatus();
    return absl::UnavailableError("the answer's gzip is cut short");
  }

  static const llhttp_settings_t& Settings() {
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

  const bool head_only_;
  const Handlers handlers_;
  llhttp_t parser_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::optional<Inflater> inflater_;
  absl::Status failure_;  // what a callback found wrong
  bool in_value_ = false, started_ = false, whole_ = false, stopped_ = false;
  bool keep_alive_ = false, closed_ = false, left_over_ = false;
  size_t head_bytes_ = 0;
  size_t fed_ = 0, body_bytes_ = 0;  // as received, body_bytes_ before gzip is undone
};

ResponseReader::ResponseReader(bool head_only, Handlers handlers)
    : impl_(std::make_unique<Impl>(head_only, std::move(handlers))) {}
ResponseReader::~ResponseReader() = default;

absl::Status ResponseReader::Feed(absl::string_view bytes) { return impl_->Feed(bytes); }
absl::Status ResponseReader::End() { return impl_->End(); }
bool ResponseReader::done() const { return impl_->done(); }
bool ResponseReader::started() const { return impl_->started(); }
bool ResponseReader::keep_alive() const { return impl_->keep_alive(); }

}  // namespace flyball::http
