# File::NFSLock, exclusively. It writes host, pid, time and a number.
use strict;
use warnings;
use File::NFSLock;
use Fcntl qw(LOCK_EX LOCK_NB);
use Time::HiRes qw(sleep);

my ($verb, $path, $rounds, @command) = @ARGV;
my $lock;
$| = 1;
$File::NFSLock::LOCK_EXTENSION = '';

sub take {
	$lock = File::NFSLock->new({
		file => $path, lock_type => LOCK_EX | LOCK_NB, stale_lock_timeout => $ENV{STALE} || 0,
	});
	return defined $lock;
}
sub await { sleep 0.05 until take() }
sub give { $lock->unlock }

if ($verb eq 'try') {
	take() or exit 75;
	give();
} elsif ($verb eq 'hold') {
	await();
	print "held\n";
	while (<STDIN>) {
		utime undef, undef, $path;
		print "refreshed\n";
	}
	give();
} elsif ($verb eq 'loop') {
	for (1 .. $rounds) {
		await();
		system(@command) == 0 or die "@command: $?";
		give();
	}
	sleep 0.5;    # or those that go by pids might hit the next one
}
