#!/usr/bin/perl
# parent.pl SCENARIO LOCK GO, by way of client/perl: see doc.go.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/../../../../../client/perl";
use Locksmith;

my ($scenario, $address, $go) = @ARGV;
$| = 1;

if ($scenario eq 'give_up' || $scenario eq 'deaf') {
    local $SIG{ALRM} = sub { die "alarm\n" };
    alarm 1;
    my @deaf = $scenario eq 'deaf' ? (helper => [qw(sh -c), 'exec sleep 600'], kill_after => 1) : ();
    eval { Locksmith->acquire($address, @deaf) };
    die $@ unless $@ eq "alarm\n";
    print "gave up\n";
    exit;
}
# A try of a lock on this machine is one without the bound of try_acquire, which a busy machine may miss.
my @once = $address =~ /^local:/ ? (ask => sub { undef }) : (timeout => 0);
my $lock = $scenario eq 'try' ? eval { Locksmith->acquire($address, @once) } // die ref $@ eq 'Locksmith::Held' ? "held by another\n" : $@
    : Locksmith->acquire($address, lease => $scenario eq 'stopped' ? 3 : undef, max_hold => $scenario eq 'max_hold' ? 1 : undef);
if ($scenario eq 'thread_ends' && $Config{useithreads}) {
    require threads;
    threads->create(sub { })->join;
}
if ($scenario eq 'unread' && open my $pipe, '>', '/proc/self/fd/' . fileno $lock->{stdout}) {
    $pipe->blocking(0);
    1 while defined syswrite $pipe, "BEAT sent_ms=0\n";
}
if ($scenario =~ /^fork/) {
    my $child = fork // die "fork: $!\n";
    if (!$child) { $lock->unlock; sleep 600; exit }
    print "child $child\n";
}
print "working\n";
if ($scenario =~ /^(?:lost|stopped|max_hold)$/) {
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
