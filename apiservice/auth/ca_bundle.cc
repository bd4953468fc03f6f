#include "apiservice/auth/ca_bundle.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/status_macros.h"
#include "http/pem.h"

namespace flyball::apiservice {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

}  // namespace

CaBundle::CaBundle() : id_(NextId()), store_(X509StorePtr(X509_STORE_new())) {}

absl::StatusOr<std::shared_ptr<const CaBundle>> CaBundle::FromPem(absl::string_view pem) {
  std::shared_ptr<CaBundle> bundle(new CaBundle());
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> certificates, http::ReadPemCertificates(pem));
  for (const X509Ptr& certificate : certificates) {
    X509_STORE_add_cert(bundle->store_.get(), certificate.get());
  }
  return std::shared_ptr<const CaBundle>(std::move(bundle));
}

absl::Status CaBundle::Verify(http::PeerChain& chain, absl::Time now) const {
  auto& verdicts = chain.verdicts;
  const auto outdated = [now](const http::PeerChain::Verdict& v) {
    return now < v.since || v.until <= now;
  };
  verdicts.erase(std::remove_if(verdicts.begin(), verdicts.end(), outdated), verdicts.end());
  for (const http::PeerChain::Verdict& verdict : verdicts) {
    if (verdict.bundle == id_) return verdict.status;
  }
  // Copies, since a verification attaches decoded data to a certificate, up to 60 times its bytes,
  // and the chain lives as long as its connection.
  const X509Ptr leaf(X509_dup(chain.leaf));
  STACK_OF(X509)* intermediates = sk_X509_new_null();
  for (X509* certificate : chain.intermediates) {
    if (X509* copy = X509_dup(certificate)) sk_X509_push(intermediates, copy);
  }
  const X509StoreCtxPtr context(X509_STORE_CTX_new());
  absl::Status status;
  if (X509_STORE_CTX_init(context.get(), store_.get(), leaf.get(), intermediates) != 1) {
    status = absl::UnauthenticatedError(OpenSslError());
  } else {
    X509_STORE_CTX_set_time(context.get(), 0, absl::ToTimeT(now));
    X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
    // As in Go, every certificate of the bundle is an anchor, self-signed or not.
    X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_PARTIAL_CHAIN);
    if (X509_verify_cert(context.get()) != 1) {
      status = absl::UnauthenticatedError(absl::StrCat(
          "client certificate \"", chain.common_name,
          "\": ", X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()))));
    }
  }
  sk_X509_pop_free(intermediates, X509_free);
  ERR_clear_error();
  constexpr size_t kMaxVerdicts = 4;  // two bundles at a time, and those they replaced
  if (verdicts.size() >= kMaxVerdicts) verdicts.erase(verdicts.begin());
  verdicts.push_back(
      {id_, now, std::min(now + kVerdictLife, chain.not_after + absl::Seconds(1)), status});
  return status;
}

}  // namespace flyball::apiservice
