// Owning pointers to OpenSSL objects, and what every reader of certificates needs. For .cc files
// only.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace flyball {

template <auto Free>
struct OpenSslDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;
using SslCtxPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;
using X509StorePtr = std::unique_ptr<X509_STORE, OpenSslDeleter<X509_STORE_free>>;
using X509StoreCtxPtr = std::unique_ptr<X509_STORE_CTX, OpenSslDeleter<X509_STORE_CTX_free>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>>;

// The oldest error of this thread's queue as text; empties the queue.
std::string OpenSslError();

// Allows only elliptic curves for the key exchange, as Go does. With a large finite field one
// handshake costs 0.1 s of CPU or more, and its peer nothing.
void UseCurvesOnly(SSL_CTX* context);

// InfinitePast if it is no valid time.
absl::Time TimeOf(const ASN1_TIME* time);

// What was written to a memory BIO.
std::string TextOfBio(BIO* memory);

}  // namespace flyball
