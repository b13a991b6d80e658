package profile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const ours = "ftp.example.org"

// asked returns the password that a server would be told.
func asked(t *testing.T, e Env, lock, user, host string) (string, error) {
	t.Helper()
	p, err := e.Resolve(lock)
	if err != nil {
		return "", err
	}
	password, _, err := p.Access().Password(user, host)
	return password, err
}

func mustBe(t *testing.T, want string) func(string, error) {
	return func(got string, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestPasswordWithoutProfile(t *testing.T) {
	const lock = "ftp://alice@" + ours + "/x"
	vars := map[string]string{}
	e := home(t, vars)
	mustBe(t, "")(asked(t, e, lock, "alice", ours))
	write(t, filepath.Join(e.Home, ".netrc"), 0o600, "machine other login alice password no\n"+
		"machine "+ours+" login bob password no\nmachine "+ours+"\nlogin alice # ours\npassword "+canary+"\ndefault login alice password no\n")
	mustBe(t, canary)(asked(t, e, lock, "alice", ours))
	mustBe(t, canary)(asked(t, e, lock, "alice", ours+":2121"))
	mustBe(t, "")(asked(t, e, lock, "", ours))
	mustBe(t, "")(asked(t, e, lock, "carol", ours))
	mustBe(t, "")(asked(t, e, lock, "alice", "elsewhere"))
	vars["NETRC"] = write(t, filepath.Join(e.Home, "rc"), 0o600, "machine ::1 login alice password six\n")
	mustBe(t, "")(asked(t, e, lock, "alice", ours))
	mustBe(t, "six")(asked(t, e, lock, "alice", "[::1]:2121"))
	mustBe(t, "six")(asked(t, e, lock, "alice", "[::1]"))
	vars[passwordVariable] = "first"
	mustBe(t, "first")(asked(t, e, lock, "alice", ours))
	mustBe(t, "")(asked(t, e, lock, "", ours))
}

// TestNetrc: files as people and programs write them.
func TestNetrc(t *testing.T) {
	for text, want := range map[string]string{
		"machine h\r\nlogin u\r\npassword p\r\n":                                         "p",
		"machine h login x password no\nmachine h login u password yes\n":                "yes",
		"machine h password p account a login u":                                         "p",
		"machine h login u password a#b":                                                 "a#b",
		"machine h login u password #b\n":                                                "#b",
		"machine h login u password default":                                             "default",
		"machine h login u password machine":                                             "machine",
		"machine h login u password p\u00a0":                                             "p",
		"# machine h login u password no\nmachine h # ours\nlogin u\npassword p # end\n": "p",
		"machine h\n# machine other login u password no\nlogin u password p\n":           "p",
		"machine g login u password no\nmacdef m\nput a\n\nmachine h login u password p": "p",
		"machine h login u\nmacdef init\nput a\nquit\n\npassword p\n":                    "p",
		"machine h login u password p\nmachine":                                          "p",
		"machine default login u password no\ndefault login u password no":               "",
		"machine": "",
	} {
		if got, err := passwordIn([]byte(text), "rc", "u", "h"); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"default login u password no\nmachine h login u password p":    "line 2",
		"machine h login u password p password q":                      "line 1",
		"machine h login u password \"a b\"":                           "quote",
		"machine h login u password p\n#" + strings.Repeat("x", 1<<16): "cannot be understood",
	} {
		_, err := passwordIn([]byte(text), "rc", "u", "h")
		mustRefuse(t, err, says)
	}
}

// profiled writes a profile with one more line.
func profiled(t *testing.T, e Env, line string) {
	write(t, e.Files[0], 0o600, "[p]\nlock = \"ftp://alice@"+ours+"/x\"\n"+line+"\n")
}

func TestPasswordOfProfile(t *testing.T) {
	vars := map[string]string{passwordVariable: "any", "FTP_PW": canary}
	e := home(t, vars)
	profiled(t, e, "")
	mustBe(t, "any")(asked(t, e, "p", "alice", ours))
	profiled(t, e, `password_env = "FTP_PW"`)
	mustBe(t, canary)(asked(t, e, "p", "alice", ours))
	if p, err := e.Resolve("p"); err != nil || !slices.Equal(p.SecretVariables(), []string{passwordVariable, "FTP_PW"}) {
		t.Errorf("the profile is %+v (%v), want both as its secret variables", p, err)
	}
	profiled(t, e, `password_file = "~/secret"`)
	write(t, filepath.Join(e.Home, "secret"), 0o600, canary+" 2\r\nwhat it is for\n")
	mustBe(t, canary+" 2")(asked(t, e, "p", "alice", ours))
	profiled(t, e, `netrc = "~/rc"`)
	write(t, filepath.Join(e.Home, "rc"), 0o400, "machine "+ours+" login alice password "+canary)
	mustBe(t, canary)(asked(t, e, "p", "alice", ours))
}

func TestPasswordRefused(t *testing.T) {
	vars := map[string]string{}
	e := home(t, vars)
	refuse := func(user string, says ...string) {
		t.Helper()
		_, err := asked(t, e, "p", user, ours)
		mustRefuse(t, err, says...)
	}
	profiled(t, e, `password_env = "FTP_PW"`)
	refuse("alice", e.Files[0], "variable FTP_PW", "not set")
	vars["FTP_PW"] = canary + "\r\nDELE x"
	refuse("alice", "$FTP_PW", "line break")
	refuse("", "names no user")

	profiled(t, e, `password_file = "~/secret"`)
	secret := filepath.Join(e.Home, "secret")
	refuse("alice", secret, "no such file")
	write(t, secret, 0o600, "\n"+canary)
	refuse("alice", secret, "first line is empty")
	write(t, secret, 0o600, canary+"\x00")
	refuse("alice", secret, "zero byte")

	profiled(t, e, `netrc = "~/rc"`)
	rc := filepath.Join(e.Home, "rc")
	refuse("alice", rc, "no such file")
	write(t, rc, 0o600, "machine "+ours+" login bob password "+canary)
	refuse("alice", rc, "no password for login alice at machine "+ours)
	write(t, rc, 0o600, "password "+canary)
	refuse("alice", rc, "line 1")
	write(t, rc, 0o600, "machine "+ours+" login alice password \""+canary+" x\"")
	refuse("alice", rc, "quote")
}

// TestSourcesAreCheckedAtOnce: sources are checked before anybody waits, whatever the lock is.
func TestSourcesAreCheckedAtOnce(t *testing.T) {
	e := home(t, nil)
	write(t, filepath.Join(e.Home, "secret"), 0o640, canary)
	for _, key := range []string{"password_file", "netrc"} {
		profiled(t, e, key+` = "~/secret"`)
		_, err := e.Resolve("p")
		mustRefuse(t, err, "mode 0640", "chmod 600")
	}
}

func TestReadableNetrc(t *testing.T) {
	e := home(t, nil)
	write(t, filepath.Join(e.Home, ".netrc"), 0o644, "machine "+ours+" login alice password "+canary)
	_, err := asked(t, e, "ftp://alice@"+ours+"/x", "alice", ours)
	mustRefuse(t, err, ".netrc: read netrc", "chmod 600")
	mustBe(t, "")(asked(t, e, "ftp://"+ours+"/x", "", ours))
}

// TestPasswordSource: the error says where the password came from, so that a wrong one can be
// found.
func TestPasswordSource(t *testing.T) {
	vars := map[string]string{}
	e := home(t, vars)
	netrc := write(t, filepath.Join(e.Home, ".netrc"), 0o600, "machine "+ours+" login alice password one\n")
	source := func() string {
		t.Helper()
		p, err := e.Resolve("ftp://alice@" + ours + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_, source, err := p.Access().Password("alice", ours)
		if err != nil {
			t.Error(err)
		}
		return source
	}
	if got := source(); got != netrc {
		t.Errorf("%q, not %q", got, netrc)
	}
	vars[passwordVariable] = "two"
	if got := source(); got != "$"+passwordVariable {
		t.Errorf("the password is from %q, not from $%s", got, passwordVariable)
	}
}
