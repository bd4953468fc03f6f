#include "http/server/request_reader.h"

#include <llhttp.h>

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace flyball::http {
namespace {

// Whether the characters are allowed in a Host header (RFC 3986): names, addresses, ports.
bool IsHost(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("-._~:[]%!$&'()*+,;=", c);
  });
}

}  // namespace

class RequestReader::Impl {
 public:
  explicit Impl(const RequestLimits& limits) : limits_(limits) { Reset(); }

  State Feed(absl::string_view bytes) {
    if (state_ == State::kNeedMore) bytes.remove_prefix(Parse(bytes));
    // What comes after the request waits for its turn; after an error there is none.
    if (state_ != State::kError) left_.append(bytes.data(), bytes.size());
    return state_;
  }

  State Next() {
    Reset();
    left_at_ += Parse(absl::string_view(left_).substr(left_at_));
    if (left_at_ == left_.size()) {
      left_at_ = 0;
      Empty(left_);
    }
    return state_;
  }

  State state() const { return state_; }
  bool InMessage() const { return started_ && state_ == State::kNeedMore; }
  bool KeepAlive() const { return keep_alive_; }
  HttpRequest& request() { return request_; }
  int error_status() const { return error_status_; }
  size_t BytesHeld() const {
    // A string has up to twice the room that it needs.
    return 2 * head_bytes_ + request_.headers.capacity() * sizeof(Headers::value_type) +
           request_.body.capacity() + left_.capacity();
  }

 private:
  // An idle connection keeps no more than this of each buffer.
  static constexpr size_t kKeptBytes = 1024;
  static constexpr absl::string_view kHttp = "HTTP/";

  template <typename Buffer>
  static void Empty(Buffer& buffer) {
    if (buffer.capacity() * sizeof(typename Buffer::value_type) > kKeptBytes) {
      Buffer().swap(buffer);
    } else {
      buffer.clear();
    }
  }

  void Reset() {
    llhttp_init(&parser_, HTTP_REQUEST, &Settings());
    parser_.data = this;
    request_.method.clear();
    Empty(request_.target);
    Empty(request_.headers);
    Empty(request_.body);
    state_ = State::kNeedMore;
    started_ = head_done_ = complete_ = in_value_ = line_ended_ = keep_alive_ = false;
    head_bytes_ = body_bytes_ = host_lines_ = 0;
    error_status_ = 0;
    protocol_.clear();
    protocol_told_ = false;
  }

  // Reads up to the end of the request, or to what is wrong with it; how many bytes that were.
  size_t Parse(absl::string_view bytes) {
    const size_t all = bytes.size();
    while (!bytes.empty() && state_ == State::kNeedMore) {
      started_ = true;
      const bool in_head = !head_done_;
      const llhttp_errno_t code = llhttp_execute(&parser_, bytes.data(), bytes.size());
      const size_t used = code == HPE_OK
                              ? bytes.size()
                              : static_cast<size_t>(llhttp_get_error_pos(&parser_) - bytes.data());
      Count(in_head ? head_bytes_ : body_bytes_, used);
      if (in_head) {
        NoteProtocol(bytes.substr(0, used));
        if (GoesOnInNextLine(bytes.substr(0, used)) && error_status_ == 0) error_status_ = 400;
      }
      bytes.remove_prefix(used);
      Judge(code);
    }
    return all - bytes.size();
  }

  void Count(size_t& bytes, size_t used) {
    bytes += used;
    if (error_status_ != 0) return;
    if (head_bytes_ > limits_.max_head_bytes) error_status_ = 431;
    if (body_bytes_ > limits_.max_body_bytes) error_status_ = 413;
  }

  // Keeps the beginning of the last word of the request line. llhttp reads requests of RTSP and ICE
  // as well, and does not tell them apart. `head`: the next bytes of the head.
  void NoteProtocol(absl::string_view head) {
    for (const char c : head) {
      if (protocol_told_) return;
      if (c == ' ') {
        protocol_.clear();
      } else if (c == '\n') {
        protocol_told_ = !protocol_.empty();  // an empty line may stand before
      } else if (c != '\r' && protocol_.size() < kHttp.size()) {
        protocol_.push_back(c);
      }
    }
  }

  // Whether a header's value continues in the next line, which some servers take for another
  // header. `head`: the next bytes of the head.
  bool GoesOnInNextLine(absl::string_view head) {
    while (!head.empty()) {
      if (line_ended_ && (head[0] == ' ' || head[0] == '\t')) return true;
      const size_t end = head.find('\n');
      line_ended_ = end != absl::string_view::npos;
      head.remove_prefix(line_ended_ ? end + 1 : head.size());
    }
    return false;
  }

  void Judge(llhttp_errno_t code) {
    if (code == HPE_PAUSED && !complete_) {  // between head and body
      llhttp_resume(&parser_);
      // A request without a body ends here, and reads no byte to do so.
      if (llhttp_execute(&parser_, "", 0) != HPE_OK && !complete_) code = HPE_INTERNAL;
    }
    if (code != HPE_OK && code != HPE_PAUSED && error_status_ == 0) {
      const bool version = code == HPE_INVALID_VERSION || code == HPE_PAUSED_H2_UPGRADE;
      error_status_ = version ? 505 : 400;
    }
    if (complete_ && error_status_ == 0) error_status_ = Refusal();
    if (error_status_ != 0) {
      state_ = State::kError;
    } else if (complete_) {
      state_ = State::kComplete;
    }
  }

  // The status for what the grammar allows but a server must refuse; 0: nothing.
  int Refusal() const {
    if (parser_.http_major != 1) return 505;
    if (protocol_ != kHttp) return 400;
    if (host_lines_ > 1 || (host_lines_ == 0 && parser_.http_minor >= 1)) return 400;
    if (!IsHost(request_.Header("Host"))) return 400;
    const bool other_coding =
        std::any_of(request_.headers.begin(), request_.headers.end(), [](const auto& header) {
          return absl::EqualsIgnoreCase(header.first, "Transfer-Encoding") &&
                 !absl::EqualsIgnoreCase(header.second, "chunked");
        });
    if (other_coding && parser_.http_minor >= 1) return 501;
    return 0;
  }

  static Impl& Of(llhttp_t* parser) { return *static_cast<Impl*>(parser->data); }

  static int OnUrl(llhttp_t* parser, const char* at, size_t length) {
    Of(parser).request_.target.append(at, length);
    return 0;
  }

  static int OnHeaderField(llhttp_t* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    if (self.head_done_) return 0;  // trailers after a chunked body
    if (length == 0) return 0;
    if (self.in_value_ || self.request_.headers.empty()) {
      if (self.request_.headers.size() == self.limits_.max_header_lines) {
        self.error_status_ = 431;
        return -1;
      }
      self.request_.headers.emplace_back();
    }
    self.in_value_ = false;
    self.request_.headers.back().first.append(at, length);
    return 0;
  }

  static int OnHeaderFieldComplete(llhttp_t* parser) {
    Impl& self = Of(parser);
    if (self.head_done_) return 0;
    // A line without a name would go on with the value before it.
    if (self.in_value_ || self.request_.headers.empty()) return -1;
    self.in_value_ = true;
    return 0;
  }

  static int OnHeaderValue(llhttp_t* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    if (!self.head_done_) self.request_.headers.back().second.append(at, length);
    return 0;
  }

  static int OnHeadersComplete(llhttp_t* parser) {
    Impl& self = Of(parser);
    self.head_done_ = true;
    self.request_.method = llhttp_method_name(static_cast<llhttp_method_t>(parser->method));
    for (auto& [name, value] : self.request_.headers) {
      absl::StripTrailingAsciiWhitespace(&value);
      if (absl::EqualsIgnoreCase(name, "Host")) ++self.host_lines_;
    }
    // A client of HTTP/1.0 would have to be told that its connection stays; it is closed instead.
    self.keep_alive_ = llhttp_should_keep_alive(parser) != 0 && parser->http_minor >= 1;
    // No protocol is switched to; the request is answered as if it had not asked.
    parser->upgrade = 0;
    if (!self.limits_.keep_bodies &&
        absl::EqualsIgnoreCase(self.request_.Header("Expect"), "100-continue")) {
      // The body is not wanted: answer now, and end the connection instead of reading it. Where one
      // is wanted there is no answer between, and the peer sends it after a moment.
      self.keep_alive_ = false;
      return 1;
    }
    return HPE_PAUSED;
  }

  static int OnBody(llhttp_t* parser, const char* at, size_t length) {
    Impl& self = Of(parser);
    // What is too long is refused once this read is counted.
    if (self.limits_.keep_bodies && self.request_.body.size() < self.limits_.max_body_bytes) {
      self.request_.body.append(at, length);
    }
    return 0;
  }

  static int OnMessageComplete(llhttp_t* parser) {
    Of(parser).complete_ = true;
    return HPE_PAUSED;
  }

  static const llhttp_settings_t& Settings() {
    static const llhttp_settings_t settings = [] {
      llhttp_settings_t s;
      llhttp_settings_init(&s);
      s.on_url = OnUrl;
      s.on_header_field = OnHeaderField;
      s.on_header_field_complete = OnHeaderFieldComplete;
      s.on_header_value = OnHeaderValue;
      s.on_headers_complete = OnHeadersComplete;
      s.on_body = OnBody;
      s.on_message_complete = OnMessageComplete;
      return s;
    }();
    return settings;
  }

  const RequestLimits limits_;
  llhttp_t parser_;
  HttpRequest request_;
  State state_ = State::kNeedMore;
  bool started_ = false, head_done_ = false, complete_ = false, in_value_ = false;
  bool line_ended_ = false, keep_alive_ = false, protocol_told_ = false;
  size_t head_bytes_ = 0, body_bytes_ = 0, host_lines_ = 0;
  int error_status_ = 0;
  std::string protocol_;
  std::string left_;    // at most one read more than the last request
  size_t left_at_ = 0;  // what is before it has been read
};

RequestReader::RequestReader(const RequestLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::Feed(absl::string_view bytes) { return impl_->Feed(bytes); }
RequestReader::State RequestReader::Next() { return impl_->Next(); }
RequestReader::State RequestReader::state() const { return impl_->state(); }
bool RequestReader::InMessage() const { return impl_->InMessage(); }
bool RequestReader::KeepAlive() const { return impl_->KeepAlive(); }
HttpRequest& RequestReader::request() { return impl_->request(); }
const HttpRequest& RequestReader::request() const { return impl_->request(); }
int RequestReader::error_status() const { return impl_->error_status(); }
size_t RequestReader::BytesHeld() const { return impl_->BytesHeld(); }

}  // namespace flyball::http
