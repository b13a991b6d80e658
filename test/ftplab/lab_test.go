//go:build unix

package ftplab

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

var (
	chosenServers   = flag.String("servers", "", "run only at the servers that match this `regexp`")
	chosenScenarios = flag.String("scenarios", "", "run only the scenarios that match this `regexp`")
	long            = flag.Bool("long", false, "leave nothing out that takes long")
)

// zone is the time zone of the servers: 5 h 45 min from Greenwich. Our own programs run in
// another zone.
const zone = "LAB-5:45"

func TestMain(m *testing.M) {
	lab.Parallel(20) // most of them wait
	if err := os.Setenv("TZ", zone); err != nil {
		panic(err)
	}
	lab.Main(m, nil)
}

// A scenario runs at servers, with locks of one style or of both.
type scenario struct {
	name    string
	servers []string
	styles  []string
	// quick lists the cells that run also without -long, as in "proftpd/dir vsftpd/plain": those in
	// which servers or styles have differed, or may differ.
	quick string
	run   func(t *testing.T, kind, style string)
}

const every = "*" // for quick: every cell

var (
	all     = ftpserver.Kinds()
	real    = all[1:] // the embedded server has tests of its own: see doc.go
	withTLS = []string{"embedded", "proftpd", "vsftpd", "pureftpd", "pyftpdlib"}

	both  = []string{"plain", "dir"}
	plain = both[:1]
	dir   = both[1:]

	// Scenarios that wait for long come first.
	scenarios = []scenario{
		{"no transfer", []string{"proftpd"}, plain, every, noTransfer},
		{"silent", []string{"embedded", "proftpd"}, plain, "proftpd/plain", silent},
		{"restart", all, both, "proftpd/dir vsftpd/plain pureftpd/dir pyftpdlib/plain inetutils/dir", restart},
		{"idle", []string{"embedded", "proftpd", "vsftpd", "pyftpdlib", "inetutils"}, both, "proftpd/dir vsftpd/plain pyftpdlib/dir inetutils/plain", idle},
		{"conformance", real, both, "proftpd/dir vsftpd/plain pureftpd/dir inetutils/plain", conformance},
		{"conformance with TLS", withTLS[1:], both, "vsftpd/dir pyftpdlib/plain", conformanceTLS},
		{"contenders", all, both, "proftpd/plain vsftpd/dir pureftpd/plain pyftpdlib/dir inetutils/plain", contenders},
		{"trouble", all, both, "embedded/plain embedded/dir proftpd/plain vsftpd/dir pureftpd/plain pyftpdlib/dir inetutils/plain", trouble},
		{"bytes", []string{"embedded", "proftpd"}, both, "embedded/plain proftpd/dir", bytesCut},
		{"recipe", []string{"embedded", "proftpd", "vsftpd", "pureftpd"}, dir, "proftpd/dir vsftpd/dir", recipe},
		{"sample client", []string{"proftpd", "vsftpd", "pureftpd"}, dir, "pureftpd/dir", sampleClient},
		{"scripts", all, plain, "proftpd/plain vsftpd/plain pyftpdlib/plain", scripts},
		{"unfinished", all, dir, "vsftpd/dir proftpd/dir", unfinished},
		{"no overwrite", []string{"embedded", "proftpd"}, both, "embedded/plain proftpd/dir", noOverwrite},
		{"crowd", withTLS, plain, "vsftpd/plain proftpd/plain", crowd},
		{"full", withTLS, plain, every, full},
		{"clocks", all, both, "proftpd/plain vsftpd/dir", clocks},
		{"empty place", all, both, every, emptyPlace},
		{"no rmdir", []string{"embedded", "proftpd", "pyftpdlib", "vsftpd"}, both, every, noRmdir},
		{"append only", all, plain, "proftpd/plain vsftpd/plain inetutils/plain", appendOnly},
		{"no rename", []string{"embedded", "proftpd", "pyftpdlib"}, both, every, denyRename},
		{"commands", []string{"proftpd", "vsftpd", "pureftpd"}, both, every, commands},
		// These compare times, or sizes that depend on what else runs on the machine.
		{"memory", []string{"proftpd", "vsftpd", "pureftpd"}, both, "", memory},
		{"handoff", []string{"proftpd", "vsftpd", "pureftpd"}, both, "", handoff},
		{"waiters", []string{"proftpd", "vsftpd", "pureftpd"}, both, "", waiters},
	}
)

// TestLab runs every scenario in its cells.
func TestLab(t *testing.T) {
	lab.NotShort(t, "starts FTP servers")
	ran := 0
	for _, s := range scenarios {
		if !matches(t, *chosenScenarios, s.name) {
			continue
		}
		for _, kind := range s.servers {
			for _, style := range s.styles {
				cell := kind + "/" + style
				if !matches(t, *chosenServers, kind) || !*long && s.quick != every && !slices.Contains(strings.Fields(s.quick), cell) {
					continue
				}
				ran++
				t.Run(s.name+"/"+cell, func(t *testing.T) {
					t.Parallel()
					s.run(t, kind, style)
				})
			}
		}
	}
	if ran == 0 {
		t.Fatal("no scenario at any server was chosen")
	}
}

// TestTable: every cell that quick names exists.
func TestTable(t *testing.T) {
	for _, s := range scenarios {
		for _, cell := range strings.Fields(s.quick) {
			kind, style, _ := strings.Cut(cell, "/")
			if cell != every && (!slices.Contains(s.servers, kind) || !slices.Contains(s.styles, style)) {
				t.Errorf("%s has no cell %s", s.name, cell)
			}
		}
	}
}

// matches reports whether a flag's pattern chooses a name.
func matches(t *testing.T, pattern, name string) bool {
	t.Helper()
	r, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return r.MatchString(name)
}
