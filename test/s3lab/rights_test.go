//go:build unix

package s3lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/s3server"
)

// TestRights: a user who may not write or not remove objects is told so before the command runs,
// and leaves nothing behind.
func TestRights(t *testing.T) {
	lab.NotShort(t, "starts an object store")
	t.Parallel()
	server, user := s3server.StartForUser(t)
	p := place{&store{[]*s3server.Server{server}, server.Endpoint}, server.Endpoint, "locks/l"}
	const get, put, remove = "s3:GetObject", "s3:PutObject", "s3:DeleteObject"
	for _, c := range []struct {
		may  []string
		want int
	}{
		{[]string{get, put}, protocol.Permission.Exit()},
		{[]string{get, remove}, protocol.Permission.Exit()},
		{[]string{get, put, remove}, 0},
		{[]string{get, put}, protocol.Permission.Exit()}, // there has been a holder by now
	} {
		server.May(t, c.may...)
		ran := filepath.Join(t.TempDir(), "ran")
		run := p.under(t)(nil, "touch", ran)
		run.Env = append(os.Environ(), user...)
		status, said := lab.Run(t, run)
		if _, err := os.Stat(ran); status != c.want || (err == nil) != (c.want == 0) || c.want != 0 && !strings.Contains(said, "list and delete below the prefix") {
			t.Errorf("%q: exit status %d, ran: %t\n%s", c.may, status, err == nil, said)
		}
		if left := p.leftovers(t); len(left) > 0 {
			t.Errorf("%q: left: %q", c.may, left)
		}
	}
}
