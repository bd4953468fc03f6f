#include "http/pem.h"

#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include <climits>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "http/testing/der.h"
#include "http/testing/slow_certificate.h"
#include "http/testing/test_pki.h"

namespace flyball::http {
namespace {

std::string Block(absl::string_view kind, const std::string& der, absl::string_view head = "") {
  std::string text = absl::StrCat("-----BEGIN ", kind, "-----\n", head);
  const std::string lines = absl::Base64Escape(der);
  for (size_t i = 0; i < lines.size(); i += 64) absl::StrAppend(&text, lines.substr(i, 64), "\n");
  return absl::StrCat(text, "-----END ", kind, "-----\n");
}

// ---- certificates ----

size_t CertificatesIn(const std::string& pem) {
  const auto read = ReadPemCertificates(pem);
  return read.ok() ? read->size() : 0;
}

TEST(ReadPemCertificatesTest, ReadsAllInTheirOrder) {
  const TestPair one = MakeTestCa("one"), two = MakeTestCa("two");
  const auto read =
      ReadPemCertificates(absl::StrCat("a remark\n", PemOf(one.key.get()),
                                       PemOf(one.certificate.get()), PemOf(two.certificate.get())));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(X509_cmp((*read)[0].get(), one.certificate.get()), 0);
  EXPECT_EQ(X509_cmp((*read)[1].get(), two.certificate.get()), 0);
}

// Each slow one would take a quarter of a second.
TEST(ReadPemCertificatesTest, LeavesOutWhatCannotBeReadOrIsCostly) {
  const std::string good = PemOf(MakeTestCa("good").certificate.get());
  std::string slow;
  for (int i = 0; i < 10'000; ++i) slow += Block("CERTIFICATE", SlowCertificate());
  EXPECT_EQ(CertificatesIn(absl::StrCat(good, Block("CERTIFICATE", "none"), slow, good)), 2u);
  EXPECT_EQ(ReadPemCertificates(slow).status().message(),
            "holds no PEM certificate that can be read");
  EXPECT_EQ(ReadPemCertificates("text").status().message(), "holds no PEM certificate");
  EXPECT_EQ(ReadPemCertificates("").status().message(), "holds no PEM certificate");
}

TEST(ReadPemCertificatesTest, ReadsAuthoritiesWhoseKeysArePlainOfAnyLength) {
  for (const char* key : {"RSA", "ED25519", "P-224", "P-384", "P-521"}) {
    const TestPair pair = MakeTestPair({.common_name = "ca", .is_ca = true, .key = key});
    EXPECT_EQ(CertificatesIn(PemOf(pair.certificate.get())), 1u) << key;
  }
}

TEST(ReadPemCertificatesTest, NobodyIsAskedForAPassPhrase) {
  const std::string encrypted =
      Block("CERTIFICATE", "none",
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00000000000000000000000000000000\n\n");
  EXPECT_FALSE(ReadPemCertificates(encrypted).ok());
}

// ---- private keys ----

bool Reads(const std::string& pem, EVP_PKEY* expected) {
  const auto read = ReadPemKey(pem);
  return read.ok() && EVP_PKEY_eq(read->get(), expected) == 1;
}

TEST(ReadPemKeyTest, ReadsEachKindAndForm) {
  for (const char* kind : {"RSA", "ED25519", "P-224", "P-256", "P-384", "P-521"}) {
    const PkeyPtr key = MakeTestKey(kind);
    EXPECT_TRUE(Reads(absl::StrCat("a remark\n", PemOf(key.get())), key.get())) << kind;
    EXPECT_TRUE(Reads(*PlainPemKey(PemOf(key.get())), key.get())) << kind;
    if (kind == std::string("ED25519")) continue;  // has no other form
    const BioPtr text(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey_traditional(text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                         nullptr);
    const std::string pem = TextOfBio(text.get());
    EXPECT_NE(pem.find(kind == std::string("RSA") ? "BEGIN RSA" : "BEGIN EC"), pem.npos);
    EXPECT_TRUE(Reads(pem, key.get())) << kind;
  }
}

// It would be decrypted, with an empty pass phrase, in 2^31 rounds: for a quarter of an hour.
TEST(ReadPemKeyTest, DecryptsNone) {
  X509_SIG* const encrypted = X509_SIG_new();
  X509_ALGOR* how = nullptr;
  ASN1_OCTET_STRING* what = nullptr;
  X509_SIG_getm(encrypted, &how, &what);
  unsigned char salt[16] = {};
  X509_ALGOR* const rounds = PKCS5_pbe2_set(EVP_aes_256_cbc(), INT_MAX, salt, sizeof salt);
  X509_ALGOR_copy(how, rounds);
  X509_ALGOR_free(rounds);
  ASN1_OCTET_STRING_set(what, salt, sizeof salt);
  const BioPtr text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8(text.get(), encrypted);
  X509_SIG_free(encrypted);
  const std::string pem = TextOfBio(text.get());
  EXPECT_NE(pem.find("BEGIN ENCRYPTED PRIVATE KEY"), pem.npos);
  EXPECT_EQ(ReadPemKey(pem).status().message(),
            "holds no PEM private key (RSA, ECDSA or Ed25519) without a pass phrase");
}

// A key that gives all numbers of its curve, as the key itself or within its PKCS #8.
TEST(ReadPemKeyTest, RefusesOtherCurvesAndKinds) {
  const PkeyPtr key = MakeTestKey("P-256");
  EVP_PKEY_set_utf8_string_param(key.get(), "encoding", "explicit");
  const BioPtr text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey_traditional(text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                       nullptr);
  EXPECT_FALSE(ReadPemKey(TextOfBio(text.get())).ok());
  EXPECT_FALSE(ReadPemKey(PemOf(key.get())).ok());
  EXPECT_FALSE(ReadPemKey(PemOf(MakeTestKey("secp256k1").get())).ok());
  EXPECT_FALSE(ReadPemKey(PemOf(MakeTestKey("ED448").get())).ok());
  EXPECT_FALSE(ReadPemKey(Block("PRIVATE KEY", "none")).ok());
  EXPECT_FALSE(ReadPemKey("").ok());
}

// What OpenSSL would take for a key of another type than the text says: DSA within "RSA PRIVATE KEY",
// the numbers of a curve in a form that only BER allows, numbers of RSA that take seconds.
TEST(ReadPemKeyTest, RefusesKeysInDisguise) {
  const std::string zero("\2\1\0", 3), one("\2\1\1", 3);
  const std::string dsa = Sequence(
      zero + Sequence(Identifier(NID_dsa) + Sequence(one + one + one)) + Element(0x04, one));
  EXPECT_FALSE(ReadPemKey(Block("RSA PRIVATE KEY", dsa)).ok());
  EXPECT_FALSE(ReadPemKey(Block("PRIVATE KEY", dsa)).ok());

  const std::string secret = Element(0x04, std::string(32, '\1'));
  const std::string curve = Identifier(NID_X9_62_prime256v1);
  const std::string good = Sequence(one + secret + Element(0xa0, curve));
  EXPECT_TRUE(ReadPemKey(Block("EC PRIVATE KEY", good)).ok());
  EXPECT_FALSE(ReadPemKey(Block("EC PRIVATE KEY", Sequence(one + secret))).ok());
  const std::string ber = Sequence(one + secret + "\xa0\x80" + curve + std::string(2, '\0'));
  EXPECT_FALSE(ReadPemKey(Block("EC PRIVATE KEY", ber)).ok());
  const std::string within =
      Sequence(zero + Sequence(Identifier(NID_X9_62_id_ecPublicKey) + curve) + Element(0x04, ber));
  EXPECT_FALSE(ReadPemKey(Block("PRIVATE KEY", within)).ok());

  const std::string large = Element(0x02, std::string(1025, '\1'));
  for (int number = 0; number < 8; ++number) {
    std::string numbers = zero;
    for (int i = 0; i < 8; ++i) numbers += i == number ? large : one;
    EXPECT_FALSE(ReadPemKey(Block("RSA PRIVATE KEY", Sequence(numbers))).ok()) << number;
  }
}

// OpenSSL reads keys for SM2 as those of any curve.
TEST(ReadPemCertificatesTest, LeavesOutOtherKindsOfKeys) {
  const std::string key(65, '\4');
  const std::string curve = Identifier(NID_X9_62_prime256v1);
  EXPECT_EQ(CertificatesIn(Block("CERTIFICATE", WithKey(NID_sm2, curve, key))), 0u);
  EXPECT_EQ(CertificatesIn(Block("CERTIFICATE", WithKey(NID_X9_62_id_ecPublicKey, curve, key))),
            1u);
}

}  // namespace
}  // namespace flyball::http
