# File::NFSLock: probe, run LOCK COMMAND…, loop LOCK DIR WORKER (see loop.sh).
use strict;
use warnings;
use File::NFSLock;
use Fcntl qw(LOCK_EX);

my ($verb, $path, @rest) = @ARGV;
$| = 1;

sub take { File::NFSLock->new($path, LOCK_EX) or die $File::NFSLock::errstr }

sub increment {
	my ($dir, $worker) = @_;
	open my $in, '<', "$dir/counter" or die $!;
	my $n = <$in> + 1;
	write_to('>', "$dir/counter", "$n\n");
	write_to('>>', "$dir/log", "$n $worker\n");
}

sub write_to {
	my ($how, $file, $text) = @_;
	open my $out, $how, $file or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
}

if ($verb eq 'run') {
	my $lock = take();
	system(@rest) == 0 or die "@rest: $?";
	$lock->unlock;
} elsif ($verb eq 'loop') {
	print "ready\n";
	1 while <STDIN>;
	until (-e "$rest[0]/stop") {
		my $lock = take();
		increment(@rest);
		$lock->unlock;
	}
}
