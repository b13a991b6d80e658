package profile

import (
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// FuzzValues: an accepted duration, range or number is within its bounds, and its printed form is
// parsed to the same value.
func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"0", "90", "1.5", "1m30s", "-1s", "-0", "1e3", "1e300", "NaN", "Inf", "0x10", "1_000", "2562047h47m16.854775807s", "9999999h", "+1", " 1", "1 ",
		"25ms..100ms", "2..1", "1ms", "999us", "1d", "1w2d3h", "1d-1h", "8191w8191d2562047h", "1.5d", "d", "w", "..", "1..", "0..1", "1...2", "7", "2147483647", "2147483648", "٣",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil {
			if again, err := ParseDuration(d.String()); d < 0 || err != nil || again != d {
				t.Errorf("%q became %v became %v, %v", text, d, again, err)
			}
		}
		if r, err := ParseRange(text); err == nil {
			if again, err := ParseRange(r.Min.String() + ".." + r.Max.String()); err != nil || again != r || r.Min < shortestPause || r.Max < r.Min {
				t.Errorf("%q became %v became %v, %v", text, r, again, err)
			}
		}
		if n, err := ParseCount(text); err == nil {
			if again, err := ParseCount(strconv.Itoa(n)); n < 0 || err != nil || again != n {
				t.Errorf("%q became %d became %d, %v", text, n, again, err)
			}
		}
	})
}

// FuzzNetrc: a password is told only to the login and machine beside it. A text that cannot be
// understood shows nothing of itself.
func FuzzNetrc(f *testing.F) {
	for _, s := range []string{
		"machine h login u password " + canary, "machine h\nlogin\tu\npassword p\n", "machine h login u password \"a b\"",
		"machine h login x password no\nmachine h login u password yes", "default login u password no", "machine default login u password no",
		"machine h password p login u", "machine h login u # password x\npassword y", "machine a login u password c\nmacdef x\nput\n\ndefault",
		"machine", "machine h login u password", "machine h machine h login u password p", "machine h login u account a password p\x00", "machine h u p",
	} {
		f.Add(s, "h", "u")
	}
	f.Fuzz(func(t *testing.T, text, host, user string) {
		secret, err := passwordIn([]byte(text), "rc", user, host)
		if err != nil {
			if backend.CodeOf(err) != protocol.Config || strings.Contains(err.Error(), canary) && !strings.Contains(host+user, canary) {
				t.Errorf("the error for %q has another code than config, or shows the password: %v", text, err)
			}
			return
		}
		if secret == "" || user == "" {
			return
		}
		for _, word := range []string{"machine", "login", "password", machine(host), user, secret} {
			if !strings.Contains(text, word) {
				t.Errorf("%q told %q to %q at %q", text, secret, user, host)
			}
		}
	})
}
