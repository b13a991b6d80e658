package ftpserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"time"
)

// certificates are made once for all servers: vsftpd wants an RSA key, and making one takes time.
var certificates = sync.OnceValues(func() (made struct{ ca, both string }, err error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return made, err
	}
	authority := template("locksmith test authority")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return made, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return made, err
	}
	server := template("localhost")
	server.DNSNames = []string{"localhost"}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	server.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, server, authority, key.Public(), authorityKey)
	if err != nil {
		return made, err
	}
	made.ca = block("CERTIFICATE", caDER)
	made.both = block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)) + block("CERTIFICATE", der)
	return made, nil
})

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
	}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

const (
	openSSLConfig = "openssl.cnf"
	onlyTLS12     = `
openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = limits
[limits]
MaxProtocol = TLSv1.2
`
)

// writeCertificates writes what a server and its clients need for TLS.
func (s *site) writeCertificates() error {
	if _, err := s.write(openSSLConfig, onlyTLS12); err != nil {
		return err
	}
	made, err := certificates()
	if err != nil {
		return err
	}
	if s.ca, err = s.write("ca.pem", made.ca); err != nil {
		return err
	}
	s.both, err = s.write("both.pem", made.both)
	return err
}
