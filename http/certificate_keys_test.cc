#include "http/certificate_keys.h"

#include <openssl/objects.h>
#include <openssl/x509.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "http/testing/der.h"
#include "http/testing/slow_certificate.h"
#include "http/testing/test_pki.h"

namespace flyball::http {
namespace {

// ---- certificates ----

const std::string kNull("\5\0", 2);

// `modulus`, `exponent`: as they are written, with a zero before a first bit of one.
std::string Rsa(const std::string& modulus, const std::string& exponent) {
  return WithKey(NID_rsaEncryption, kNull, Sequence(Number(modulus) + Number(exponent)));
}
std::string Modulus(size_t bits) {
  const std::string zero = bits % 8 == 0 ? std::string(1, '\0') : "";
  const char first = static_cast<char>(1 << ((bits + 7) % 8));
  return zero + first + std::string((bits + 7) / 8 - 1, '\x5b');
}
const std::string kUsualExponent("\1\0\1", 3);

std::string Ecdsa(int curve, char form, size_t bytes) {
  return WithKey(NID_X9_62_id_ecPublicKey, Identifier(curve), form + std::string(bytes, 'x'));
}

std::string Der(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  const std::string der(bytes, bytes + size);
  OPENSSL_free(bytes);
  return der;
}

// As they are made: with names, extensions and a signature.
std::string Real(const std::string& key) {
  return Der(MakeTestPair({.common_name = "a", .organization = "b", .names = "DNS:a.b", .key = key})
                 .certificate.get());
}

// ---- keys ----

struct Row {
  std::string name;
  std::string certificate;
  KeyFlaw flaw = KeyFlaw::kNone;
};

class KeyFlawOfTest : public testing::TestWithParam<Row> {};

TEST_P(KeyFlawOfTest, Row) { EXPECT_EQ(KeyFlawOf(GetParam().certificate), GetParam().flaw); }

std::string NameOf(const testing::TestParamInfo<Row>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Rsa, KeyFlawOfTest,
    testing::Values(
        Row{"Usual", Real("RSA")}, Row{"Bits4096", Rsa(Modulus(4096), kUsualExponent)},
        Row{"Bits8192", Rsa(Modulus(8192), kUsualExponent)},
        Row{"Bits8193", Rsa(Modulus(8193), kUsualExponent), KeyFlaw::kModulus},
        Row{"Bits16384", Rsa(Modulus(16384), kUsualExponent), KeyFlaw::kModulus},
        Row{"Exponent31Bits", Rsa(Modulus(2048), "\x7f\xff\xff\xff")},
        Row{"Exponent32Bits", Rsa(Modulus(2048), std::string("\0\x80\0\0\1", 5)),
            KeyFlaw::kExponent},
        // Of OpenSSL it is read as a large one.
        Row{"ExponentBelowZero", Rsa(Modulus(2048), std::string("\x80\0\0\1", 4)),
            KeyFlaw::kExponent},
        Row{"ExponentAsLongAsItsModulus", Rsa(Modulus(3072), Modulus(3070)), KeyFlaw::kExponent},
        Row{"WithoutParameters",
            WithKey(NID_rsaEncryption, "", Sequence(Number(Modulus(2048)) + Number("\3")))},
        Row{"OtherParameters",
            WithKey(NID_rsaEncryption, Number("\1"), Sequence(Number("\3") + Number("\3"))),
            KeyFlaw::kUnreadable},
        Row{"ThreeNumbers",
            WithKey(NID_rsaEncryption, kNull, Sequence(Number("\3") + Number("\3") + Number("\3"))),
            KeyFlaw::kUnreadable},
        Row{"NoNumbers", WithKey(NID_rsaEncryption, kNull, "x"), KeyFlaw::kUnreadable}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Ecdsa, KeyFlawOfTest,
    testing::Values(
        Row{"P224", Real("P-224")}, Row{"P256", Real("P-256")}, Row{"P384", Real("P-384")},
        Row{"P521", Real("P-521")}, Row{"OtherCurve", Real("secp256k1"), KeyFlaw::kCurve},
        Row{"CurveOfItsOwn", SlowCertificate(), KeyFlaw::kCurve},
        Row{"NoCurve", WithKey(NID_X9_62_id_ecPublicKey, "", "\4"), KeyFlaw::kCurve},
        Row{"CurveImplied", WithKey(NID_X9_62_id_ecPublicKey, kNull, "\4"), KeyFlaw::kCurve},
        Row{"Uncompressed", Ecdsa(NID_X9_62_prime256v1, 4, 64)},
        Row{"Compressed", Ecdsa(NID_X9_62_prime256v1, 2, 32), KeyFlaw::kPoint},
        Row{"CompressedOnP224", Ecdsa(NID_secp224r1, 3, 28), KeyFlaw::kPoint},
        Row{"Hybrid", Ecdsa(NID_X9_62_prime256v1, 6, 64), KeyFlaw::kPoint},
        Row{"TooShort", Ecdsa(NID_X9_62_prime256v1, 4, 63), KeyFlaw::kPoint},
        Row{"NoPoint", WithKey(NID_X9_62_id_ecPublicKey, Identifier(NID_X9_62_prime256v1), ""),
            KeyFlaw::kPoint}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Others, KeyFlawOfTest,
    testing::Values(
        Row{"Ed25519", Real("ED25519")},
        Row{"Ed25519TooLong", WithKey(NID_ED25519, "", std::string(33, 'x')), KeyFlaw::kUnreadable},
        Row{"Ed448", Real("ED448"), KeyFlaw::kKind},
        Row{"Dsa", WithKey(NID_dsa, Sequence(Number("\3") + Number("\3") + Number("\3")), "\2\1\3"),
            KeyFlaw::kKind},
        Row{"DiffieHellman", WithKey(NID_dhKeyAgreement, Sequence(""), "\2\1\3"), KeyFlaw::kKind},
        Row{"RsaForPssAlone",
            WithKey(NID_rsassaPss, "", Sequence(Number(Modulus(2048)) + Number("\3"))),
            KeyFlaw::kKind},
        Row{"NoIdentifier", WithKeyInfo(Sequence("") + Bits("")), KeyFlaw::kKind}),
    NameOf);

// With a mark at the end instead, as BER allows. The element has less than 128 bytes.
std::string WithoutLength(const std::string& element) {
  return element[0] + ("\x80" + element.substr(2)) + std::string(2, '\0');
}

const std::string kKind = Sequence(Identifier(NID_ED25519));
const std::string kKey(32, 'x');

INSTANTIATE_TEST_SUITE_P(
    Forms, KeyFlawOfTest,
    testing::Values(
        Row{"VersionOne", WithKeyInfo(kKind + Bits(kKey), /*with_version=*/false)},
        Row{"Nothing", "", KeyFlaw::kUnreadable}, Row{"Text", "certificate", KeyFlaw::kUnreadable},
        Row{"MoreAfterIt", WithKeyInfo(kKind + Bits(kKey)) + kNull, KeyFlaw::kUnreadable},
        Row{"MoreAfterTheKey", WithKeyInfo(kKind + Bits(kKey) + kNull), KeyFlaw::kUnreadable},
        Row{"BitsUnused", WithKeyInfo(kKind + Element(3, "\1" + kKey)), KeyFlaw::kUnreadable},
        Row{"NoBits", WithKeyInfo(kKind + Element(3, "")), KeyFlaw::kUnreadable},
        // BER may have a string of bits in pieces.
        Row{"BitsInPieces", WithKeyInfo(kKind + Element(0x23, Bits(kKey))), KeyFlaw::kUnreadable},
        Row{"LengthNotTold", WithoutLength(WithKeyInfo(kKind + Bits(kKey))), KeyFlaw::kUnreadable}),
    NameOf);

TEST(KeyFlawOfPartsTest, EachBeginningIsUnreadable) {
  for (const std::string& whole : {Real("RSA"), Real("P-256"), Rsa(Modulus(8192), "\3")}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      ASSERT_EQ(KeyFlawOf(whole.substr(0, size)), KeyFlaw::kUnreadable) << size;
    }
  }
}

// ---- messages ----

std::string Message(const std::vector<std::string>& certificates, bool tls13) {
  std::string list;
  for (const std::string& certificate : certificates) {
    list += BigEndian(certificate.size(), 3) + certificate;
    if (tls13) list += BigEndian(2, 2) + "ex";
  }
  const std::string body = (tls13 ? BigEndian(1, 1) + "c" : "") + BigEndian(list.size(), 3) + list;
  return "\x0b" + BigEndian(body.size(), 3) + body;
}

TEST(KeyFlawOfMessageTest, AllCertificatesAreLookedAt) {
  const std::string good = Real("P-256"), bad = Real("ED448");
  for (const bool tls13 : {false, true}) {
    EXPECT_EQ(KeyFlawOfMessage(Message({}, tls13), tls13), KeyFlaw::kNone);
    EXPECT_EQ(KeyFlawOfMessage(Message({good}, tls13), tls13), KeyFlaw::kNone);
    EXPECT_EQ(KeyFlawOfMessage(Message({good, good, good}, tls13), tls13), KeyFlaw::kNone);
    EXPECT_EQ(KeyFlawOfMessage(Message({bad}, tls13), tls13), KeyFlaw::kKind);
    EXPECT_EQ(KeyFlawOfMessage(Message({good, good, bad}, tls13), tls13), KeyFlaw::kKind);
    EXPECT_EQ(KeyFlawOfMessage(Message({SlowCertificate(), bad}, tls13), tls13), KeyFlaw::kCurve);
    EXPECT_EQ(KeyFlawOfMessage(Message({""}, tls13), tls13), KeyFlaw::kUnreadable);
  }
}

TEST(KeyFlawOfMessageTest, ItsLengthsMustAgree) {
  const std::string good = Real("P-256");
  for (const bool tls13 : {false, true}) {
    EXPECT_EQ(KeyFlawOfMessage(Message({good}, tls13), !tls13), KeyFlaw::kUnreadable);
    const std::string whole = Message({good, good}, tls13);
    EXPECT_EQ(KeyFlawOfMessage(whole + "x", tls13), KeyFlaw::kUnreadable);
    for (size_t size = 0; size < whole.size(); ++size) {
      ASSERT_EQ(KeyFlawOfMessage(whole.substr(0, size), tls13), KeyFlaw::kUnreadable) << size;
      if (size < 4) continue;
      // As if that were all of it.
      const std::string cut = "\x0b" + BigEndian(size - 4, 3) + whole.substr(4, size - 4);
      ASSERT_EQ(KeyFlawOfMessage(cut, tls13), KeyFlaw::kUnreadable) << size;
    }
  }
}

}  // namespace
}  // namespace flyball::http
