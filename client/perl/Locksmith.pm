package Locksmith;
use strict;
use warnings;
use Carp ();
use Errno qw(EINTR);
use File::Spec ();
use IO::Handle ();
use POSIX qw(WNOHANG WUNTRACED);
use Scalar::Util qw(looks_like_number);
use Socket ();
use Time::HiRes ();

our $VERSION = '1.0';

use constant MAX_LINE => 4096;
use constant TOO_SOON => 79;    # the exit status of a helper that released a lock before its parent let go; because of a signal it is 128 and more

# A helper's first line comes within its timeout and ANSWERS_IN seconds. One try at a server may
# take SERVER_ANSWERS more. When that is over we LOOK_AGAIN, for it may be we who did not run, and
# wait PARTING seconds for the helper's end: two seconds in all. After a cancelled wait the helper
# gets PATIENCE.
use constant { ANSWERS_IN => 1.25, SERVER_ANSWERS => 30, LOOK_AGAIN => 0.25, PARTING => 0.25, PATIENCE => 1 };
use constant ENDLESS => 9e9;    # no helper counts so many seconds

my @behind;    # helpers that had not ended when their call returned

sub acquire {
    my ($class, $lock, %o) = @_;
    my $log = delete $o{log};
    Carp::croak('Locksmith: log is a reference to a sub, or 0') if $log && ref $log ne 'CODE';
    my $ask = delete $o{ask};
    Carp::croak('Locksmith: ask is a reference to a sub') if $ask && ref $ask ne 'CODE';
    my @locks = map { _octets($_) } ref $lock ? @$lock : $lock;
    my $self = bless {
        address => _text(join ' + ', @locks), pid => $$, buffer => '',
        kill_after => delete $o{kill_after} // 15, log => $log,
    }, $class;
    my @command = map { _octets($_) } @{ delete $o{helper} // [$ENV{LOCKSMITH} || 'locksmith'] };
    my $timeout = $o{timeout} = _timeout($o{timeout});
    undef $ask if defined $timeout && !$timeout;    # one try has no wait to decide about
    my @flags = _flags(%o);
    _sweep();
    my $begun = _now();
    my $until = defined $timeout ? $begun + $timeout + ANSWERS_IN + ($timeout || _here(@locks) ? 0 : SERVER_ANSWERS) : undef;
    my $line = eval {    # a signal handler, or the sub ask, may die
        $self->_spawn(@command, 'hold', '--parent', $$, '--stdin', 'watch', '--beats', $ask ? '--ask' : (), @flags, '--', @locks);
        $self->_first($until, $ask);
    } // '';
    my $interrupted = $@;
    my ($word, $fields, $text) = _parse($line);
    if ($word eq 'OK' && ($fields->{proto} // '') eq '1' && ($fields->{lease_ms} // '') =~ /^[1-9]\d*$/) {
        $self->{lease} = $fields->{lease_ms} / 1000;
        $self->{tokens} = [split /,/, $fields->{token} // 0];
        @$self{qw(id mode waited)} = (@$fields{qw(id mode)}, ($fields->{waited_ms} // 0) / 1000);
        # When this process did not run, OK may have waited in the pipe: since then, at most.
        my $said = $begun + $self->{waited};
        $self->{heard} = _now();
        $self->{looked} = $said < $self->{heard} ? $said : $self->{heard};
        return $self;
    }
    $self->{unlocked} = 1;
    my $waited = _now() - $begun;
    $self->_end($interrupted ? PATIENCE : $self->{overdue} ? PARTING : $self->{kill_after});
    die $interrupted if ref $interrupted;
    if ($interrupted) {
        (undef, $fields) = _parse(($self->{stdout} && $self->_next(0)) // '');    # its last line tells who had the lock
        chomp(my $why = $interrupted);
        $text = sprintf '%s: acquire: given up after %.3f s: %s', $self->{address}, $waited, $why;
        _throw('Locksmith::Cancelled', 'cancelled', $text, cause => $interrupted, waited => $waited, holder => _holder($fields));
    }
    if ($self->{overdue}) {
        $text = sprintf '%s: acquire: no answer within %.3f s: is the helper stopped, or what it waits for?', $self->{address}, $waited;
        _throw('Locksmith::Error', 'unreachable', $text, waited => $waited, holder => {});
    }
    my $code = $word eq 'ERR' ? $fields->{code} : 'protocol';
    if ($word eq 'OK' && ($fields->{proto} // '') =~ /^[1-9]\d*$/ && $fields->{proto} > 1) {
        $text = "$self->{address}: acquire: $command[0] speaks a newer protocol, $fields->{proto}, and this client 1: "
            . 'bring the client up to date, or use an older locksmith';
    }
    $text ||= "$self->{address}: acquire: $command[0] does not speak as a locksmith; is it the right program?";
    my %class = (held => 'Held', timeout => 'Held', cancelled => 'Cancelled');
    _throw('Locksmith::' . ($class{$code} // 'Error'), $code, $text,
        holder => _holder($fields), waited => ($fields->{waited_ms} // 0) / 1000);
}

sub try_acquire {
    my ($class, $lock, %o) = @_;
    my $self = eval { $class->acquire($lock, %o, timeout => 0) };
    return $self if $self;
    die $@ unless ref $@ && $@->isa('Locksmith::Held');
    return;
}

sub address { $_[0]{address} }
sub id      { $_[0]{id} }
sub mode    { $_[0]{mode} }
sub waited  { $_[0]{waited} }
sub token   { $_[0]{tokens}[0] }
sub tokens  { @{ $_[0]{tokens} } }
sub held    { $_[0]{held} }
sub handle  { $_[0]{stdout} }

sub lost {
    my $self = shift;
    return $self->{error} if $self->{error} || $self->{unlocked} || $self->{pid} != $$;
    # A beat says how old it was when it was written, not when we read it. So after a long
    # time without a look, only a beat that comes now proves that the helper runs.
    my $stale = _now() - $self->{looked} > $self->{lease} / 2;
    my $heard = $self->_hear(0);
    if ($stale && !$self->{error}) {
        my $until = _now() + $self->{lease} * 3 / 4;
        $heard = 0;
        $heard = $self->_hear($until - _now()) while !$heard && !$self->{error} && _now() < $until;
        $self->_lose('expired', 'the helper has not been heard of for most of the lease') unless $heard;
    }
    $self->{looked} = _now();
    if ($self->{looked} - $self->{heard} > $self->{lease} * 3 / 4) {
        $self->_lose('expired', 'the helper has not been heard of for most of the lease');
    }
    return $self->{error};
}

sub unlock {
    my $self = shift;
    return 0 if $self->{unlocked} || $self->{pid} != $$;
    $self->_hear(0);    # without a look for long, the pipe is full of beats, and has no room for the last line
    $self->{unlocked} = 1;
    $self->_end($self->{kill_after});
    1 while !$self->{released} && !$self->{ended} && $self->_hear(2);
    $self->_log;
    my $status = ($self->{status} // 0) >> 8;
    my $signalled = $status > 128 && $status < 192 && !$self->{told};
    $self->_lose('gone', 'the helper released it before it was asked to') if $self->{released} && ($status == TOO_SOON || $signalled);
    $self->_lose('unreleased', 'the helper did not say that it has released the lock') unless $self->{released};
    _rethrow($self->{error}) if $self->{error};
    return 1;
}
*release = \&unlock;

# A new thread gets no copy, for the end of the copy would release the lock.
sub CLONE_SKIP { 1 }

sub DESTROY {
    my $self = shift;
    return if !defined $self->{locksmith} || $self->{unlocked} || $self->{pid} != $$;
    local ($@, $?, $!);
    return $self->_end(PATIENCE) if !$self->{lease};    # a signal handler died before the lock was held
    eval { $self->unlock; 1 } or warn $@;
}

sub _flags {
    my %o = @_;
    my @flags;
    for (grep { defined $o{$_} } qw(timeout lease refresh max_hold respite)) {
        Carp::croak("Locksmith: $_ is a number of seconds, not $o{$_}") if !_is_time($o{$_});
        (my $flag = "--$_") =~ tr/_/-/;
        push @flags, $flag, $o{$_} ? sprintf('%.9fs', $o{$_}) : 0;
    }
    for (grep { defined $o{$_} } qw(poll slow)) {
        my @pair = ref $o{$_} eq 'ARRAY' ? @{ $o{$_} } : ();
        Carp::croak("Locksmith: $_ is an array of two times in seconds") if @pair != 2 || grep { !_is_time($_) } @pair;
        push @flags, "--$_", join '..', map { sprintf '%.9fs', $_ } @pair;
    }
    push @flags, '--retries', $o{retries} if defined $o{retries};
    push @flags, grep { $o{ substr $_, 2 } } qw(--shared --strict);
    push @flags, map { '--meta=' . _octets($_) . '=' . _octets($o{meta}{$_}) } sort keys %{ $o{meta} // {} };
    delete @o{qw(timeout lease refresh max_hold respite poll slow retries shared strict meta)};
    Carp::croak('Locksmith: unknown option ' . join ', ', sort keys %o) if %o;
    return @flags;
}

# _timeout is the timeout for the helper: undef without an end, and 0, one try, if it is over already.
sub _timeout {
    my $seconds = shift;
    return if !defined $seconds;
    Carp::croak("Locksmith: timeout is a number of seconds, not $seconds") if !looks_like_number($seconds) || $seconds != $seconds;
    return if $seconds > ENDLESS;
    return $seconds > 0 ? $seconds : 0;
}

sub _is_time { looks_like_number($_[0]) && abs $_[0] < ENDLESS }    # which no comparison with NaN is

# _here reports whether no lock can be on a server. A profile may be of one.
sub _here { !grep { !/^(?:(?:shared|exclusive):)?(?:local|flock|link|mkdir|nfs):/ } @_ }

# _octets are what the system gets for a text: UTF-8. A string that perl has as bytes, and that is
# UTF-8 already, is taken as it is: names of files and @ARGV are such strings.
sub _octets {
    my $s = "$_[0]";
    utf8::encode($s) if utf8::is_utf8($s) || !utf8::decode(my $seen = $s);
    return $s;
}

sub _text {
    my $s = shift;
    utf8::decode($s);
    return $s;
}

# _spawn starts the helper with a socket for its input and a pipe for its output. To shut down a
# socket tells the helper even if a child by fork has it, too. A third pipe, which a successful
# exec closes, says why the helper could not be started.
sub _spawn {
    my ($self, @command) = @_;
    socketpair my $input, my $stdin, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or _throw('Locksmith::Error', 'internal', "socketpair: $!");
    pipe my $stdout, my $output or _throw('Locksmith::Error', 'internal', "pipe: $!");
    pipe my $report, my $failure or _throw('Locksmith::Error', 'internal', "pipe: $!");
    my $stderr;
    if (defined $self->{log}) {    # a file, not a pipe, which nobody would read while the program works
        (my $name, $stderr) = $self->{log} ? _file() : (undef, undef);
        open $stderr, '>', File::Spec->devnull or _throw('Locksmith::Error', 'internal', "open: $!") if !$stderr;
        if ($name) {
            open $self->{logged}, '<:raw', $name or _throw('Locksmith::Error', 'internal', "$name: $!");
            unlink $name;
        }
    }
    my $child = $self->{locksmith} = fork // _throw('Locksmith::Error', 'internal', "fork: $!");
    if (!$child) {
        my $why = eval {    # a signal handler that dies must not go on here with the parent's work
            local $ENV{GOMAXPROCS} = 1;
            close $_ for $stdin, $stdout;    # exec does not close them if they got the numbers of a closed STDIN or STDERR
            POSIX::dup2(fileno $input, 0);
            POSIX::dup2(fileno $output, 1);
            POSIX::dup2(fileno $stderr, 2) if $stderr;
            no warnings 'exec';
            exec { $command[0] } @command;
            "$!";
        };
        syswrite $failure, $why // $@;
        POSIX::_exit(127);
    }
    close $_ for $input, $output, $failure;
    binmode $_ for $stdin, $stdout;    # whatever layers PERL_UNICODE gives
    @$self{qw(stdin stdout)} = ($stdin, $stdout);
    my $why = join '', <$report>;
    return if $why eq '';
    $self->{unlocked} = 1;
    $self->_end($self->{kill_after});
    _throw('Locksmith::Error', 'no_helper', "$self->{address}: acquire: start $command[0]: $why; "
        . 'install locksmith on PATH, or set $LOCKSMITH to its path');
}

# _file makes a file to append to, and returns its name, too.
sub _file {
    require File::Temp;
    my ($made, $name) = File::Temp::tempfile();
    open my $file, '>>', $name or _throw('Locksmith::Error', 'internal', "$name: $!");
    return ($name, $file);
}

# _log passes on the whole lines that came on the helper's standard error.
sub _log {
    my $self = shift;
    my $file = $self->{logged} or return;
    while (1) {
        my $begin = tell $file;
        my $line = <$file>;
        if (!defined $line || $line !~ /\n\z/) {
            seek $file, $begin, 0;    # this also clears the end of file
            return;
        }
        chomp $line;
        $self->{log}->(_text($line));
    }
}

# _hear takes in what the helper says within a time, and returns whether it said anything.
sub _hear {
    my ($self, $seconds) = @_;
    my $heard = 0;
    while (defined(my $line = $self->_next($heard ? 0 : $seconds))) {
        $heard = 1;
        my ($word, $fields, $text) = _parse($line);
        if ($word eq 'BEAT') {
            $self->{heard} = _now() - ($fields->{sent_ms} // 0) / 1000;
        } elsif ($word eq 'LOST') {
            $self->_lose($fields->{code}, $text);
        } elsif ($word eq 'RELEASED') {
            $self->{released} = 1;
            $self->{held} = ($fields->{held_ms} // 0) / 1000;
            $self->_lose('gone', 'the helper released it before it was asked to; did it get a signal?') unless $self->{unlocked};
        }
    }
    $self->_log;
    $self->_lose('internal', 'the helper went away without releasing') if $self->{ended} && !$self->{released};
    return $heard;
}

# _first returns the first line that is no question, and has the sub ask answer those before it. If
# none comes in time, it is overdue.
sub _first {
    my ($self, $until, $ask) = @_;
    while (1) {
        my $line = $self->_next(defined $until ? $until - _now() : undef);
        if (!defined $line && defined $until && !$self->{ended} && _now() >= $until) {
            $line = $self->_next(LOOK_AGAIN);
            return if $self->{overdue} = !defined $line && !$self->{ended};
        }
        return $line if !$ask || ($line // '') !~ /^BUSY /;
        my (undef, $busy, $text) = _parse($line);
        my @answer = $ask->({ tries => $busy->{tries}, waited => ($busy->{waited_ms} // 0) / 1000, holder => _holder($busy), text => $text });
        local $SIG{PIPE} = 'IGNORE';    # if the helper has gone away, its output says so
        syswrite $self->{stdin}, _answer(@answer);
    }
}

# _answer is the line for what the sub ask returned.
sub _answer {
    my $usual = @_ == 2 && defined $_[0] && $_[0] eq 'usual' ? shift : undef;
    my $pause = shift;
    return "END\n" if !defined $pause;
    Carp::croak("Locksmith: ask returns seconds, usual => seconds, or undef, not $pause") if @_ || !_is_time($pause);
    my $ms = int $pause * 1000;
    $ms = 1 if $ms < 1 && $pause;    # 0 would leave the wait to the helper
    return $usual ? "PAUSE usual=1 ms=$ms\n" : "PAUSE ms=$ms\n";
}

# _holder is what a line tells of the holder.
sub _holder {
    my $fields = shift;
    return { map { ($_ eq 'holder' ? 'id' : $_) => $fields->{$_} } grep { defined $fields->{$_} } qw(holder user host program pid age_ms) };
}

# _next returns the next line, or undef if none comes within so many seconds (undef: no
# limit), or at the end.
sub _next {
    my ($self, $seconds) = @_;
    my $until = defined $seconds ? _now() + $seconds : undef;
    my $end;
    while (($end = index $self->{buffer}, "\n") < 0) {
        return if $self->{ended} || length $self->{buffer} >= MAX_LINE;
        my $readable = '';
        vec($readable, fileno $self->{stdout}, 1) = 1;
        my $left = defined $until ? $until - _now() : undef;
        my $n = select $readable, undef, undef, defined $left && $left < 0 ? 0 : $left;
        next if $n < 0 && $! == EINTR;
        return if !$n;
        $n = sysread $self->{stdout}, $self->{buffer}, MAX_LINE, length $self->{buffer};
        next if !defined $n && $! == EINTR;
        $self->{ended} = 1 if !$n;
    }
    my $line = substr $self->{buffer}, 0, $end + 1, '';
    chomp $line;
    return $line;
}

# _end lets go, and waits so many seconds for the helper to end: its last line says what became of
# the lock. A second later SIGTERM tells the helper, too. After kill_after a helper that does not
# end is killed: here, or by a later call or the end of the program (_sweep).
sub _end {
    my ($self, $patience) = @_;
    return if !defined $self->{locksmith};    # a signal handler died before it was started
    local ($?, $!);
    if (my $stdin = delete $self->{stdin}) {
        shutdown $stdin, 2;
        close $stdin;
    }
    my $begun = _now();
    while (!$self->_gone) {
        my $past = _now() - $begun;
        kill TERM => $self->{locksmith} if $past > 1 && !$self->{told}++;
        last if $past > $patience || $past > $self->{kill_after};
        Time::HiRes::sleep(0.002);
    }
    $self->{until} = $begun + $self->{kill_after};
    push @behind, $self;
    _sweep();
    return;
}

# _sweep kills the helpers left behind whose time is over; at the end of the program those that are
# stopped, too: nobody else would end them. A forked child has none.
sub _sweep {
    my $last = shift;
    local ($?, $!);
    for my $helper (@behind) {
        next if $helper->{pid} != $$ || $helper->_gone || _now() < $helper->{until} && !($last && $helper->{stopped});
        kill KILL => $helper->{locksmith};
        waitpid $helper->{locksmith}, 0;
        $helper->{gone} = 1;
    }
    @behind = grep { $_->{pid} == $$ && !$_->{gone} } @behind;
    return;
}
END { _sweep('last') }

# _gone reports whether the helper has ended. If SIGCHLD is ignored, or its handler waits
# for all children, there is no such child then.
sub _gone {
    my $self = shift;
    return 1 if $self->{gone};
    my $pid = waitpid $self->{locksmith}, WNOHANG | WUNTRACED;
    return 0 if $pid > 0 && ($self->{stopped} = POSIX::WIFSTOPPED(${^CHILD_ERROR_NATIVE}));
    $self->{status} = $? if $pid > 0;
    return $self->{gone} = $pid != 0;
}

sub _lose {
    my ($self, $code, $text) = @_;
    $text = "$self->{address}: lost: $text" unless $text =~ /^\Q$self->{address}\E/;
    $self->{error} //= bless { code => $code, text => $text }, 'Locksmith::Lost';
    return;
}

# _parse returns the word, the fields and the text of a line; the word of a malformed one is empty.
sub _parse {
    my ($word, $pairs, $text) = $_[0] =~ /^([A-Z]{1,16})((?: [a-z][a-z0-9_.-]{0,31}=[!-~]*)*?)(?: text=(.+))?$/
        or return ('', {}, '');
    my %fields = map { my ($key, $value) = split /=/, $_, 2; $value =~ s/%([0-9A-F]{2})/chr hex $1/ge; ($key => _text($value)) }
        split ' ', $pairs;
    return ($word, \%fields, _text($text // ''));
}

sub _throw {
    my ($class, $code, $text, %more) = @_;
    _rethrow(bless { code => $code, text => $text, %more }, $class);
}

# _rethrow dies with an error that says where the program called us.
sub _rethrow {
    my $error = shift;
    my $level = 0;
    $level++ while (caller $level)[0] =~ /^Locksmith\b/ && caller $level + 1;
    @$error{qw(file line)} = (caller $level)[1, 2];
    die $error;
}

# _now is a clock that goes on while the machine sleeps, where there is one.
sub _now {
    my $now = eval { Time::HiRes::clock_gettime(7) };    # CLOCK_BOOTTIME of Linux
    return $now && $now > 0 ? $now : Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC());
}

package Locksmith::Error;
use overload '""' => sub { my $e = shift; defined $e->{cause} ? $e->{cause} : defined $e->{file} ? "$e->{text} at $e->{file} line $e->{line}.\n" : "$e->{text}\n" }, 'bool' => sub { 1 }, fallback => 1;
sub code   { $_[0]{code} }
sub text   { $_[0]{text} }
sub holder { $_[0]{holder} }
sub waited { $_[0]{waited} }
sub file   { $_[0]{file} }
sub line   { $_[0]{line} }

package Locksmith::Held;
our @ISA = ('Locksmith::Error');

package Locksmith::Cancelled;
our @ISA = ('Locksmith::Error');

package Locksmith::Lost;
our @ISA = ('Locksmith::Error');

1;

__END__

=encoding utf8

=head1 NAME

Locksmith - locks that machines share, held by a locksmith helper process

=head1 SYNOPSIS

    use Locksmith;

    my $lock = Locksmith->acquire('nfs:/srv/locks/billing', timeout => 60);
    for my $bill (@bills) {
        die $lock->lost if $lock->lost;
        send_bill($bill, $lock->token);
    }
    $lock->unlock;

=head1 DESCRIPTION

The helper releases the lock when this process lets go, ends or dies, by whatever
signal: there is nothing to clean up. A service of systemd needs C<KillMode=mixed>: else a stop ends
the helper, too, while the work goes on. An object that is destroyed lets go, too. Other
threads do not see the object: their reference to it is one to undef. A child
by fork has no part in the lock: there C<unlock> and DESTROY do nothing. The lock is
released when the parent lets go or ends, whatever the child does: at once when the parent
lets go.

Addresses, metadata and what errors tell are text: strings of characters, as with C<use utf8>. The
system gets UTF-8. A string of bytes that are UTF-8 already, as from @ARGV or readdir, is the same
address.

From the loss of a lock until it stops, the work goes on without the lock. Where that must
not be, let whatever the lock guards refuse tokens below the last one that it saw.

The helper is the option helper, else C<$ENV{LOCKSMITH}>, else locksmith on PATH. All
times are seconds. Needs Perl 5.10 or newer, and nothing but its core modules.

=head1 METHODS

=over

=item Locksmith->acquire($address, %options)

acquires a lock; with a reference to an array of addresses, a set of locks, all or none. It
waits for as long as the option C<timeout> says, or else without end, as with an infinite one. 0, or a
time that is over, is for one try. With a timeout it returns two seconds after it at the latest,
even if the helper is frozen; a single try of a lock on a server has 32 seconds. Options: timeout,
lease, refresh, max_hold, respite, poll and slow (arrays of two times), retries, shared, strict,
meta (a hash): see C<locksmith hold --help>; helper (its command, an array), kill_after (how long the
helper may take to end, 15 seconds) and log (a sub that is called with each line of the helper's standard
error, whenever C<lost> or C<unlock> is called; 0: the lines are dropped; without it they go to our standard
error). It dies with an object whose string is the reason, with file and line: a
Locksmith::Held with C<holder> (a hash of id, user, host, program, pid, age_ms) and
C<waited> (seconds) if another holder has the lock, else a Locksmith::Error. Both have
C<code>, as the protocol names it, C<text>, C<file> and C<line>.

A signal handler that dies, such as that of alarm, cancels the wait. If it dies with a string, the error
is a Locksmith::Cancelled: it is equal to that string, and C<waited>, C<holder> and C<text> say how
long the wait was, and for whom. An object is passed on as it is.

The option ask is a sub, which is called after each refusal, with a reference to a hash of C<tries>
(1, 2, ...), C<waited>, C<holder> and C<text>. It returns for how many seconds to pause before the next
try; 0: wait as usual, until another holder is seen; usual => SECONDS: as usual, but ask again after so
long; undef: give up, which is a Locksmith::Held.

=item Locksmith->try_acquire($address, %options)

does not wait, and returns nothing if another holder has the lock.

=item $lock->lost

returns nothing while the lock is held, and a Locksmith::Lost when it was lost. It takes
in what the helper said since the last call. After more than half a lease without a call
it waits for the helper's next heartbeat, for only that proves that the lock is still ours.
This takes a quarter of the lease at most, unless the helper was stopped.

=item $lock->unlock

releases the lock and returns when it has been removed: 1 the first time, then 0. It dies
with a Locksmith::Lost if the lock was lost before, or cannot be removed. C<release> is
the same.

=item $lock->handle

is for C<select>, IO::Select or an event loop: it can be read when the helper has said something, which
may be a heartbeat. Do not read from it, call C<lost>.

=item $lock->held

is for how many seconds the lock was held, once it is released.

=item $lock->id, token, tokens, mode, waited, address

are the name of this acquisition, the fencing token (0: none), the tokens of a set, exclusive or
shared, how long the helper waited, and the address that was asked for.

=back

=cut
