#!/usr/bin/perl
# parent.pl SCENARIO LOCK GO: see doc.go.
use strict;
use warnings;

my ($scenario, $lock, $go) = @ARGV;
$| = 1;
my $limit = $scenario eq 'try' ? '--timeout 0' : '';
my $locker;    # the helper's pid where close does not wait for it

if ($scenario eq 'thread') {
    # A handle that a thread opens dies with it, so the pipe is the main
    # thread's and only the fork is the other's.
    require threads;
    pipe LOCKER, my $theirs or die "pipe: $!\n";
    $locker = threads->create(sub {
        my $pid = fork // die "fork: $!\n";
        return $pid if $pid;
        open STDOUT, '>&', $theirs or die "dup: $!\n";
        exec 'locksmith', 'hold', $lock;
    })->join;
    close $theirs;
} else {
    open LOCKER, "locksmith hold $limit $lock |" or die "locksmith: $!\n";
}
$_ = <LOCKER> // '';
die "no lock: $_" unless /^OK/;

if ($scenario eq 'fork') {
    my $child = fork // die "fork: $!\n";
    if (!$child) { sleep 600; exit }    # with LOCKER
    print "child $child\n";
}
print "working\n";
if ($scenario eq 'data') {
    print "data $_" while <STDIN>;
    print "eof\n";
}
await_go();
close LOCKER;    # waits, too, unless a thread started the helper
waitpid $locker, 0 if $locker;
die "lost the lock\n" if $?;
print "released\n";

sub await_go {
    for (1 .. 2400) {
        return if -e $go;
        select undef, undef, undef, 0.05;
    }
    die "told nothing\n";
}
