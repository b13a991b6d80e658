#!/usr/bin/perl
# asked.pl QUESTION LOCK PIDS: see test/helpers/clients_test.go.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../../../../client/perl";
use Locksmith;

my ($question, $address, $pids) = @ARGV;
my $infinite = 9**9**9;
my %timeouts = (infinite => $infinite, zero => 0, negative => -3, 'not a number' => $infinite - $infinite);
$| = 1;
print "asks\n";
print eval { answer() } // said($@), "\n";

sub answer {
    if ($question eq 'dropped') {
        { my $dropped = Locksmith->acquire($address) }
        Locksmith->acquire($address, timeout => 5);
        return 'free';
    }
    if ($question eq 'twice') {
        my $lock = Locksmith->acquire($address);
        return $lock->unlock && !$lock->unlock ? 'once' : 'again';
    }
    if ($question eq 'cancel') {
        local $SIG{ALRM} = sub { die "enough\n" };
        alarm(2);
        return Locksmith->acquire($address);
    }
    if ($question eq 'frozen') {
        my @helper = ('sh', '-c', "echo \$\$ >$pids; kill -STOP \$\$; exec sleep 300");
        return Locksmith->acquire($address, timeout => 0.2, kill_after => 0.1, helper => \@helper);
    }
    Locksmith->acquire($address, timeout => $timeouts{$question})->unlock;
    return 'got it';
}

sub said {
    my $e = shift;
    return $e =~ /timeout is a number/ ? 'refused' : $e eq "enough\n" ? 'no answer' : $e if !ref $e;    # the helper had not started yet
    return 'held' if $e->isa('Locksmith::Held');
    return $e->waited >= 0.3 ? 'cancelled' : $e->waited if $e->isa('Locksmith::Cancelled');
    return $e->code eq 'unreachable' ? 'no answer' : "$e";
}
