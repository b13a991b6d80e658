#!/usr/bin/perl
open LOCKER, "-|", "locksmith", "hold", $ARGV[0] or die "locksmith: $!\n";
$_ = <LOCKER>;
die "no lock: $_" unless /^OK/;

print "working\n";

close(LOCKER) or die "lost the lock\n";  # waits: then it is released
