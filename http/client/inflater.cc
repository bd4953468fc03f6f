#include "http/client/inflater.h"

#include <zlib.h>

namespace flyball::http {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's head and check

}  // namespace

struct Inflater::Stream {
  z_stream z = {};
  char buffer[32 << 10];
};

Inflater::Inflater() : stream_(std::make_unique<Stream>()) { inflateInit2(&stream_->z, kGzip); }

Inflater::~Inflater() { inflateEnd(&stream_->z); }

absl::Status Inflater::Feed(absl::string_view packed,
                            const std::function<bool(absl::string_view)>& out) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  while (true) {
    z.next_out = reinterpret_cast<Bytef*>(stream_->buffer);
    z.avail_out = sizeof stream_->buffer;
    if (at_end_ && z.avail_in == 0) return absl::OkStatus();
    at_end_ = false;
    const int result = inflate(&z, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return absl::UnavailableError("the answer is no gzip, although it says so");
    }
    const size_t size = sizeof stream_->buffer - z.avail_out;
    if (size > 0 && !out(absl::string_view(stream_->buffer, size))) return absl::OkStatus();
    if (result == Z_STREAM_END) {
      at_end_ = true;
      inflateReset(&z);  // another member may follow
    } else if (z.avail_out > 0) {
      return absl::OkStatus();  // more input is needed
    }
  }
}

}  // namespace flyball::http
