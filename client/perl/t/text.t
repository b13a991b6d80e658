use strict;
use warnings;
use utf8;
use Encode ();
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address gets talks);
use Locksmith;
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

# Text in, text out: names and metadata are strings of characters.
for my $name ('zahlungsläufe', "caf\xe9", 'ロック') {
    my $address = address() . ".$name";
    my $lock = Locksmith->acquire($address, meta => { who => "Jürgen $name" });
    is($lock->address, $address, "$name: the address is text");
    (my $file = $address) =~ s/^local://;
    ok(-e Encode::encode_utf8($file), "$name: its file is named in UTF-8");
    eval { Locksmith->acquire($address, ask => sub { undef }) };
    isa_ok($@, 'Locksmith::Held');
    like("$@", qr/^\Q$address\E: /, "$name: the error names the lock in text");
    like("$@", qr/Jürgen \Q$name\E/, "$name: and tells its metadata in text");
    my $octets = Encode::encode_utf8($address);
    ok(!gets($octets), "$name: the bytes of a file's name or of \@ARGV are the same lock");
}

# What a helper says is text.
my $says = 'echo "ERR code=held host=M%C3%BCnchen text=gehört Jürgen"';
eval { Locksmith->acquire('local:/x', talks(Encode::encode_utf8($says))) };
is($@->text, 'gehört Jürgen', 'the text of an error');
is($@->holder->{host}, 'München', 'the holder');
my @said;
my $says_log = 'echo ä >&2; echo OK proto=1 lease_ms=60000; cat >/dev/null; echo RELEASED';
Locksmith->acquire('local:/x', talks($says_log), log => sub { push @said, @_ })->unlock;
is_deeply(\@said, ['ä'], 'what it logs');

# A loss in the helper's own words names the lock once.
my $lock = Locksmith->acquire('local:/größe', talks('echo OK proto=1 lease_ms=60000; echo "LOST code=gone text=local:/größe: lost: fort"; cat >/dev/null'));
select undef, undef, undef, 0.05 while !$lock->lost;
is($lock->lost->text, 'local:/größe: lost: fort', 'the loss');
eval { $lock->unlock };

done_testing;
