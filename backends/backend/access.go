package backend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"syscall"
)

// Roots returns the certificates of the file CA. If the file is not needed, it returns nil, which
// stands for the system's certificates.
func (a Access) Roots() (*x509.CertPool, error) {
	if a.CA == "" || a.Insecure {
		return nil, nil
	}
	pem, err := readCertificates(a.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("there is no certificate in " + a.CA)
	}
	return roots, nil
}

// TLS is how to speak to a server by TLS: whom to trust, and with which certificate of our own.
func (a Access) TLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.Insecure}
	var err error
	if config.RootCAs, err = a.Roots(); err != nil || a.Certificate == "" {
		return config, err
	}
	text, err := readCertificates(a.Certificate)
	if err != nil {
		return config, err
	}
	ours, err := tls.X509KeyPair(text, text)
	config.Certificates = []tls.Certificate{ours}
	return config, err
}

// maxCertificates is several times the size of all authorities of a system, in bytes.
const maxCertificates = 4 << 20

// readCertificates neither waits for a writer of a FIFO, nor reads a file without end.
func readCertificates(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxCertificates {
		return nil, errors.New(file + " is not a regular file, or too large")
	}
	return io.ReadAll(io.LimitReader(f, maxCertificates))
}
