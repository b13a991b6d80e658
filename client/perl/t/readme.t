use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Held qw(address);
use Locksmith;
use Test::More;

# The programs of the README run, each with a lock of its own, while another holds that lock and without.
open my $readme, '<', "$FindBin::Bin/../README.md" or die $!;
my @programs = join('', <$readme>) =~ /^```perl\n(.*?)^```$/msg;
is(@programs, 3, 'programs');
for my $program (@programs) {
    my $address = address();
    $program =~ s/'(?:nfs|local):[^']*'/'$address'/;
    $program =~ s/^alarm 5;/alarm 1;/m;
    my $printed = '';
    my $run = sub {
        my $code = "no strict 'vars'; no warnings 'redefine'; sub send_bill { \$sent++ } my \@bills = (1, 2); $program; 1";
        open my $out, '>', \$printed or die $!;
        my $before = select $out;
        my $ok = eval $code;
        my $error = $@;
        select $before;
        return $ok ? '' : $error;
    };
    is($run->(), '', "$address: without another holder") or diag $program;
    my $lock = Locksmith->acquire($address);
    next if $program =~ /timeout => 60/;    # it would wait
    my $error = $run->();
    ok($printed =~ /gave up after \d/ || ref $error && $error->isa('Locksmith::Held') && $printed =~ /held by/, "$address: with one") or diag "$printed $error";
}

done_testing;
