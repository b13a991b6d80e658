package profile

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/protocol"
)

const whole = `
[phonestuff]
lock = "ftps://alice@ftp.example.org/locks/phonestuff"
shared = true
strict = false
timeout = "5m"
lease = 90
respite = 1.5
refresh = "5s"
max_hold = "2h"
once_per = "20h"
poll = "25ms..100ms"
slow = "2s"
retries = 7
password_file = "~/secret"
ca = "/etc/ca.pem"

[phonestuff.meta]
job = "nightly"
area = "42"
`

func TestWhole(t *testing.T) {
	e := Env{Home: "/home/alice"}
	all, err := e.parse("f", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	timeout, lease, respite, refresh := 5*time.Minute, 90*time.Second, 1500*time.Millisecond, 5*time.Second
	most, once := 2*time.Hour, 20*time.Hour
	poll, slow, retries := backoff.Range{Min: 25 * time.Millisecond, Max: 100 * time.Millisecond}, backoff.Range{Min: 2 * time.Second, Max: 2 * time.Second}, 7
	want := &Profile{
		Name: "phonestuff", File: "f", Lock: "ftps://alice@ftp.example.org/locks/phonestuff",
		Shared: &yes, Strict: &no, Timeout: &timeout, Lease: &lease, Grace: &respite,
		Refresh: &refresh, MaxHold: &most, OncePer: &once, Poll: &poll, Slow: &slow, Retries: &retries,
		Meta: []string{"area=42", "job=nightly"}, ca: "/etc/ca.pem", passwordFile: "/home/alice/secret", env: e,
	}
	if got := all["phonestuff"]; len(all) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRefusals(t *testing.T) {
	const good = "[p]\nlock = \"local:/x\"\n"
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"bracket":              {"[p\nlock = 3", []string{"line 1", "not TOML"}},
		"unknown key":          {good + "colour = 1", []string{"f: read profiles, line 3: profile p: key colour is not known; known keys: ca, "}},
		"misspelt key":         {good + "timout = 1", []string{"line 3", "did you mean timeout?"}},
		"backward range":       {good + "poll = \"2s..1s\"", []string{"line 3", "poll is wrong", "25ms..100ms"}},
		"range from nothing":   {good + "slow = \"0..1s\"", []string{"line 3", "slow is wrong"}},
		"negative retries":     {good + "retries = -1", []string{"line 3", "retries is wrong", "number"}},
		"unknown key in meta":  {good + "[p.mata]\nx = 1", []string{"line 3", "mata", "did you mean meta?"}},
		"quoted key":           {good + "\"" + canary + "=\" = 1", []string{"line 3", "not shown"}},
		"password":             {good + "password = \"" + canary + "\"", []string{"line 3", "password_file", "0600"}},
		"number as password":   {good + "password = 4711", []string{"line 3", "password_file"}},
		"passwd":               {good + "passwort = \"" + canary + "\"", []string{"line 3", "password_file"}},
		"password on top":      {"password = \"" + canary + "\"\n" + good, []string{"line 1", "password_file"}},
		"password, no quotes":  {good + "password = " + canary, []string{"line 3", "not TOML"}},
		"password, open quote": {good + "password = \"" + canary + "\n", []string{"line 3", "not TOML"}},
		"password as date":     {good + "password = 1979-" + canary, []string{"line 3", "not TOML"}},
		"password, no =":       {good + "password \"" + canary + "\"", []string{"line 3", "not TOML"}},
		"twice":                {good + "shared = true\nshared = false", []string{"f: read profiles, line 4: p.shared is there twice; leave one"}},
		"profile twice":        {good + "[q]\nlock = \"local:/y\"\n[p]\nshared = true", []string{"line 5: p is there twice"}},
		"twice, as a list":     {good + "[[p]]\nlock = \"local:/y\"", []string{"line 3: p is there twice"}},
		"twice, as a table":    {good + "[p.lock.meta]\nx = 1", []string{"line 3: p.lock is there twice"}},
		"twice within meta":    {good + "meta = {job = \"" + canary + "\", job = \"x\"}", []string{"line 3: p.meta.job is there twice"}},
		"quoted key twice":     {good + "\"" + canary + "' already \" = 1\n\"" + canary + "' already \" = 1", []string{"line 4: a key that is not shown is there twice"}},
		"no lock":              {"[p]\nshared = true", []string{"line 1", "profile p has no lock"}},
		"lock is a name":       {"[p]\nlock = \"q\"", []string{"line 2", "not an address"}},
		"lock is a number":     {"[p]\nlock = 1", []string{"line 2", "lock is not a string"}},
		"shared in quotes":     {good + "shared = \"yes\"", []string{"line 3", "without quotes"}},
		"timeout in words":     {good + "timeout = \"soon\"", []string{"line 3", "90s or 1h30m or 7d"}},
		"timeout below zero":   {good + "timeout = -1", []string{"line 3", "90s or 1h30m"}},
		"timeout is a list":    {good + "timeout = [1]", []string{"line 3", "90s or 1h30m"}},
		"meta is a string":     {good + "meta = \"job=x\"", []string{"line 3", "not a table"}},
		"meta of a number":     {good + "meta = {job = 1}", []string{"line 3", "values in quotes"}},
		"meta key":             {good + "meta = {Job = \"x\"}", []string{"line 3", "keys of 1 to 27"}},
		"relative path":        {good + "password_file = \"secret\"", []string{"line 3", "begin it with / or ~/"}},
		"other user's home":    {good + "netrc = \"~bob/.netrc\"", []string{"line 3", "begin it with / or ~/"}},
		"relative ca":          {good + "ca = \"./ca.pem\"", []string{"line 3", "ca is not an absolute path"}},
		"value, not variable":  {good + "password_env = \"$" + canary + "\"", []string{"line 3", "not its value"}},
		"two sources":          {good + "netrc = \"/x\"\npassword_env = \"X\"", []string{"line 1", "more than one", "netrc, password_env"}},
		"ca and insecure":      {good + "ca = \"/x\"\ninsecure = true", []string{"line 1", "any certificate"}},
		"outside":              {"lock = \"local:/x\"", []string{"line 1", "outside of a profile"}},
		"list of profiles":     {"[[p]]\nlock = \"local:/x\"", []string{"outside of a profile"}},
		"name with a dot":      {"[\"a.b\"]\nlock = \"local:/x\"", []string{"line 1", "cannot be the name"}},
		"another profile":      {good + "[q]\nlock = \"local:/y\"\ncolour = 1", []string{"line 5", "profile q"}},
		"not UTF-8":            {good + "\xff", []string{"line 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Env{Home: "/home/alice"}.parse("f", []byte(c.text))
			mustRefuse(t, err, c.says...)
		})
	}
}

func TestFirstFileCounts(t *testing.T) {
	e := home(t, nil)
	write(t, e.Files[1], 0o644, "[p]\nlock = \"local:/all\"\n[q]\nlock = \"local:/q\"\n")
	for _, want := range []string{"local:/all", "local:/mine"} {
		p, err := e.Resolve("p")
		if err != nil || p.Lock != want {
			t.Errorf("got %+v, %v, want %s", p, err, want)
		}
		write(t, e.Files[0], 0o600, "[p]\nlock = \"local:/mine\"\n")
	}
	if names := strings.Join(e.Names(), " "); names != "p q" {
		t.Errorf("names: %s", names)
	}
	if p, err := e.Resolve("q"); err != nil || p.File != e.Files[1] {
		t.Errorf("q: %+v, %v", p, err)
	}
}

func TestUnknownProfile(t *testing.T) {
	e := home(t, nil)
	_, err := e.Resolve("phonestuf")
	mustRefuse(t, err, "phonestuf: find profile", e.Files[0]+" nor in "+e.Files[1], "local:/var/lock/name")
	write(t, e.Files[1], 0o600, "[phonestuff]\nlock = \"local:/x\"\n")
	_, err = e.Resolve("phonestuf")
	mustRefuse(t, err, "did you mean phonestuff?")
}

func TestAddressesAreNoNames(t *testing.T) {
	e := Env{Files: []string{filepath.Join(t.TempDir(), "missing", "profiles.toml")}}
	for _, lock := range []string{"local:/x", "ftp://h/x", "/var/lock/x", "./x", "", "a b", "x\n", "--help"} {
		if p, err := e.Resolve(lock); err != nil || p.Name != "" || p.Lock != lock {
			t.Errorf("%q is taken for the profile %+v (%v)", lock, p, err)
		}
	}
}

func FuzzProfiles(f *testing.F) {
	f.Add(whole)
	f.Add("[p]\npassword = \"x")
	f.Add("a.b.c = [{d = 1}]\n[[e]]")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Env{Home: "/home/alice"}.parse("f", []byte(text))
		if err != nil && backend.CodeOf(err) != protocol.Config {
			t.Errorf("%q: code %s: %v", text, backend.CodeOf(err), err)
		}
		for name, p := range all {
			if !isName(name) || p.Name != name || p.Lock == "" || isName(p.Lock) {
				t.Errorf("%q: profile %q is %+v", text, name, p)
			}
		}
	})
}

func FuzzValueIsNotShown(f *testing.F) {
	f.Add("password = \"", "\n")
	f.Add("timeout = ", "")
	f.Add("meta = {job = ", "}")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := "[p]\nlock = \"local:/x\"\n" + before + "Zq_7!" + canary + after
		if _, err := (Env{}).parse("f", []byte(text)); err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error for %q shows the value: %v", text, err)
		}
	})
}

func TestDurationsOfDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1w1d1h30m": (8*24+1)*time.Hour + 30*time.Minute, "90": 90 * time.Second,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%q is %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"1.5d", "d", "1d1w", "-1d", "1d-1h", "8191w8191d2562047h", "9999999w", "1d1"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
