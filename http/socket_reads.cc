#include "http/socket_reads.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

namespace flyball::http {

void SocketReads::Limit(ssl_st* ssl) {
  BIO* const socket = SSL_get_rbio(ssl);
  BIO_set_callback_ex(socket, OnSocket);
  BIO_set_callback_arg(socket, reinterpret_cast<char*>(this));
}

long SocketReads::OnSocket(BIO* bio, int operation, const char* /*data*/, size_t /*size*/,
                           int /*number*/, long /*argument*/, int result, size_t* /*processed*/) {
  if (operation != BIO_CB_READ) return result;
  auto& self = *reinterpret_cast<SocketReads*>(BIO_get_callback_arg(bio));
  if (self.left_ > 0) {
    --self.left_;
    return result;
  }
  BIO_set_retry_read(bio);
  return -1;
}

}  // namespace flyball::http
