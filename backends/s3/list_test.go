//go:build unix

package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// TestEndlessPages: a store that always has another page is asked until the listing is too long.
func TestEndlessPages(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	page := "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>" +
		strings.Repeat("<Contents><Key>locks/l/x</Key></Contents>", 5000) + "</ListBucketResult>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, fmt.Sprintf(page, asked.Add(1))) // if this fails, the client has gone
	}))
	t.Cleanup(s.Close)
	_, err := mustOpen(t, addressAt(s.URL)).Read(t.Context())
	if !errors.As(err, new(backend.TooLongError)) || backend.CodeOf(err) != protocol.CannotCreate || asked.Load() != 21 {
		t.Errorf("an endless listing returns %v after %d requests, want 21", err, asked.Load())
	}
}

// TestStoppedWhileReading: an answer that is read by a process which was stopped meanwhile is late,
// and not too long. Only the first may pass.
func TestStoppedWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := &body{io.NopCloser(strings.NewReader("<ListBucketResult>")), backend.NewHaul()}
		time.Sleep(time.Hour)
		if _, err := io.ReadAll(answer); err != nil {
			t.Error(err)
		}
	})
}
