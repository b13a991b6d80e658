//go:build unix

package ftplab

import (
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
)

// plainScript is what people do without locksmith: mkdir and rmdir. It writes to
// the witnesses' log.
const plainScript = `
use strict; use warnings; use Net::FTP; use Time::HiRes qw(clock_gettime usleep);
my ($addr, $user, $password, $lock, $log, $rounds) = @ARGV;
my ($host, $port) = split /:/, $addr;
my $ftp = Net::FTP->new($host, Port => $port, Timeout => 600) or die "connect: $@";
$ftp->login($user, $password) or die "log in: ", $ftp->message;
open(my $out, '>>', $log) or die "$log: $!";
sub tell_them { syswrite $out, sprintf("%s %.0f perl%d exclusive 0\n", $_[0], clock_gettime(7) * 1e9, $$) }
for (1 .. $rounds) {
	until ($ftp->mkdir($lock)) { usleep(20_000 + rand 20_000) }
	tell_them('take');
	usleep(rand 5_000);
	tell_them('give');
	$ftp->rmdir($lock) or die "rmdir: ", $ftp->message;
	usleep(rand 20_000);
}
$ftp->quit;
`

// scripts: plain scripts and helpers exclude each other.
func scripts(t *testing.T, kind, style string) {
	start(t, kind, style, ftpserver.Options{}).beside(t, 4, 4, 12)
}

// beside lets scripts and helpers contend, each for so many rounds. The scripts try more often
// than the helpers, and there is no queue.
func (p *place) beside(t *testing.T, scripts, helpers, rounds int) {
	t.Helper()
	perl := lab.NeedProgram(t, "perl")
	if exec.Command(perl, "-MNet::FTP", "-e", "1").Run() != nil {
		lab.Lacking(t, "no Net::FTP here")
	}
	h := contest.NewLog(t)
	var wg sync.WaitGroup
	for range scripts {
		wg.Go(func() {
			p.succeeds(exec.Command(perl, "-e", plainScript, p.server.Addr, p.server.User, p.server.Password,
				p.path+"/L", h.File, strconv.Itoa(rounds)))
		})
	}
	for range helpers {
		wg.Go(func() {
			for range rounds {
				p.succeeds(p.guarded(h, "exclusive", 2*time.Millisecond))
			}
		})
	}
	wg.Wait()
	if n := len(h.Check(t, p.style == "dir").Held); n != (scripts+helpers)*rounds {
		t.Errorf("%d holders, want %d", n, (scripts+helpers)*rounds)
	}
	p.atRest()
}
