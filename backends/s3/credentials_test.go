//go:build unix

package s3

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

// TestCredentialsRenewed: credentials that cannot be renewed for a while are no reason to give up
// on a store that has answered. Without any, there is nothing to wait for (TestNoCredentials).
func TestCredentialsRenewed(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"AccessKeyId":"k","SecretAccessKey":"s","Token":"t","Expiration":%q}`, time.Now().UTC().Format(time.RFC3339))
	}))
	t.Cleanup(s.Close)
	address := serve(t)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": s.URL} {
		t.Setenv(name, value)
	}
	l := mustOpen(t, address)
	if _, err := l.Store.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := l.Store.List(t.Context())
	backendtest.MustFail(t, err, protocol.Unreachable, "AWS_PROFILE")
	if !backend.Passes(err) {
		t.Errorf("%v: it does not pass", err)
	}
}
