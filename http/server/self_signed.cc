#include "http/server/self_signed.h"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/status_macros.h"
#include "http/pem.h"

namespace flyball::http {
namespace {

constexpr long kYearSeconds = 365L * 24 * 60 * 60;  // NOLINT(google-runtime-int): OpenSSL's type

bool AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

X509Ptr MakeCertificate(EVP_PKEY* key, const std::string& alternative_names) {
  X509Ptr certificate(X509_new());
  X509* x = certificate.get();
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  X509_set_version(x, X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1);
  // An hour back, for peers whose clock is behind.
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), kYearSeconds);
  X509_NAME* name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_set_pubkey(x, key);
  const bool complete =
      AddExtension(x, NID_basic_constraints, "critical,CA:TRUE") &&
      AddExtension(x, NID_key_usage, "critical,digitalSignature,keyEncipherment,keyCertSign") &&
      AddExtension(x, NID_ext_key_usage, "serverAuth") &&
      AddExtension(x, NID_subject_alt_name, alternative_names);
  if (!complete || X509_sign(x, key, EVP_sha256()) == 0) return nullptr;
  return certificate;
}

// Written beside its place and moved there, so that nobody reads half a file.
absl::Status WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const std::string temporary = path + ".new";
  const auto fail = [&](absl::string_view what) {
    const std::string cause = std::strerror(errno);
    unlink(temporary.c_str());
    return absl::FailedPreconditionError(
        absl::StrCat("self-signed certificate: ", what, " ", path, ": ", cause));
  };
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return fail("cannot create");
  const ssize_t written = write(fd, text.data(), text.size());
  const bool closed = close(fd) == 0;
  if (written != static_cast<ssize_t>(text.size()) || !closed) return fail("cannot write");
  if (rename(temporary.c_str(), path.c_str()) != 0) return fail("cannot move into place");
  return absl::OkStatus();
}

// A file that lies in no folder. It is never closed, so that its path counts while the program
// runs.
absl::StatusOr<std::string> FileInMemory(const std::string& text) {
  const int fd = memfd_create("flyball-certificate", MFD_CLOEXEC);
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::FailedPreconditionError(
        absl::StrCat("self-signed certificate in memory: ", std::strerror(errno)));
  }
  return absl::StrCat("/proc/self/fd/", fd);
}

struct PemPair {
  std::string certificate, key;
};

absl::StatusOr<PemPair> MakePair(const std::string& bind_address) {
  std::string names = "DNS:localhost,IP:127.0.0.1";
  if (!bind_address.empty() && bind_address != "127.0.0.1") names += ",IP:" + bind_address;
  const PkeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate = key == nullptr ? nullptr : MakeCertificate(key.get(), names);
  if (certificate == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("self-signed certificate for ", names, ": ", OpenSslError()));
  }
  return PemPair{.certificate = PemOf(certificate.get()), .key = PemOf(key.get())};
}

}  // namespace

absl::StatusOr<KeyPairFiles> EnsureSelfSigned(const std::string& dir,
                                              const std::string& bind_address) {
  if (dir.empty()) {
    ASSIGN_OR_RETURN(const PemPair pair, MakePair(bind_address));
    ASSIGN_OR_RETURN(std::string cert_file, FileInMemory(pair.certificate));
    ASSIGN_OR_RETURN(std::string key_file, FileInMemory(pair.key));
    return KeyPairFiles{.cert_file = std::move(cert_file), .key_file = std::move(key_file)};
  }
  const KeyPairFiles files = {dir + "/apiserver.crt", dir + "/apiserver.key"};
  const bool have_cert = access(files.cert_file.c_str(), R_OK) == 0;
  const bool have_key = access(files.key_file.c_str(), R_OK) == 0;
  if (have_cert && have_key) return files;
  if (have_cert || have_key) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--cert-dir ", dir,
        " holds only one of apiserver.crt and apiserver.key: ", "remove it or add the other"));
  }
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("--cert-dir ", dir, " cannot be made: ", error.message()));
  }
  ASSIGN_OR_RETURN(const PemPair pair, MakePair(bind_address));
  RETURN_IF_ERROR(WriteFile(files.key_file, pair.key, 0600));
  const absl::Status written = WriteFile(files.cert_file, pair.certificate, 0644);
  if (written.ok()) return files;
  unlink(files.key_file.c_str());  // one without the other would be refused at the next start
  return written;
}

}  // namespace flyball::http
