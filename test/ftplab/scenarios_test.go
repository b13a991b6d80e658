package ftplab

import (
	"testing"

	"locksmith/test/ftpserver"
)

// A scenario runs at several servers.
type scenario struct {
	name    string
	servers []string // nil: all
	run     func(t *testing.T, kind string)
}

var (
	real    = ftpserver.Kinds()[1:]
	withTLS = []string{"embedded", "proftpd", "vsftpd", "pureftpd", "pyftpdlib"}

	scenarios = []scenario{
		// The embedded server is joined to the suite in package ftp.
		{"conformance", real, conformance},
		{"conformance with TLS", withTLS[1:], conformanceTLS},
		{"empty place", nil, emptyPlace},
		{"contenders", nil, contenders},
		{"trouble", nil, trouble},
		{"bytes", []string{"embedded", "proftpd"}, bytesCut},
		{"restart", nil, restart},
		{"clocks", nil, clocks},
		{"silent", []string{"embedded", "proftpd"}, silent},
		{"idle", []string{"embedded", "proftpd", "vsftpd", "pyftpdlib", "inetutils"}, idle},
		{"no transfer", []string{"proftpd"}, noTransfer},
		{"crowd", withTLS, crowd},
		{"full", withTLS, full},
		{"no overwrite", []string{"embedded", "proftpd"}, noOverwrite},
		{"no rmdir", []string{"embedded", "proftpd", "pyftpdlib", "vsftpd"}, noRmdir},
		{"no rename", []string{"embedded", "proftpd", "pyftpdlib"}, denyRename},
		{"scripts", nil, scripts},
		{"recipe", []string{"embedded", "proftpd", "vsftpd", "pureftpd"}, recipe},
		{"sample client", []string{"proftpd", "vsftpd", "pureftpd"}, sampleClient},
		{"figures", []string{"proftpd", "vsftpd", "pureftpd"}, figures},
	}
)

// TestLab runs every scenario at every server that it is for.
func TestLab(t *testing.T) {
	if testing.Short() {
		t.Skip("the lab takes minutes: not with -short")
	}
	ran := 0
	for _, s := range scenarios {
		if !matches(t, *chosenScenarios, s.name) {
			continue
		}
		servers := s.servers
		if servers == nil {
			servers = ftpserver.Kinds()
		}
		for _, kind := range servers {
			if !matches(t, *chosenServers, kind) {
				continue
			}
			ran++
			t.Run(s.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s.run(t, kind)
			})
		}
	}
	if ran == 0 {
		t.Fatal("no scenario at any server was chosen")
	}
}

// inBothStyles runs a test for each style of lock.
func inBothStyles(t *testing.T, test func(t *testing.T, style string)) {
	for _, style := range []string{"plain", "dir"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			test(t, style)
		})
	}
}
