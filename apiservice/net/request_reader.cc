#include "apiservice/net/request_reader.h"

#include <http_parser.h>

#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace flyball::apiservice {

class RequestReader::Impl {
 public:
  Impl(size_t max_head_bytes, size_t max_body_bytes)
      : max_head_bytes_(max_head_bytes), max_body_bytes_(max_body_bytes) {
    // The library's own limit is one for the whole process; each reader counts for itself instead.
    static std::once_flag once;
    std::call_once(once, [] { http_parser_set_max_header_size(0x7fffffff); });
    Reset();
  }

  State Feed(absl::string_view bytes) {
    if (state_ != State::kNeedMore) {  // pipelined: waits for its turn
      left_.append(bytes.data(), bytes.size());
      return state_;
    }
    if (bytes.empty()) return state_;  // to the library it would mean the end of input
    const size_t used = http_parser_execute(&parser_, &Settings(), bytes.data(), bytes.size());
    if (used > 0) started_ = true;
    if (complete_) {
      http_parser_pause(&parser_, 0);
      left_.append(bytes.data() + used, bytes.size() - used);
      return state_ = Check();
    }
    const http_errno code = HTTP_PARSER_ERRNO(&parser_);
    if (code != HPE_OK) {
      if (error_status_ == 0) error_status_ = code == HPE_INVALID_VERSION ? 505 : 400;
      return state_ = State::kError;
    }
    return state_;
  }

  State Next() {
    Reset();
    if (left_.empty()) return state_;
    const std::string bytes = std::exchange(left_, std::string());
    return Feed(bytes);
  }

  State state() const { return state_; }
  bool InMessage() const { return started_ && state_ == State::kNeedMore; }
  bool KeepAlive() const { return keep_alive_; }
  HttpRequest& request() { return request_; }
  int error_status() const { return error_status_; }

 private:
  void Reset() {
    http_parser_init(&parser_, HTTP_REQUEST);
    parser_.data = this;
    request_.method.clear();
    request_.target.clear();
    request_.headers.clear();
    state_ = State::kNeedMore;
    started_ = head_done_ = complete_ = in_value_ = keep_alive_ = false;
    head_bytes_ = body_bytes_ = 0;
    error_status_ = 0;
  }

  // What the grammar lets through but a server must refuse.
  State Check() {
    if (parser_.http_major != 1) {
      error_status_ = 505;
    } else if (parser_.http_minor >= 1 && request_.Header("Host").empty()) {
      error_status_ = 400;
    }
    return error_status_ == 0 ? State::kComplete : State::kError;
  }

  bool CountHead(size_t length) {
    head_bytes_ += length;
    if (head_bytes_ <= max_head_bytes_) return true;
    error_status_ = 431;
    return false;
  }

  static Impl& Of(http_parser* parser) { return *static_cast<Impl*>(parser->data); }

  static int OnUrl(http_parser* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    self.request_.target.append(at, length);
    return self.CountHead(length) ? 0 : 1;
  }

  static int OnHeaderField(http_parser* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    if (self.head_done_) return 0;  // trailers after a chunked body
    if (self.in_value_ || self.request_.headers.empty()) self.request_.headers.emplace_back();
    self.in_value_ = false;
    self.request_.headers.back().first.append(at, length);
    return self.CountHead(length) ? 0 : 1;
  }

  static int OnHeaderValue(http_parser* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    if (self.head_done_) return 0;
    self.in_value_ = true;
    self.request_.headers.back().second.append(at, length);
    return self.CountHead(length) ? 0 : 1;
  }

  static int OnHeadersComplete(http_parser* parser) {
    Impl& self = Of(parser);
    self.head_done_ = true;
    self.request_.method = http_method_str(static_cast<http_method>(parser->method));
    for (auto& [name, value] : self.request_.headers) absl::StripTrailingAsciiWhitespace(&value);
    self.keep_alive_ = http_should_keep_alive(parser) != 0;
    // No protocol is switched to; the request is answered as if it had not asked.
    parser->upgrade = 0;
    if (absl::EqualsIgnoreCase(self.request_.Header("Expect"), "100-continue")) {
      // The body is not wanted: answer now, and end the connection instead of reading it.
      self.keep_alive_ = false;
      return 1;
    }
    return 0;
  }

  static int OnBody(http_parser* parser, const char*, size_t length) {
    Impl& self = Of(parser);
    self.body_bytes_ += length;
    if (self.body_bytes_ <= self.max_body_bytes_) return 0;
    self.error_status_ = 413;
    return 1;
  }

  static int OnMessageComplete(http_parser* parser) {
    Of(parser).complete_ = true;
    http_parser_pause(parser, 1);
    return 0;
  }

  static const http_parser_settings& Settings() {
    static const http_parser_settings settings = [] {
      http_parser_settings s;
      http_parser_settings_init(&s);
      s.on_url = OnUrl;
      s.on_header_field = OnHeaderField;
      s.on_header_value = OnHeaderValue;
      s.on_headers_complete = OnHeadersComplete;
      s.on_body = OnBody;
      s.on_message_complete = OnMessageComplete;
      return s;
    }();
    return settings;
  }

  const size_t max_head_bytes_;
  const size_t max_body_bytes_;
  http_parser parser_;
  HttpRequest request_;
  State state_ = State::kNeedMore;
  bool started_ = false, head_done_ = false, complete_ = false, in_value_ = false;
  bool keep_alive_ = false;
  size_t head_bytes_ = 0, body_bytes_ = 0;
  int error_status_ = 0;
  std::string left_;  // at most one read more than the last request
};

RequestReader::RequestReader(size_t max_head_bytes, size_t max_body_bytes)
    : impl_(std::make_unique<Impl>(max_head_bytes, max_body_bytes)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::Feed(absl::string_view bytes) { return impl_->Feed(bytes); }
RequestReader::State RequestReader::Next() { return impl_->Next(); }
RequestReader::State RequestReader::state() const { return impl_->state(); }
bool RequestReader::InMessage() const { return impl_->InMessage(); }
bool RequestReader::KeepAlive() const { return impl_->KeepAlive(); }
HttpRequest& RequestReader::request() { return impl_->request(); }
int RequestReader::error_status() const { return impl_->error_status(); }

}  // namespace flyball::apiservice
