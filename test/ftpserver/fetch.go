package ftpserver

import (
	"bytes"
	"context"
	_ "embed" // the script
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backendtest"
)

//go:embed fetch
var fetchScript string

const fetchLimit = 5 * time.Minute

// fetched unpacks the servers, and returns where they are.
var fetched = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "locksmith-ftp-servers")
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fetchScript, "fetch", dir)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch: %w: %s", err, bytes.TrimSpace(out))
	}
	return dir, nil
})

// need returns where the programs of all kinds are, unless this machine cannot
// run the kind.
func need(t testing.TB, kind string) string {
	t.Helper()
	if kind == "embedded" {
		return ""
	}
	if os.Geteuid() != 0 {
		backendtest.Lacking(t, "starting "+kind+" needs root")
	}
	if err := namespaces(); err != nil {
		backendtest.Lacking(t, "no namespaces here: "+err.Error())
	}
	dir, err := fetched()
	if err != nil {
		backendtest.Lacking(t, "no FTP servers here: "+err.Error())
	}
	return dir
}
