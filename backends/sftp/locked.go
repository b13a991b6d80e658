//go:build unix

package sftp

import (
	"bytes"
	"context"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/process"
)

// deniedHint is what to do if the server lets nobody in.
func (s *server) deniedHint(offered *answerer) string {
	if offered == nil || !offered.answered.Load() {
		if key := s.lockedKey(); key != "" {
			return "the key " + backend.Quoted(key) + " has a passphrase, and no agent is there that knows it ($SSH_AUTH_SOCK): let one have it, with ssh-add " +
				backend.ShellWord(key) + ", or use a key without a passphrase"
		}
	}
	return offered.denied(s.byHand())
}

// agentVariable has the socket of the agent, unless ssh's configuration names another one.
const agentVariable = "SSH_AUTH_SOCK"

// configTime is how long ssh may take to tell its configuration.
const configTime = 5 * time.Second

// lockedKey returns a key that ssh would use and cannot, because the key has a passphrase and there
// is no agent; "" if there is none. Of such a key ssh says nothing.
func (s *server) lockedKey() string {
	ctx, cancel := context.WithTimeout(context.Background(), configTime)
	defer cancel()
	command := append(s.command(), append([]string{"-G"}, arguments(s.address, true, s.oldSSH.Load())...)...)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	if process.Start(cmd) != nil || process.Wait(cmd) != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // else the file is not found
	agent, locked := os.Getenv(agentVariable), ""
	for line := range strings.Lines(out.String()) {
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "identityagent "); ok && at != agentVariable {
			agent = strings.TrimPrefix(at, "none")
		}
		file, isKey := strings.CutPrefix(strings.TrimSpace(line), "identityfile ")
		if rest, inHome := strings.CutPrefix(file, "~/"); inHome {
			file = filepath.Join(home, rest)
		}
		if isKey && locked == "" && isLocked(file) {
			locked = file
		}
	}
	if agent != "" {
		return ""
	}
	return locked
}

// maxKey is more than a private key has, in bytes.
const maxKey = 64 << 10

// isLocked reports whether a file is a private key with a passphrase: of OpenSSH (PROTOCOL.key), or
// in PEM (RFC 1421, RFC 5958).
func isLocked(file string) bool {
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxKey {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return false
	}
	const magic, plain = "openssh-key-v1\x00", "\x00\x00\x00\x04none"
	if rest, ok := bytes.CutPrefix(block.Bytes, []byte(magic)); ok {
		return !bytes.HasPrefix(rest, []byte(plain))
	}
	return strings.HasPrefix(block.Type, "ENCRYPTED ") || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED")
}
