use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address gets talks);
use Locksmith;
use Test::More;

# A forked child has all that we have. It neither keeps the lock nor delays its release.
my $address = address();
my $lock = Locksmith->acquire($address);
my $deaf = Locksmith->acquire($address, talks('trap "" TERM; echo OK proto=1 lease_ms=60000; cat >/dev/null; echo RELEASED'), kill_after => 10);
pipe my $ends, my $lives or die $!;
my $child = fork // die $!;
if (!$child) {
    close $lives;
    $lock->unlock;
    undef $lock;
    <$ends>;    # until our parent ends
    POSIX::_exit(0);
}
close $ends;
is($deaf->unlock, 1, 'a helper that hears no signal hears this process let go');
is($lock->unlock, 1, 'released');
ok(gets($address), 'and free, though the child lives');
close $lives;
waitpid $child, 0;

done_testing;
