//go:build unix

package backend

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// authority returns a certificate in PEM.
func authority(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestRoots: certificates are read of regular files of a bounded size. A FIFO without a writer is
// refused at once.
func TestRoots(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	pem := authority(t)
	good := write("good", pem)
	for file, says := range map[string]string{
		good:               "",
		write("empty", ""): "no certificate in",
		write("largest", pem+strings.Repeat("\n", maxCertificates-len(pem))): "",
		write("large", pem+strings.Repeat("\n", maxCertificates+1-len(pem))): "too large",
		dir:                          "not a regular file",
		fifo:                         "not a regular file",
		"/dev/zero":                  "not a regular file",
		filepath.Join(dir, "nobody"): "no such file",
	} {
		roots, err := Access{CA: file}.Roots()
		switch {
		case says == "":
			if err != nil || roots == nil || roots.Equal(x509.NewCertPool()) {
				t.Errorf("%s has a certificate: Roots returns the error %v, and none", file, err)
			}
		case err == nil || roots != nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), file):
			t.Errorf("of %s Roots returns %v and the error %v, want an error that names the file and says %q", file, roots, err, says)
		}
	}
	for about, access := range map[string]Access{"no file is named": {}, "any certificate will do": {CA: fifo, Insecure: true}} {
		if roots, err := access.Roots(); roots != nil || err != nil {
			t.Errorf("%s: Roots returns %v and the error %v, want neither", about, roots, err)
		}
	}
}

// TestCertificatesEnd: a file that says that it is empty, and is not, is not read without end.
func TestCertificatesEnd(t *testing.T) {
	const file = "/proc/kallsyms" // usually larger than maxCertificates
	if text, _ := readCertificates(file); len(text) > maxCertificates {
		t.Errorf("%d bytes are read of %s as certificates, want %d at most", len(text), file, maxCertificates)
	}
}
