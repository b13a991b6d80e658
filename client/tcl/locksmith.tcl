# Locks that machines share, held by a locksmith helper process.
#
#     package require locksmith
#
#     set lock [locksmith acquire nfs:/srv/locks/billing -timeout 60]
#     foreach bill $bills {
#         if {[$lock lost] ne ""} {error [$lock lost]}
#         send $bill [$lock token]
#     }
#     $lock release
#
# The helper releases the lock when this process lets go, ends or dies, by whatever signal:
# there is nothing to clean up. A service of systemd needs KillMode=mixed: else a stop ends the
# helper, too, while the work goes on.
#
#     locksmith acquire LOCK ?-option value ...?
#
# acquires a lock; with a list of addresses, a set of locks, all or none. It returns a command.
# An address with a space in it has to be a list of one. While it waits the event loop runs: events are
# handled, and windows of Tk drawn. What an event starts ends before the wait does. So it may not wait
# for the same lock, which would wait for itself: that is refused. Options:
#
#     -command PREFIX   acquire does not wait, and returns the command of a lock that is not held yet.
#                       When the wait is over the event loop calls PREFIX with that command; then
#                       "$lock wait" says whether it is held. "$lock release" before that ends the wait
#     -ask PREFIX       is called after each refusal with a dictionary of tries (1, 2 ...), waited, holder
#                       and text. It returns for how many seconds to pause before the next try; 0: wait as
#                       usual, until another holder is seen; {usual SECONDS}: as usual, but ask again after
#                       so long; end: give up, which is an error LOCKSMITH HELD
#     -timeout SECONDS  Inf: none; 0, or a time that is over: one try. With a timeout acquire returns
#                       two seconds after it at the latest, even if the helper is frozen; a single try of a
#                       lock on a server has 32 seconds
#     -lease -refresh -max_hold -respite   seconds
#     -poll -slow                  lists of two times in seconds
#     -retries N   -shared BOOL   -strict BOOL   -meta DICT: see locksmith hold --help
#     -while SCRIPT     the wait goes on while this is true; it is asked up to 50 times a second
#     -onlost PREFIX    is called with the reason when the lock is lost, if the event loop runs
#     -log PREFIX       is called with lines of the helper's standard error, whenever the lock is
#                       looked at; {}: they are dropped; without it they go to our stderr
#     -helper LIST      the helper's command; else $LOCKSMITH, else locksmith on PATH
#     -kill_after       how many seconds the helper may take to end, 15
#
#     $lock wait        returns the command once the lock is held, or raises the error of acquire
#     $lock lost        "" while the lock is held, else why it was lost. It takes in what the
#                       helper said. After more than half a lease without a call, or a turn of the
#                       event loop, it waits for the next heartbeat: for a quarter of the lease at
#                       most, unless the helper was stopped.
#     $lock release     returns when the lock has been removed: 1 the first time, then 0. It raises
#                       an error if the lock was lost before, or cannot be removed. The lock's object is
#                       freed; its command answers until 1,000 further locks are released, or "destroy".
#     $lock id, token (0: none), tokens, mode, waited, lease, address, code (of the loss)
#     $lock held        for how many seconds the lock was held, once it is released
#     $lock channel     is readable when the helper has said something
#
# The errorCode of what goes wrong is a list: LOCKSMITH, then HELD (another has the lock), HELPER
# (another reason), LOST, NOHELPER or PROTOCOL, then the code as in protocol/README.md, and after
# HELD, and after HELPER cancelled, a dictionary of the holder, and how many seconds the wait took:
#
#     try {locksmith acquire $lock -timeout 0} trap {LOCKSMITH HELD} {why} {puts $why}
#
# From the loss until it stops, the work goes on without the lock. Where that must not be, let
# whatever the lock guards refuse tokens below the last one that it saw. Needs Tcl 8.6.

package require Tcl 8.6
package provide locksmith 1.0

namespace eval ::locksmith {
    namespace export acquire try_acquire
    namespace ensemble create
    variable max_line 4096 too_soon 79
    # A helper's first line comes within its timeout and answers_in seconds. One try at a server may take
    # server_answers more. Then we look_again, for it may be we who did not run, and wait parting seconds
    # for the helper's end: two seconds in all. After a cancelled wait the helper gets patience.
    variable answers_in 1.25 server_answers 30 look_again 0.25 parting 0.25 patience 1
    variable endless 9e9  ;# no helper counts so many seconds
    variable turn 0       ;# is written when a wait is over
    variable awaited {}   ;# locks for which a call waits in the event loop
    variable retired {}   ;# commands of released locks
    variable defaults {timeout {} lease {} refresh {} max_hold {} respite {} poll {} slow {} retries {}
        shared 0 strict 0 meta {} while {} onlost {} command {} ask {} helper {} kill_after 15}
}

proc ::locksmith::acquire {locks args} {
    variable defaults
    set options $defaults
    foreach {name value} $args {
        set key [string range $name 1 end]
        if {[string index $name 0] ne "-" || ![dict exists $defaults $key] && $key ne "log"} {
            error "locksmith: unknown option $name: they are -log -[join [dict keys $defaults] { -}]"
        }
        dict set options $key $value
    }
    if {[llength $args] % 2} {error "locksmith: option [lindex $args end] has no value"}
    dict set options timeout [timeout [dict get $options timeout]]
    if {[dict get $options timeout] eq "0"} {dict set options ask {}}  ;# one try has no wait to decide about
    set flags [flags $options]  ;# an error of this needs no object
    set lock [Lock new $locks $options]
    try {
        $lock start $flags
        if {[dict get $options command] eq ""} {await $lock $locks $options}
    } on error {text more} {
        if {[info commands $lock] ne ""} {$lock destroy}
        return -options [dict incr more -level] $text
    }
    return $lock
}

# await waits until a lock is held, and has the event loop run meanwhile.
proc ::locksmith::await {lock locks options} {
    variable awaited
    foreach one $locks {
        if {[dict get $options timeout] ne "0" && $one in $awaited} {
            throw HELPER usage "[$lock address]: acquire: this program waits for $one already, so an event that waits for it would wait for itself: say -command"
        }
    }
    lappend awaited {*}$locks
    try {
        $lock wait
    } finally {
        foreach one $locks {
            set i [lsearch -exact $awaited $one]
            set awaited [lreplace $awaited $i $i]
        }
    }
}

proc ::locksmith::try_acquire {locks args} {acquire $locks {*}$args -timeout 0}

proc ::locksmith::flags {options} {
    set flags {}
    if {[dict get $options ask] ne ""} {lappend flags --ask}
    foreach name {timeout lease refresh max_hold respite} {
        set value [dict get $options $name]
        if {$value ne ""} {lappend flags --[string map {_ -} $name] [duration $name $value]}
    }
    foreach name {poll slow} {
        set pair [dict get $options $name]
        if {$pair eq ""} continue
        if {[llength $pair] != 2} {error "locksmith: -$name is a list of two times in seconds, not $pair"}
        lappend flags --$name [duration $name [lindex $pair 0]]..[duration $name [lindex $pair 1]]
    }
    if {[dict get $options retries] ne ""} {lappend flags --retries [dict get $options retries]}
    foreach name {shared strict} {
        if {[dict get $options $name]} {lappend flags --$name}
    }
    dict for {key value} [dict get $options meta] {lappend flags --meta=$key=$value}
    return $flags
}

proc ::locksmith::duration {name seconds} {
    variable endless
    if {![is_number $seconds] || abs($seconds) >= $endless} {error "locksmith: -$name is a number of seconds, not $seconds"}
    if {$seconds == 0} {return 0}
    return [format %.9fs $seconds]
}

proc ::locksmith::is_number {value} {expr {[string is double -strict $value] && ![regexp -nocase nan $value]}}

# timeout is the timeout for the helper: none without an end, and 0, one try, if it is over already.
proc ::locksmith::timeout {seconds} {
    variable endless
    if {$seconds eq ""} {return ""}
    if {![is_number $seconds]} {error "locksmith: -timeout is a number of seconds, not $seconds"}
    return [expr {$seconds >= $endless ? "" : $seconds > 0 ? $seconds : 0}]
}

# here reports whether no lock can be on a server. A profile may be of one.
proc ::locksmith::here {locks} {
    foreach lock $locks {
        if {![regexp {^(?:(?:shared|exclusive):)?(?:local|flock|link|mkdir|nfs):} $lock]} {return 0}
    }
    return 1
}

# pause is the answer to a question: what the script of -ask returned.
proc ::locksmith::pause {answer} {
    if {$answer eq "end"} {return END}
    set usual [expr {[llength $answer] == 2 && [lindex $answer 0] eq "usual" ? " usual=1" : ""}]
    set seconds [expr {$usual eq "" ? $answer : [lindex $answer 1]}]
    if {![is_number $seconds] || abs($seconds) > $::locksmith::endless} {
        error "locksmith: -ask returns seconds, {usual seconds} or end, not $answer"
    }
    # 0 would leave the wait to the helper
    return "PAUSE$usual ms=[expr {$seconds == 0 ? 0 : max(1, int($seconds * 1000))}]"
}

# holder is what a line tells of the holder.
proc ::locksmith::holder {fields} {dict filter $fields key holder user host program pid age_ms}

proc ::locksmith::seconds {fields key} {
    return [expr {[dict exists $fields $key] ? [dict get $fields $key] / 1000.0 : 0}]
}

# retire replaces a released lock by a command that answers with what is known of it.
proc ::locksmith::retire {lock facts} {
    variable retired
    interp alias {} $lock {} ::locksmith::answer $lock $facts
    lappend retired $lock
    if {[llength $retired] > 1000} {
        set retired [lassign $retired oldest]
        interp alias {} $oldest {}
    }
}

# Free frees a released lock's object.
proc ::locksmith::Free {lock facts} {
    $lock destroy
    retire $lock $facts
}

proc ::locksmith::answer {lock facts method} {
    switch -- $method {
        release {return 0}
        wait {return $lock}
        destroy {
            interp alias {} $lock {}
            return
        }
    }
    if {![dict exists $facts $method]} {error "$lock was released, and has no method $method"}
    return [dict get $facts $method]
}

# fate is the state of a child of this process, T if it is stopped, or "" if it is not known.
proc ::locksmith::fate {pid} {
    if {[catch {open /proc/$pid/stat} file]} {return ""}
    set line [read $file]
    close $file
    if {![regexp {.*\) (\S) (\d+) } $line -> state parent] || $parent != [::pid]} {return ""}
    return $state
}

# kill ends a helper that was left behind.
proc ::locksmith::kill {pid} {
    if {[fate $pid] ne ""} {catch {exec kill -KILL $pid}}
}

# throw raises an error with the errorCode LOCKSMITH ...
proc ::locksmith::throw {kind code text args} {
    return -code error -level 1 -errorcode [list LOCKSMITH $kind $code {*}$args] $text
}

# parse returns the word, a dictionary of fields, and the text of a line; no word if it is malformed.
proc ::locksmith::parse {line} {
    variable max_line
    set shape {^([A-Z]{1,16})((?: [a-z][a-z0-9_.-]{0,31}=[!-~]*)*?)(?: text=(.+))?$}
    if {[string length $line] >= $max_line || ![regexp $shape $line -> word pairs text]} {return [list {} {} {}]}
    set fields {}
    foreach pair [regexp -all -inline {[^ ]+} $pairs] {
        regexp {^([^=]*)=(.*)$} $pair -> key value
        dict set fields $key [unescape $value]
    }
    return [list $word $fields $text]
}

proc ::locksmith::unescape {value} {
    set bytes {}
    foreach {part hex} [regexp -all -inline {%([0-9A-F]{2})|[^%]+} $value] {
        append bytes [expr {$hex eq "" ? $part : [binary format H2 $hex]}]
    }
    return [encoding convertfrom utf-8 $bytes]
}

# now is in seconds, by a clock that goes on while the machine sleeps and that nobody sets, where
# there is one.
proc ::locksmith::now {} {
    if {[catch {open /proc/uptime} file]} {return [expr {[clock milliseconds] / 1000.0}]}
    gets $file line
    close $file
    return [lindex $line 0]
}

oo::class create ::locksmith::Lock {
    constructor {locks options} {
        my variable O locks_ channel_ address error_ code_ asked released ended facts logged wake waiting failure late
        namespace path [list {*}[namespace path] ::locksmith]
        set O $options
        set locks_ $locks
        set address [join $locks { + }]
        lassign {} channel_ error_ code_ logged wake failure
        lassign {0 0 0 1 0} asked released ended waiting late
        set facts {id {} mode {} token 0 tokens 0 waited 0 lease 0 held {}}
    }

    destructor {
        my variable O channel_ wake
        after cancel $wake
        if {$channel_ ne ""} {my End [dict get $O kill_after]}
        set ::locksmith::turn 1
    }

    # start starts the helper. The event loop takes it from there.
    method start {flags} {
        my variable O locks_ channel_ address logged begun until program
        set helper [dict get $O helper]
        if {$helper eq ""} {
            set helper [list [expr {[info exists ::env(LOCKSMITH)] && $::env(LOCKSMITH) ne "" ? $::env(LOCKSMITH) : "locksmith"}]]
        }
        set command [list {*}$helper hold --parent [pid] --stdin watch --beats {*}$flags -- {*}$locks_]
        foreach word $command {
            if {[regexp {^(?:[<>|]|2>|&$)} $word]} {error "locksmith: $word would mean something else to Tcl's exec"}
        }
        set stderr 2>@stderr
        if {[dict exists $O log]} {
            set stderr 2>/dev/null
            if {[dict get $O log] ne ""} {
                close [file tempfile name]
                set theirs [open $name a]
                set logged [open $name r]
                file delete $name
                set stderr 2>@$theirs
            }
        }
        set program [lindex $helper 0]
        set begun [now]
        set until ""
        set timeout [dict get $O timeout]
        if {$timeout ne ""} {
            set until [expr {$begun + $timeout + $::locksmith::answers_in + ($timeout > 0 || [here $locks_] ? 0 : $::locksmith::server_answers)}]
        }
        set failed [catch {open |[list {*}$command $stderr] r+} channel_]
        if {[info exists theirs]} {close $theirs}
        if {$failed} {
            set why $channel_
            set channel_ ""
            throw NOHELPER no_helper "$address: acquire: $why; install locksmith on PATH, or set LOCKSMITH to its path"
        }
        fconfigure $channel_ -blocking 0 -buffering line -encoding utf-8 -translation lf
        fileevent $channel_ readable [list [self namespace]::my Step]
        my Step
    }

    # wait returns when the lock is held.
    method wait {} {
        my variable waiting failure
        set lock [self]
        while {$waiting} {
            vwait ::locksmith::turn
            if {[info commands $lock] ne $lock} {::locksmith::throw HELPER cancelled "$lock was destroyed during the wait" {} 0}
        }
        if {$failure ne ""} {return -options [dict incr failure -level] [dict get $failure -text]}
        return $lock
    }

    # Step is called by the event loop during the wait: when the helper says something, or when it is
    # time to look.
    method Step {} {
        my variable waiting failure wake until O
        set lock [self]
        after cancel $wake
        if {!$waiting} return
        try {
            if {![my Goes]} {
                set delay [expr {[dict get $O while] ne "" ? 20 : $until ne "" ? int(max(1, min(1000, ($until - [now]) * 1000))) : ""}]
                if {$delay ne ""} {set wake [after $delay [list [self namespace]::my Step]]}
                return
            }
        } on error {text failure} {
            if {[info commands $lock] eq ""} return  ;# a script destroyed it
            dict set failure -text $text
            dict set failure -level 0
            if {[my channel] ne ""} {my End $::locksmith::patience}
        }
        my Settle
    }

    # Settle ends the wait: the lock is held, or failure says why not.
    method Settle {} {
        my variable O waiting wake
        set waiting 0
        set ::locksmith::turn 1
        if {[dict get $O command] eq ""} return
        after cancel $wake
        set wake [after 0 [list [self namespace]::my Tell]]
    }

    # Tell calls the script of -command. A lock that is not held is of no more use after that.
    method Tell {} {
        my variable O failure wake
        set wake ""
        if {$failure eq ""} {my Watchdog}
        set lock [self]
        set failed [expr {$failure ne ""}]
        try {
            uplevel #0 [list {*}[dict get $O command] $lock]
        } finally {
            if {$failed && [info commands $lock] eq $lock} {$lock destroy}
        }
    }

    # Goes takes in what the helper says before it has the lock, and reports whether it has it.
    method Goes {} {
        my variable O channel_ address ended until late begun heard looked facts program
        while {[my Next line]} {
            lassign [parse $line] word fields text
            if {$word ne "BUSY" || [dict get $O ask] eq ""} {
                my First $line $program
                # When this process did not run, OK may have waited in the pipe: since then, at most.
                set heard [now]
                set looked [expr {min($heard, $begun + [dict get $facts waited])}]
                fileevent $channel_ readable [list [self namespace]::my Turn]
                my Watchdog
                return 1
            }
            set busy [dict create tries [dict get $fields tries] waited [seconds $fields waited_ms] holder [holder $fields] text $text]
            set answer [pause [uplevel #0 [list {*}[dict get $O ask] $busy]]]
            if {$channel_ eq ""} {my GaveUp "the script of -ask released it"}
            catch {puts $channel_ $answer}  ;# if the helper has gone away, its output says so
        }
        if {$ended} {my First "" $program}
        if {[dict get $O while] ne "" && ![uplevel #0 [dict get $O while]]} {my GaveUp "the script of -while gave up"}
        if {$until eq "" || [now] < $until} {return 0}
        if {!$late} {
            set late 1
            set until [expr {[now] + $::locksmith::look_again}]
            return 0
        }
        set waited [expr {[now] - $begun}]
        my End $::locksmith::parting
        throw HELPER unreachable [format "%s: acquire: no answer within %.3f s: is the helper stopped, or what it waits for?" $address $waited]
    }

    # GaveUp ends the wait. The helper's last line tells who had the lock.
    method GaveUp {why} {
        my variable address begun last
        set waited [expr {[now] - $begun}]
        set last {}
        my End $::locksmith::patience
        throw HELPER cancelled [format "%s: acquire: given up after %.3f s: %s" $address $waited $why] [holder $last] $waited
    }

    # First takes the helper's first line.
    method First {line program} {
        my variable O address facts
        lassign [parse $line] word fields text
        set code [expr {[dict exists $fields code] ? [dict get $fields code] : ""}]
        if {$word eq "ERR"} {
            my End [dict get $O kill_after]
            if {$code ni {held timeout cancelled}} {throw HELPER $code $text}
            throw [expr {$code eq "cancelled" ? "HELPER" : "HELD"}] $code $text [holder $fields] [seconds $fields waited_ms]
        }
        set given [dict merge {proto {} lease_ms 0 waited_ms 0 id {} mode {} token 0} $fields]
        dict with given {}
        if {$word eq "OK" && [string is integer -strict $proto] && $proto > 1} {
            my End [dict get $O kill_after]
            throw PROTOCOL protocol "$address: acquire: $program speaks a newer protocol, $proto, and this client 1: bring the client up to date, or use an older locksmith"
        }
        if {$word ne "OK" || $proto ne "1" || ![string is wideinteger -strict $lease_ms] || $lease_ms <= 0} {
            my End [dict get $O kill_after]
            throw PROTOCOL protocol "$address: acquire: $program does not speak as a locksmith: [string range $line 0 99]; is it the right program?"
        }
        set tokens [split $token ,]
        set facts [dict create id $id mode $mode token [lindex $tokens 0] tokens $tokens \
            waited [expr {$waited_ms / 1000.0}] lease [expr {$lease_ms / 1000.0}] held {}]
    }

    foreach fact {id mode token tokens waited lease held} {
        method $fact {} "my variable facts; return \[dict get \$facts $fact\]"
    }
    method address {} {my variable address; return $address}
    method code {} {my variable code_; return $code_}
    method channel {} {my variable channel_; return $channel_}

    method lost {} {
        my variable error_ asked looked heard facts
        if {$error_ ne "" || $asked} {return $error_}
        # A beat says how old it was when it was written, not when we read it. So after a long
        # time without a look, only a beat that comes now proves that the helper runs.
        set lease [dict get $facts lease]
        set stale [expr {[now] - $looked > $lease / 2}]
        set new [my Hear]
        if {$stale && $error_ eq ""} {
            set until [expr {[now] + $lease * 3 / 4}]
            set new 0
            while {!$new && $error_ eq "" && [now] < $until} {
                my Readable [expr {$until - [now]}]
                set new [my Hear]
            }
            if {!$new} {my Lose expired "the helper has not been heard of for most of the lease"}
        }
        set looked [now]
        if {$looked - $heard > $lease * 3 / 4} {my Lose expired "the helper has not been heard of for most of the lease"}
        return $error_
    }

    method release {} {
        my variable O asked released error_ code_ address told waiting failure facts
        if {$asked} {return 0}
        if {$waiting} {
            set asked 1
            catch {my GaveUp "it was released before it was held"} text failure
            dict set failure -text $text
            dict set failure -level 0
            my Settle
            return 0
        }
        my Hear
        set asked 1
        set status [my End [dict get $O kill_after]]
        set signalled [expr {[string is integer -strict $status] && $status > 128 && $status < 192 && !$told}]
        if {$released && ($status eq $::locksmith::too_soon || $signalled)} {my Lose gone "the helper released it before it was asked to"}
        if {!$released} {my Lose unreleased "the helper did not say that it has released the lock"}
        set lock [self]
        set code $code_
        set lost $error_
        set facts [dict merge $facts [dict create address $address code $code lost $lost channel {}]]
        ::locksmith::Free $lock $facts
        if {$lost ne ""} {::locksmith::throw LOST $code $lost}
        return 1
    }

    # Turn is called by the event loop when the helper says something, or when it is time to look.
    # After a loss it still hears the end of the output: an event that nobody takes comes for ever, and
    # keeps what waits for an idle moment, such as -onlost, from being called.
    method Turn {} {
        my variable asked error_
        if {$asked} return
        if {$error_ ne ""} {my Hear} elseif {[my lost] eq ""} {my Watchdog}
    }

    method Watchdog {} {
        my variable wake facts
        after cancel $wake
        set wake [after [expr {int(min([dict get $facts lease] * 1000 / 8, 0x7fffffff))}] [list [self namespace]::my Turn]]
    }

    # Hear takes in what the helper has said, and returns whether it said anything.
    method Hear {} {
        my variable ended released asked heard facts
        set new 0
        while {[my Next line]} {
            set new 1
            lassign [parse $line] word fields text
            switch -- $word {
                BEAT {
                    set sent [expr {[dict exists $fields sent_ms] ? [dict get $fields sent_ms] : 0}]
                    set heard [expr {[now] - $sent / 1000.0}]
                }
                LOST {my Lose [dict get $fields code] $text}
                RELEASED {
                    set released 1
                    if {[dict exists $fields held_ms]} {dict set facts held [expr {[dict get $fields held_ms] / 1000.0}]}
                    if {!$asked} {my Lose gone "the helper released it before it was asked to; did it get a signal?"}
                }
            }
        }
        my Log
        if {$ended && !$released} {my Lose internal "the helper went away without releasing"}
        return $new
    }

    # Next reads a line, if there is a whole one.
    method Next {name} {
        my variable channel_ ended pending
        upvar 1 $name line
        set line ""
        if {$ended || $channel_ eq ""} {return 0}
        if {[catch {gets $channel_ got} n]} {
            set ended 1
            return 0
        }
        if {$n >= 0 && ![eof $channel_]} {
            set line $got
            return 1
        }
        if {[eof $channel_]} {  # text without a line feed is no line
            set ended 1
            fileevent $channel_ readable {}
        } elseif {[chan pending input $channel_] >= $::locksmith::max_line} {
            set line [read $channel_ $::locksmith::max_line]
            return 1
        }
        return 0
    }

    # Readable waits until the helper may have said something, for some seconds at most.
    method Readable {seconds} {
        after [expr {int(min(max($seconds, 0.002), 0.02) * 1000)}]
    }

    # Log passes on the whole lines that came on the helper's standard error.
    method Log {} {
        my variable O logged
        if {$logged eq ""} return
        while {1} {
            set begin [tell $logged]
            if {[gets $logged line] < 0} return
            if {[eof $logged]} {
                seek $logged $begin
                return
            }
            uplevel #0 [list {*}[dict get $O log] $line]
        }
    }

    # End lets go, waits for the helper for some seconds, and returns its exit status. A child of ours
    # may keep the pipe open. So a second later SIGTERM tells the helper, too. A helper that does not end
    # is killed: at once if it is stopped or its time is over, else later by the event loop.
    method End {most} {
        my variable O channel_ ended released facts logged wake told last waiting
        after cancel $wake
        fileevent $channel_ readable {}
        set helper [pid $channel_]
        catch {close $channel_ write}
        set begun [now]
        set told 0
        set left 0
        while {!$released && !$ended} {
            while {[my Next line]} {
                lassign [parse $line] word fields text
                if {$word eq "ERR"} {set last $fields}
                if {$word eq "LOST"} {my Lose [dict get $fields code] $text}
                if {$word eq "RELEASED"} {
                    set released 1
                    if {[dict exists $fields held_ms]} {dict set facts held [expr {[dict get $fields held_ms] / 1000.0}]}
                }
            }
            if {$released || $ended} break
            set past [expr {[now] - $begun}]
            if {$past > 1 && !$told} {
                set told 1
                catch {exec kill -TERM $helper}
            }
            if {$past > min($most, [dict get $O kill_after])} {
                set left [expr {$past < [dict get $O kill_after] && [::locksmith::fate $helper] ne "T"}]
                if {!$left} {catch {exec kill -KILL $helper}}
                break
            }
            my Readable 0.005
        }
        if {$left} {after [expr {int(([dict get $O kill_after] - $past) * 1000)}] [list ::locksmith::kill $helper]}
        fconfigure $channel_ -blocking [expr {!$left}]  ;# close does not wait then
        set failed [catch {close $channel_} why more]
        set channel_ ""
        if {$logged ne ""} {
            my Log
            close $logged
            set logged ""
        }
        if {!$failed} {return 0}
        return [lindex [dict get $more -errorcode] 2]
    }

    method Lose {code text} {
        my variable O error_ code_ address wake
        if {$error_ ne ""} return
        if {[string first $address $text] != 0} {set text "$address: lost: $text"}
        set error_ $text
        set code_ $code
        after cancel $wake
        if {[dict get $O onlost] ne ""} {after idle [list {*}[dict get $O onlost] $text]}
    }
}
