#!/usr/bin/perl
open LOCKER, "-|", "locksmith", "hold", "--timeout", "10m", $ARGV[0] or die "locksmith: $!\n";
$_ = <LOCKER>;
unless (/^OK/) { close LOCKER; die "no lock: $_" }  # dies with the helper's status, 75 if it is held

print "working\n";

close(LOCKER) or die "lost the lock\n";  # waits: then it is released
