#include "http/client/inflater.h"

namespace flyball::http {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's head and check

}  // namespace

Inflater::Inflater() { inflateInit2(&z_, kGzip); }

Inflater::~Inflater() { inflateEnd(&z_); }

absl::Status Inflater::Feed(absl::string_view packed,
                            const std::function<bool(absl::string_view)>& out) {
  char buffer[32 << 10];
  z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z_.avail_in = static_cast<uInt>(packed.size());
  while (true) {
    z_.next_out = reinterpret_cast<Bytef*>(buffer);
    z_.avail_out = sizeof buffer;
    if (at_end_ && z_.avail_in == 0) return absl::OkStatus();
    at_end_ = false;
    const int result = inflate(&z_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return absl::UnavailableError("the answer is no gzip, although it says so");
    }
    const size_t size = sizeof buffer - z_.avail_out;
    if (size > 0 && !out(absl::string_view(buffer, size))) return absl::OkStatus();
    if (result == Z_STREAM_END) {
      at_end_ = true;
      inflateReset(&z_);  // another member may follow
    } else if (z_.avail_out > 0) {
      return absl::OkStatus();  // more input is needed
    }
  }
}

}  // namespace flyball::http
