"""Certificates and tokens made for tests."""

import json
import ssl
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Pair = tuple[str, str]
"""A certificate and its key, PEM."""
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@cache
def authority(name: str = "test-ca") -> Pair:
    """A certificate authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    made = _named(name, name, key.public_key(), datetime(2040, 1, 1, tzinfo=UTC))
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = made.add_extension(_signs_certificates(), critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return _pems(made.sign(key, hashes.SHA256()), key)


def issued(by: Pair, name: str, *, group: str = "", ends: datetime | None = None, address: str = "127.0.0.1") -> Pair:
    """A certificate for a user, of a group, or for a server at an address."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.load_pem_x509_certificate(by[0].encode())
    signer = serialization.load_pem_private_key(by[1].encode(), None)
    common = issuer.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    made = _named(name, str(common), key.public_key(), ends or datetime.now(UTC) + timedelta(hours=1), group)
    local = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
    made = made.add_extension(local, critical=False)
    made = made.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()), critical=False
    )  # from Python 3.13 on, a certificate without it is refused
    return _pems(made.sign(signer, hashes.SHA256()), key)


def _signs_certificates() -> x509.KeyUsage:
    no = dict.fromkeys(
        (
            *("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
            *("digital_signature", "encipher_only", "decipher_only"),
        ),
        False,
    )
    return x509.KeyUsage(key_cert_sign=True, crl_sign=True, **no)


def serving(certificate: str, key: str, folder: Path) -> ssl.SSLContext:
    """How a server shows a certificate."""
    path = folder / "server.pem"
    path.write_text(certificate + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def jwt(ends: datetime) -> str:
    """A token that says when it ends, and that nobody signed."""
    parts = ({"alg": "none"}, {"exp": int(ends.timestamp())})
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + ".x"


def _named(name, issuer, key, ends, group="") -> x509.CertificateBuilder:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    subject += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    made = x509.CertificateBuilder().subject_name(x509.Name(subject)).public_key(key)
    made = made.issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
    made = made.serial_number(x509.random_serial_number())
    return made.not_valid_before(_LONG_AGO).not_valid_after(ends)


def _pems(certificate: x509.Certificate, key) -> Pair:
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(pem).decode(), private.decode()
