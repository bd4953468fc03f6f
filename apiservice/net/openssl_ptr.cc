#include "apiservice/net/openssl_ptr.h"

#include <openssl/err.h>

namespace flyball::apiservice {

std::string OpenSslError() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  ERR_clear_error();
  if (code == 0) return "no further reason";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

}  // namespace flyball::apiservice
