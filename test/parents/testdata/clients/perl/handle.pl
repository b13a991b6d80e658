#!/usr/bin/perl
# handle.pl LOCK: what the client promises of a lock in a program's hands. It dies if it is not so.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../../../../client/perl";
use Locksmith;

my $address = $ARGV[0];

sub refuses {
    my ($pattern, $call) = @_;
    die "not refused: $pattern\n" if eval { $call->(); 1 };
    die "$@, not with $pattern\n" if $@ !~ $pattern;
    return $@;
}

# Options are known, and errors say where they come from.
refuses(qr/unknown option timout at \S*handle\.pl line/, sub { Locksmith->acquire($address, timout => 3) });
refuses(qr/poll is an array of two/, sub { Locksmith->acquire($address, poll => 3) });
refuses(qr/log is a reference to a sub/, sub { Locksmith->acquire($address, log => 'file') });
my $lock = Locksmith->acquire($address, poll => [0.01, 0.05], slow => [0.1, 0.2]);
my $held = refuses(qr/held by/, sub { Locksmith->acquire($address, ask => sub { undef }) }); my $line = __LINE__;
die "$held" if "$held" !~ / at \S*handle\.pl line $line\.\n\z/ || $held->line != $line || $held->file !~ /handle\.pl$/;

# What was held, and for how long.
select undef, undef, undef, 0.05;
$lock->unlock;
die 'held for ' . ($lock->held // 'undef') if ($lock->held // 0) < 0.05;

# select tells when there is something to hear.
my $loses = 'echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; until test -e "$0"; do sleep 0.05; done; echo "LOST code=gone text=taken away"; cat >/dev/null; exit 79';
my ($go) = $address =~ /^local:(.*)/;
$go .= '.go';
$lock = Locksmith->acquire($address, helper => ['sh', '-c', $loses, $go]);
die $lock->lost if $lock->lost;
open my $told, '>', $go or die $!;
vec(my $readable = '', fileno $lock->handle, 1) = 1;
die 'nothing to hear' if select($readable, undef, undef, 60) != 1;
die 'not lost' if !$lock->lost || $lock->lost->code ne 'gone';
refuses(qr/taken away at \S*handle\.pl line/, sub { $lock->unlock });

# Its standard error goes where it should.
my @talkative = ('sh', '-c', 'echo one >&2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo two >&2; echo RELEASED held_ms=1');
my @said;
Locksmith->acquire($address, helper => \@talkative, log => sub { push @said, @_ })->unlock;
die "said: @said" if "@said" ne 'one two';
Locksmith->acquire($address, helper => \@talkative, log => 0)->unlock;

# A helper that says with its status that it was too soon is believed, however late its line was read, as here after the
# release has begun.
for my $status (79, 143) {
    my $early = "echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo RELEASED held_ms=0; exit $status";
    $lock = Locksmith->acquire($address, helper => ['sh', '-c', $early]);
    refuses(qr/before it was asked to/, sub { $lock->unlock });
}

# An OK that may have been in the pipe while this process did not run is not believed without a heartbeat.
my $late = 'sleep 2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=2000; exec sleep 60 2>&-';
$lock = Locksmith->acquire($address, helper => ['sh', '-c', $late], kill_after => 0);
die 'believed' if !$lock->lost || $lock->lost->code ne 'expired';
refuses(qr/heard of/, sub { $lock->unlock });
