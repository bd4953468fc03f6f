#include "doctor/certificate.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <vector>

#include "base/openssl_ptr.h"
#include "base/status_macros.h"
#include "http/pem.h"

namespace flyball::doctor {

absl::StatusOr<Validity> ReadValidity(absl::string_view pem) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> read, http::ReadPemCertificates(pem));
  return Validity{.not_before = TimeOf(X509_get0_notBefore(read[0].get())),
                  .not_after = TimeOf(X509_get0_notAfter(read[0].get()))};
}

absl::StatusOr<std::string> WhyNotTrusted(absl::string_view chain_pem, absl::string_view ca_pem,
                                          const std::string& name, absl::Time now) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, http::ReadPemCertificates(chain_pem));
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> authorities, http::ReadPemCertificates(ca_pem));
  const X509StorePtr store(X509_STORE_new());
  for (const X509Ptr& authority : authorities) X509_STORE_add_cert(store.get(), authority.get());
  STACK_OF(X509)* between = sk_X509_new_null();
  for (size_t i = 1; i < chain.size(); ++i) sk_X509_push(between, chain[i].get());
  const X509StoreCtxPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), chain[0].get(), between);
  X509_VERIFY_PARAM* check = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(check, absl::ToTimeT(now));
  X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  X509_VERIFY_PARAM_set1_host(check, name.data(), name.size());
  X509_VERIFY_PARAM_set_purpose(check, X509_PURPOSE_SSL_SERVER);
  // A certificate in the bundle is trusted itself, whether or not its issuer is in the bundle.
  X509_VERIFY_PARAM_set_flags(check, X509_V_FLAG_PARTIAL_CHAIN);
  const bool good = X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  sk_X509_free(between);
  ERR_clear_error();
  return good ? "" : X509_verify_cert_error_string(error);
}

}  // namespace flyball::doctor
