package Held;

# What the tests share: a lock's address in a new directory, and a locksmith to hold it.
use strict;
use warnings;
use Exporter 'import';
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/..";
use Locksmith;
use Test::More;

our @EXPORT_OK = qw(address frozen gets talks within);

plan skip_all => 'no locksmith on PATH, and none in $LOCKSMITH' if system "\${LOCKSMITH:-locksmith} version >/dev/null 2>&1";

my $dir = File::Temp::tempdir(CLEANUP => 1);
my $n;

sub address { return "local:$dir/lock" . ++$n }

# gets tries to get a lock. It has no bound that a busy machine could miss, as try_acquire has.
sub gets { return eval { Locksmith->acquire($_[0], ask => sub { undef }) } }

# frozen is a helper that stops itself before its first line.
sub frozen { return (helper => ['sh', '-c', 'kill -STOP $$']) }

# talks is a helper of that shell script.
sub talks { return (helper => ['sh', '-c', @_]) }

# within calls a sub, and fails if that does not come back. On a busy machine nothing takes as long as
# it should, so the time is many times that.
sub within {
    my ($name, $call) = @_;
    my $begun = Time::HiRes::time();
    $call->();
    cmp_ok(Time::HiRes::time() - $begun, '<', 12, "$name: it comes back");
    return;
}

1;
