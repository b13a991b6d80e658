use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address frozen talks within);
use Locksmith;
use Test::More;

my $address = address();

# told is what a helper is told of a timeout. One try at a server has a bound that no busy machine misses.
sub told {
    my $shows = 'echo "ERR code=held waited_ms=200 text=$*"';
    eval { Locksmith->acquire('sftp://nowhere/x', timeout => shift, talks($shows)) };
    return "$@" =~ /--timeout (\S+)/ ? $1 : ref $@ ? 'none' : $@;
}

is(told(undef), 'none', 'no timeout');
is(told(9**9**9), 'none', 'an infinite timeout is none');
is(told(1e300), 'none', 'and so is one that no clock counts');
is(told($_), '0', "timeout $_ is for one try") for 0, '0.0', -1, -0.001, -9**9**9;
is(told(20.5), '20.500000000s', 'a timeout');
my $refused = eval { Locksmith->try_acquire('sftp://nowhere/x', talks('echo ERR code=held text=held')); 1 };
ok($refused, 'try_acquire takes a refusal for an answer');

# What is no number is refused before anything is started.
for my $wrong ('nan', 9**9**9 - 9**9**9, 'soon', '') {
    eval { Locksmith->acquire($address, timeout => $wrong, helper => ['/nonexistent']) };
    like("$@", qr/^Locksmith: timeout is a number of seconds, not .* at \S*time\.t line/, "timeout '$wrong'");
}
for my $option (qw(lease max_hold refresh respite)) {
    for my $wrong ('nan', 'inf') {
        eval { Locksmith->acquire($address, $option => $wrong) };
        like("$@", qr/^Locksmith: $option is a number of seconds, not $wrong/i, "$option $wrong");
    }
}

# A helper that is frozen before its first line does not keep us. The client's own bound is the timeout
# and two seconds.
cmp_ok(Locksmith::ANSWERS_IN + Locksmith::LOOK_AGAIN + Locksmith::PARTING, '<', 2, 'the bound');
for my $timeout (0, 1) {
    within("frozen, timeout $timeout", sub {
        eval { Locksmith->acquire($address, timeout => $timeout, frozen()) };
        isa_ok($@, 'Locksmith::Error');
        is(ref $@ && $@->code, 'unreachable', 'no answer');
        like("$@", qr/^\Q$address\E: acquire: no answer within .* is the helper stopped/, 'says what may be wrong');
    });
}
within('frozen, try_acquire', sub { eval { Locksmith->try_acquire($address, frozen()) }; like("$@", qr/no answer/, 'is no refusal') });

# A lock on a server may need longer for one try.
my $lock = Locksmith->try_acquire('sftp://nowhere/x', talks('sleep 3; echo OK proto=1 lease_ms=60000; cat >/dev/null; echo RELEASED'));
ok($lock, 'a server is given time');

done_testing;
