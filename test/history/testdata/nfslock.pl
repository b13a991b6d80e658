# Runs a command under File::NFSLock: nfslock.pl LOCK COMMAND…
use strict;
use warnings;
use File::NFSLock;
use Fcntl qw(LOCK_EX);

my ($path, @command) = @ARGV;
my $lock = File::NFSLock->new($path, LOCK_EX) or die $File::NFSLock::errstr;
system @command;
$lock->unlock;
