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
# there is nothing to clean up.
#
#     locksmith acquire LOCK ?-option value ...?
#
# acquires a lock; with a list of addresses, a set of locks, all or none. It returns a command.
# An address with a space in it has to be a list of one. Options:
#
#     -timeout -lease -refresh -max_hold -respite   seconds
#     -poll -slow                  lists of two times in seconds
#     -retries N   -shared BOOL   -strict BOOL   -meta DICT: see locksmith hold --help
#     -while SCRIPT     the wait goes on while this is true; it is asked up to 50 times a second
#     -onlost PREFIX    is called with the reason when the lock is lost, if the event loop runs
#     -log PREFIX       is called with lines of the helper's standard error, whenever the lock is
#                       looked at; {}: they are dropped; without it they go to our stderr
#     -helper LIST      the helper's command; else $LOCKSMITH, else locksmith on PATH
#     -kill_after       how many seconds the helper may take to end, 15
#
#     $lock lost        "" while the lock is held, else why it was lost. It takes in what the
#                       helper said. After more than half a lease without a call, or a turn of the
#                       event loop, it waits for the next heartbeat: for a quarter of the lease at
#                       most, unless the helper was stopped.
#     $lock release     returns when the lock has been removed: 1 the first time, then 0. It raises
#                       an error if the lock was lost before, or cannot be removed.
#     $lock id, token (0: none), tokens, mode, waited, lease, address, code (of the loss)
#     $lock held        for how many seconds the lock was held, once it is released
#     $lock channel     is readable when the helper has said something
#
# The errorCode of what goes wrong is a list: LOCKSMITH, then HELD (another has the lock), HELPER
# (another reason), LOST, NOHELPER or PROTOCOL, then the code as in protocol/README.md, and after
# HELD a dictionary of the holder, and how many seconds the wait took:
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
    variable defaults {timeout {} lease {} refresh {} max_hold {} respite {} poll {} slow {} retries {}
        shared 0 strict 0 meta {} while {} onlost {} helper {} kill_after 15}
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
    set flags [flags $options]  ;# an error of this needs no object
    set lock [Lock new $locks $options]
    try {
        $lock start $flags
    } on error {text more} {
        $lock destroy
        return -options [dict incr more -level] $text
    }
    return $lock
}

proc ::locksmith::try_acquire {locks args} {acquire $locks {*}$args -timeout 0}

proc ::locksmith::flags {options} {
    set flags {}
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
    if {![string is double -strict $seconds]} {error "locksmith: -$name is a number of seconds, not $seconds"}
    if {$seconds == 0} {return 0}
    return [format %.9fs $seconds]
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
        my variable O locks_ channel_ address error_ code_ asked released ended facts logged wake
        namespace path [list {*}[namespace path] ::locksmith]
        set O $options
        set locks_ $locks
        set address [join $locks { + }]
        lassign {} channel_ error_ code_ logged wake
        lassign {0 0 0} asked released ended
        set facts {id {} mode {} token 0 tokens 0 waited 0 lease 0 held {}}
    }

    destructor {
        my variable channel_ wake
        after cancel $wake
        if {$channel_ ne ""} {my End}
    }

    # start starts the helper, and waits for its first line.
    method start {flags} {
        my variable O locks_ channel_ address logged ended facts heard looked
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
        set begun [now]
        set failed [catch {open |[list {*}$command $stderr] r+} channel_]
        if {[info exists theirs]} {close $theirs}
        if {$failed} {
            set why $channel_
            set channel_ ""
            throw NOHELPER no_helper "$address: acquire: $why; install locksmith on PATH, or set LOCKSMITH to its path"
        }
        fconfigure $channel_ -blocking 0 -encoding utf-8 -translation lf
        while {![my Next line]} {
            if {$ended} break
            if {[dict get $O while] ne "" && ![uplevel #0 [dict get $O while]]} {
                my End
                throw HELPER cancelled "$address: acquire: the script of -while gave up"
            }
            my Readable 0.1
        }
        my First $line [lindex $helper 0]
        # When this process did not run, OK may have waited in the pipe: since then, at most.
        set heard [now]
        set looked [expr {min($heard, $begun + [dict get $facts waited])}]
        fileevent $channel_ readable [list [self namespace]::my Turn]
        my Watchdog
    }

    # First takes the helper's first line.
    method First {line program} {
        my variable address facts
        lassign [parse $line] word fields text
        set code [expr {[dict exists $fields code] ? [dict get $fields code] : ""}]
        if {$word eq "ERR"} {
            my End
            if {$code ni {held timeout}} {throw HELPER $code $text}
            set waited [expr {[dict exists $fields waited_ms] ? [dict get $fields waited_ms] / 1000.0 : 0}]
            throw HELD $code $text [dict filter $fields key holder user host program pid age_ms] $waited
        }
        set given [dict merge {proto {} lease_ms 0 waited_ms 0 id {} mode {} token 0} $fields]
        dict with given {}
        if {$word eq "OK" && [string is integer -strict $proto] && $proto > 1} {
            my End
            throw PROTOCOL protocol "$address: acquire: $program speaks a newer protocol, $proto, and this client 1: bring the client up to date, or use an older locksmith"
        }
        if {$word ne "OK" || $proto ne "1" || ![string is wideinteger -strict $lease_ms] || $lease_ms <= 0} {
            my End
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
        my variable asked released error_ code_ address told
        if {$asked} {return 0}
        my Hear
        set asked 1
        set status [my End]
        set signalled [expr {[string is integer -strict $status] && $status > 128 && $status < 192 && !$told}]
        if {$released && ($status eq $::locksmith::too_soon || $signalled)} {my Lose gone "the helper released it before it was asked to"}
        if {!$released} {my Lose unreleased "the helper did not say that it has released the lock"}
        if {$error_ ne ""} {throw LOST $code_ $error_}
        return 1
    }

    # Turn is called by the event loop when the helper says something, or when it is time to look.
    method Turn {} {
        my variable asked error_ channel_
        if {!$asked && [my lost] eq ""} {my Watchdog}
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

    # End lets go, waits for the helper, kills it if it does not end, and returns its exit status.
    # A child of ours may keep the pipe open. So a second later SIGTERM tells the helper, too.
    method End {} {
        my variable O channel_ ended released facts logged wake told
        after cancel $wake
        fileevent $channel_ readable {}
        set helper [pid $channel_]
        catch {close $channel_ write}
        set begun [now]
        set told 0
        while {!$released && !$ended} {
            while {[my Next line]} {
                lassign [parse $line] word fields text
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
            if {$past > [dict get $O kill_after]} {
                catch {exec kill -KILL $helper}
                break
            }
            my Readable 0.005
        }
        fconfigure $channel_ -blocking 1
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
