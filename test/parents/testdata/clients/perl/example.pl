#!/usr/bin/perl
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../../../../client/perl";
use Locksmith;

my $lock = Locksmith->acquire($ARGV[0], timeout => 600);
print "working\n";
$lock->unlock;
