package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// A setter takes over a value from a file. Its errors are faults.
type setter func(any) error

// UnmarshalTOML implements toml.Unmarshaler.
func (s setter) UnmarshalTOML(v any) error { return s(v) }

// keys is the one list of the keys that a profile may have.
func (p *Profile) keys() map[string]setter {
	return map[string]setter{
		"lock":          checked("lock", &p.Lock, isName, `write for example lock = "local:/var/lock/name"`, "is not an address"),
		"shared":        boolean("shared", func(b bool) { p.Shared = &b }),
		"strict":        boolean("strict", func(b bool) { p.Strict = &b }),
		"timeout":       duration("timeout", &p.Timeout),
		"lease":         duration("lease", &p.Lease),
		"respite":       duration("respite", &p.Grace),
		"refresh":       duration("refresh", &p.Refresh),
		"max_hold":      duration("max_hold", &p.MaxHold),
		"once_per":      duration("once_per", &p.OncePer),
		"poll":          parsed("poll", ParseRange, &p.Poll),
		"slow":          parsed("slow", ParseRange, &p.Slow),
		"retries":       parsed("retries", ParseCount, &p.Retries),
		"meta":          metadata("meta", &p.Meta),
		"ca":            p.path("ca", &p.ca),
		"certificate":   p.path("certificate", &p.certificate),
		"insecure":      boolean("insecure", func(b bool) { p.insecure = b }),
		"password_file": p.path("password_file", &p.passwordFile),
		"netrc":         p.path("netrc", &p.netrc),
		"password_env":  checked("password_env", &p.passwordEnv, isNoVariable, "write the variable's name, not its value", "is not the name of a variable"),
		"password":      refusePassword,
		"ssh":           checked("ssh", &p.ssh, isBlank, `write for example ssh = "ssh -F /etc/locksmith/ssh_config"`, "is empty"),
	}
}

func isNoVariable(s string) bool { return !isName(s) || strings.ContainsRune(s, '-') }

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func refusePassword(any) error {
	return faulty("write it to a file with mode 0600 and give that as password_file",
		"a password has no place here")
}

func unknownKey(profile, key string, known []string) setter {
	return func(any) error {
		if !isName(key) { // a missing quote may have made a key of any text
			return faulty("correct or remove it", "profile %s has a key that is not known and not shown", profile)
		}
		near := nearest(key, known)
		if slices.Contains(near, "password") {
			return refusePassword(nil)
		}
		hint := "known keys: " + strings.Join(slices.DeleteFunc(known, func(k string) bool { return k == "password" }), ", ")
		if len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return faulty(hint, "profile %s: key %s is not known", profile, key)
	}
}

// isProfile refuses a key that cannot be the name of a profile, and a value that is not a table.
func isProfile(name string) setter {
	return func(v any) error {
		_, isTable := v.(map[string]any)
		switch {
		case name == "password":
			return refusePassword(v)
		case !isName(name):
			return faulty("use up to 64 of a-z A-Z 0-9 _ -", "this cannot be the name of a profile")
		case !isTable:
			return faulty("begin a profile with its name, as in [nightly]", "key %s stands outside of a profile", name)
		}
		return nil
	}
}

// whole refuses a profile whose keys do not go together.
func (p *Profile) whole(any) error {
	var sources []string
	for key, value := range map[string]string{"netrc": p.netrc, "password_env": p.passwordEnv, "password_file": p.passwordFile} {
		if value != "" {
			sources = append(sources, key)
		}
	}
	slices.Sort(sources)
	switch {
	case p.Lock == "":
		return faulty(`add the address, as in lock = "local:/var/lock/name"`, "profile %s has no lock", p.Name)
	case len(sources) > 1:
		return faulty("leave one", "profile %s has more than one source of a password: %s", p.Name, strings.Join(sources, ", "))
	case p.ca != "" && p.insecure:
		return faulty("leave one", "profile %s has a ca, and insecure, which accepts any certificate", p.Name)
	}
	return nil
}

func text(key string, v any) (string, error) {
	s, ok := v.(string)
	if !ok || s == "" {
		return "", faulty(fmt.Sprintf(`write %s = "…"`, key), "%s is not a string, or empty", key)
	}
	return s, nil
}

// checked takes a text that is not wrong.
func checked(key string, to *string, wrong func(string) bool, hint, cause string) setter {
	return func(v any) (err error) {
		if *to, err = text(key, v); err == nil && wrong(*to) {
			return faulty(hint, "%s %s", key, cause)
		}
		return err
	}
}

func boolean(key string, to func(bool)) setter {
	return func(v any) error {
		b, ok := v.(bool)
		if !ok {
			return faulty("write true or false, without quotes", "%s is neither true nor false", key)
		}
		to(b)
		return nil
	}
}

// path takes the name of a file. It must mean the same file wherever we run.
func (p *Profile) path(key string, to *string) setter {
	return func(v any) error {
		s, err := text(key, v)
		if err != nil {
			return err
		}
		if below, ok := strings.CutPrefix(s, "~/"); ok && p.env.Home != "" {
			s = filepath.Join(p.env.Home, below)
		}
		if !filepath.IsAbs(s) || strings.ContainsRune(s, 0) {
			return faulty("begin it with / or ~/", "%s is not an absolute path", key)
		}
		*to = s
		return nil
	}
}

func metadata(key string, to *[]string) setter {
	return func(v any) error {
		table, ok := v.(map[string]any)
		if !ok {
			return faulty(`write meta = {key = "value"}`, "%s is not a table", key)
		}
		for k, value := range table {
			s, ok := value.(string)
			if !ok || owner.CheckMeta(k) != nil {
				return faulty(`use keys of 1 to 27 of a-z 0-9 _ . -, and values in quotes`, "%s has a wrong key or value", key)
			}
			*to = append(*to, k+"="+s)
		}
		slices.Sort(*to)
		return nil
	}
}

func duration(key string, to **time.Duration) setter { return parsed(key, ParseDuration, to) }

// parsed takes a value that may be written with or without quotes.
func parsed[T any](key string, parse func(string) (T, error), to **T) setter {
	return func(v any) error {
		var written string
		switch v := v.(type) {
		case string:
			written = v
		case int64:
			written = strconv.FormatInt(v, 10)
		case float64:
			written = strconv.FormatFloat(v, 'f', -1, 64)
		}
		value, err := parse(written)
		if err != nil {
			return faulty(err.Error(), "%s is wrong", key)
		}
		*to = &value
		return nil
	}
}
