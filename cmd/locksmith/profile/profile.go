package profile

import (
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/manners"
)

// A Profile is a lock with its settings. A setting that is nil was not made.
type Profile struct {
	Name string // "" when the lock was given by its address
	File string // where the profile stands
	Lock string // the address, as written

	Shared, Strict          *bool
	Timeout, Lease, Respite *time.Duration
	Refresh                 *time.Duration
	Poll, Slow              *manners.Range
	Retries                 *int
	Meta                    []string // "key=value"

	ca       string
	insecure bool

	// At most one of these is set.
	passwordFile string
	netrc        string
	passwordEnv  string

	env Env
}

// Access returns what a server is told. The password is looked up at each call.
func (p *Profile) Access() backend.Access {
	return backend.Access{Password: p.password, CA: p.ca, Insecure: p.insecure}
}

// SecretVariables are the environment variables that may hold a password.
func (p *Profile) SecretVariables() []string {
	names := []string{passwordVariable}
	if p.passwordEnv != "" {
		names = append(names, p.passwordEnv)
	}
	return names
}

// Wrong says that a value in the profile is wrong, and why.
func (p *Profile) Wrong(cause error) error {
	return fail(p.File, "use profile "+p.Name, cause, "correct it there")
}

// ownPassword reports whether the profile itself says where its password is.
func (p *Profile) ownPassword() bool {
	return p.passwordFile != "" || p.netrc != "" || p.passwordEnv != ""
}
