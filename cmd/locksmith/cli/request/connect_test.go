package request

import (
	"testing"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
)

// TestTrust: whom to trust is one question. A flag answers it before the profile does.
func TestTrust(t *testing.T) {
	strict, loose, system := backend.Access{CA: "profile.pem"}, backend.Access{Insecure: true}, backend.Access{}
	for _, c := range []struct {
		flags         []string
		profile, want backend.Access
	}{
		{nil, strict, strict},
		{nil, loose, loose},
		{[]string{"--insecure"}, strict, loose},
		{[]string{"--insecure=false"}, strict, strict},
		{[]string{"--insecure=false"}, loose, system},
		{[]string{"--ca", "flag.pem"}, loose, backend.Access{CA: "flag.pem"}},
		{[]string{"--ca", "flag.pem"}, strict, backend.Access{CA: "flag.pem"}},
		{[]string{"--ca", ""}, loose, system},
	} {
		var r Connect
		command := &cobra.Command{}
		r.Add(command, Program{})
		if err := command.ParseFlags(c.flags); err != nil {
			t.Fatal(err)
		}
		if got := r.over(c.profile); got.CA != c.want.CA || got.Insecure != c.want.Insecure {
			t.Errorf("the flags %v over the profile %+v make %+v", c.flags, c.profile, got)
		}
	}
}
