use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address frozen talks within);
use Locksmith;
use Test::More;

my $address = address();
my $lock = Locksmith->acquire($address);

# A cancelled wait passes on what cancelled it, and tells how long it was.
sub cancelled {
    my (%o) = @_;
    my $why = delete $o{why};
    local $SIG{ALRM} = sub { die $why };
    Time::HiRes::alarm(0.3) if !$o{ask};
    eval { Locksmith->acquire($address, %o) };
    return $@;
}

my $refused = sub { kill ALRM => $$; return 0 };
is(cancelled(why => "alarm\n") . '', "alarm\n", 'at any time');
{
    no warnings 'redefine';
    local *Locksmith::_spawn = sub { die "alarm\n" };
    my $e = cancelled(why => "never\n", ask => sub { });
    isa_ok($e, 'Locksmith::Cancelled', 'even before the helper was started');
}
my $e = cancelled(why => "alarm\n", ask => $refused);
ok($e eq "alarm\n", 'it is the string of the handler, as ever');
isa_ok($e, 'Locksmith::Cancelled');
cmp_ok(ref $e && $e->waited, '>', 0, 'it says how long it waited');
is(ref $e && $e->code, 'cancelled', 'its code');
like(ref $e && $e->text, qr/^\Q$address\E: acquire: given up after \d+\.\d+ s: alarm$/, 'its text');
like(ref $e && $e->holder->{pid}, qr/^\d+$/, 'and who had the lock') or diag explain $e;
my $object = bless {}, 'My::Timeout';
is(cancelled(why => $object, ask => $refused), $object, 'an object is passed on as it is');
within('cancelled, frozen', sub { is(cancelled(why => "alarm\n", frozen()) . '', "alarm\n", 'the same') });

# A helper that is told to end says how long it waited.
eval { Locksmith->acquire($address, talks('echo ERR code=cancelled waited_ms=1500 text=a signal')) };
isa_ok($@, 'Locksmith::Cancelled');
is($@->waited, 1.5, 'how long');

# A sub decides after each refusal how to wait.
my @busy;
eval { Locksmith->acquire($address, ask => sub { push @busy, @_; return @busy < 3 ? 0.01 : undef }) };
isa_ok($@, 'Locksmith::Held');
is(ref $@ && $@->code, 'held', 'it gave up');
is_deeply([map { $_->{tries} } @busy], [1, 2, 3], 'it was asked after each try');
is($busy[0]{holder}{id}, $lock->id, 'and told who has the lock');
like($busy[0]{text}, qr/held by/, 'in words, too');

# "As usual", for a time that the sub gives, and then it is asked again.
my $asked = 0;
eval { Locksmith->acquire($address, ask => sub { return $asked++ ? undef : (usual => 0.2) }) };
is($asked, 2, 'as usual, but not longer than it said');
is(ref $@ && $@->code, 'held', 'then it gave up') or diag $@;

# As usual without an end: the lock is got when it is free.
my $got = Locksmith->acquire($address, ask => sub { $lock->unlock; 0 });
ok($got, 'as usual until it is free');

# What the sub dies with ends the wait; nonsense is refused.
eval { Locksmith->acquire($address, ask => sub { die "enough\n" }) };
ok($@ eq "enough\n", 'it dies');
eval { Locksmith->acquire($address, ask => sub { 'soon' }) };
like("$@", qr/ask returns seconds, usual => seconds, or undef, not soon/, 'nonsense');
eval { Locksmith->acquire('sftp://nowhere/x', timeout => 0, ask => sub { }, talks('echo "ERR code=held text=$*"')) };
unlike("$@", qr/--ask/, 'one try does not ask');

done_testing;
