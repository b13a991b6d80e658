use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address gets talks);
use Locksmith;
use Test::More;

# A lock is released once; the second release does nothing.
my $address = address();
my $lock = Locksmith->acquire($address);
ok(!gets($address), 'another does not get it');
is($lock->lost, undef, 'it is held');
is($lock->unlock, 1, 'the first release releases it');
is($lock->release, 0, 'the second does nothing');
ok($lock = gets($address), 'now another gets it');

# A lock that is dropped is released.
undef $lock;
ok(gets($address), 'a lock that is dropped is free');

# A loss is told by lost, and by unlock; then the lock is done with.
$lock = Locksmith->acquire($address, talks('echo OK proto=1 lease_ms=60000; echo "LOST code=gone text=taken away"; cat >/dev/null'));
select undef, undef, undef, 0.1 while !$lock->lost;
isa_ok($lock->lost, 'Locksmith::Lost');
is($lock->lost->code, 'gone', 'and its code');
ok(!eval { $lock->unlock; 1 }, 'unlock tells the loss');
isa_ok($@, 'Locksmith::Lost');
is($lock->unlock, 0, 'and a second one nothing');

done_testing;
