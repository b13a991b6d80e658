#!/usr/bin/perl
# parent.pl SCENARIO LOCK GO, by way of client/perl: see doc.go.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../../../../client/perl";
use Locksmith;

my ($scenario, $address, $go) = @ARGV;
$| = 1;

if ($scenario eq 'give_up') {
    local $SIG{ALRM} = sub { die "alarm\n" };
    alarm 1;
    eval { Locksmith->acquire($address) };
    die $@ unless $@ eq "alarm\n";
    print "gave up\n";
    exit;
}
my $lock = $scenario eq 'try' ? Locksmith->try_acquire($address) // die "held by another\n"
    : Locksmith->acquire($address, lease => $scenario eq 'stopped' ? 3 : undef);
if ($scenario =~ /^fork/) {
    my $child = fork // die "fork: $!\n";
    if (!$child) { $lock->unlock; sleep 600; exit }
    print "child $child\n";
}
print "working\n";
if ($scenario eq 'lost' || $scenario eq 'stopped') {
    for (1 .. 2400) {
        last if $lock->lost;
        select undef, undef, undef, 0.05;
    }
    printf "lost %s\n", $lock->lost->code;
    eval { $lock->unlock };
    printf "released %s\n", $@->code;
    exit;
}
if ($scenario eq 'data') {
    print "data $_" while <STDIN>;
    print "eof\n";
}
await_go();
die "unlocked in vain\n" if !$lock->unlock || $lock->unlock;
print "released\n";

sub await_go {
    for (1 .. 2400) {
        return if -e $go;
        select undef, undef, undef, 0.05;
    }
    die "told nothing\n";
}
