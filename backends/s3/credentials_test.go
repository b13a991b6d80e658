//go:build unix

package s3

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/process"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
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

// TestBareRefusal: the answer to a HEAD says nothing, so a GET finds out why it was refused.
func TestBareRefusal(t *testing.T) {
	address := before(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, expired) // net/http leaves it out after a HEAD
	})
	_, err := mustOpen(t, address).Store.Head(t.Context(), "k")
	backendtest.MustFail(t, err, protocol.Permission, "AWS_ACCESS_KEY_ID")
}

const expired = `<?xml version="1.0"?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>`

// useProfile makes credentials come from a profile, with lines of ~/.aws/credentials.
func useProfile(t *testing.T) (write func(lines string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "credentials")
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": file} {
		t.Setenv(name, value)
	}
	return func(lines string) {
		t.Helper()
		backendtest.MustWork(t, os.WriteFile(file, []byte("[default]\n"+lines+"\n"), 0o600))
	}
}

// TestCredentialsReplaced: each request goes on with what was written into the file since the store
// refused what stood there, and what it writes is whole.
func TestCredentialsReplaced(t *testing.T) {
	write := useProfile(t)
	use := func(token string) {
		write("aws_access_key_id = k\naws_secret_access_key = s\naws_session_token = " + token)
	}
	var good atomic.Value
	good.Store("0")
	address := before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if r.Header.Get("X-Amz-Security-Token") == good.Load() {
			pass.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, expired)
	})
	use("0")
	store, ctx := mustOpen(t, address).Store, t.Context()
	for i, request := range []func() error{
		func() error { return store.Create(ctx, "k", []byte("one")) },
		func() error { return store.Put(ctx, "k", []byte("two")) },
		func() error { _, err := store.Head(ctx, "k"); return err },
		func() error {
			_, content, err := store.Get(ctx, "k")
			if err == nil && string(content) != "two" {
				t.Errorf("what was written with renewed credentials is %q, want two", content)
			}
			return err
		},
		func() error { _, err := store.List(ctx); return err },
		func() error { return store.Delete(ctx, "k") },
	} {
		good.Store(fmt.Sprint(i + 1))
		backendtest.MustFail(t, request(), protocol.Permission, "AWS_PROFILE")
		use(fmt.Sprint(i + 1))
		backendtest.MustWork(t, request())
	}
}

// TestCredentialProcess: a credential_process is a program of our own, its words are bounded, and no
// error shows them.
func TestCredentialProcess(t *testing.T) {
	write, address := useProfile(t), serve(t)
	dir := t.TempDir()
	const good = `{"Version":1,"AccessKeyId":"k","SecretAccessKey":"s3cr3t"}`
	write("credential_process = touch " + dir + "/runs; while [ ! -e " + dir + "/go ]; do sleep 0.01; done; echo '" + good + "'")
	done := make(chan error, 1)
	go func() { _, err := mustOpen(t, address).Store.List(t.Context()); done <- err }()
	lab.Eventually(t, "the program runs", func() bool { _, err := os.Stat(dir + "/runs"); return err == nil }, func() string { return "" })
	if own := process.Own(); len(own) != 1 {
		t.Errorf("while the credential_process runs, %v are programs of our own; want it", own)
	}
	backendtest.MustWork(t, os.WriteFile(dir+"/go", nil, 0o600))
	backendtest.MustWork(t, <-done)
	for command, says := range map[string]string{
		"echo s3cr3t; exit 3": "exit status 3",
		"echo s3cr3t":         "not the JSON",
		"yes s3cr3t":          "credential_process: ",
		`echo '{"Version":2,"AccessKeyId":"k","SecretAccessKey":"s3cr3t"}'`: "Version",
		`echo '{"Version":1,"AccessKeyId":"s3cr3t"}'`:                       "SecretAccessKey",
	} {
		write("credential_process = " + command)
		_, err := mustOpen(t, address).Store.List(t.Context())
		backendtest.MustFail(t, err, protocol.Unreachable, "AWS_PROFILE")
		if text := fmt.Sprint(err); !strings.Contains(text, says) || strings.Contains(text, "s3cr3t") {
			t.Errorf("a credential_process that does %s: the error is %v; want one with %q, and no secret", command, err, says)
		}
	}
}

// TestProgramForRole: a role is assumed with the credentials of a credential_process, which is a program
// of our own, and a second role with those of the first. The store gets those of the last.
func TestProgramForRole(t *testing.T) {
	write, dir := useProfile(t), t.TempDir()
	assumed := make(chan string, 9)
	roles := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Base(r.FormValue("RoleArn"))
		by, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
		assumed <- r.FormValue("Action") + " " + name + " by " + by
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>key-of-%s</AccessKeyId>`+
			`<SecretAccessKey>s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			name, name, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(roles.Close)
	t.Setenv("AWS_ENDPOINT_URL_STS", roles.URL)
	t.Setenv("AWS_REGION", usualRegion)
	var token atomic.Value
	address := before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		token.Store(r.Header.Get("X-Amz-Security-Token"))
		pass.ServeHTTP(w, r)
	})
	write("role_arn = arn:aws:iam::1:role/second\nsource_profile = first\n[first]\nrole_arn = arn:aws:iam::1:role/first\nsource_profile = base\n" +
		"[base]\ncredential_process = touch " + dir + "/runs; while [ ! -e " + dir + "/go ]; do sleep 0.01; done; " +
		`echo '{"Version":1,"AccessKeyId":"key-of-program","SecretAccessKey":"s"}'`)
	done := make(chan error, 1)
	go func() { _, err := mustOpen(t, address).Store.List(t.Context()); done <- err }()
	lab.Eventually(t, "the program runs", func() bool { _, err := os.Stat(dir + "/runs"); return err == nil })
	if own := process.Own(); len(own) != 1 {
		t.Errorf("while the credential_process runs, %v are programs of our own; want it", own)
	}
	backendtest.MustWork(t, os.WriteFile(dir+"/go", nil, 0o600))
	backendtest.MustWork(t, <-done)
	for _, want := range []string{"AssumeRole first by key-of-program", "AssumeRole second by key-of-first"} {
		if got := <-assumed; got != want {
			t.Errorf("it asks for %q, want %q", got, want)
		}
	}
	if token.Load() != "second" {
		t.Errorf("the store gets the token of %q, want that of the second role", token.Load())
	}
}
