# handle.tcl LOCK: what the client promises of a lock in a program's hands. It exits with 1 if it is not so.
source [file join [file dirname [info script]] ../../../../../client/tcl/locksmith.tcl]
set address [lindex $argv 0]

proc refuses {pattern args} {
    if {![catch {locksmith acquire {*}$args} why]} {error "$args: no error"}
    if {![string match $pattern $why]} {error "$args: $why"}
}

# Options are known, and what they say.
refuses "*unknown option -timout*" $address -timout 3
refuses "*-timeout is a number of seconds*" $address -timeout soon
refuses "*-poll is a list of two*" $address -poll 3
refuses "*has no value*" $address -shared
refuses "*would mean something else*" ">file"
refuses "*install locksmith on PATH*" $address -helper {no-such-helper}

# It says what it has, and who has it.
set lock [locksmith acquire $address -poll {0.01 0.05} -slow {0.1 0.2} -meta {job nightly}]
if {[$lock id] eq "" || [$lock mode] ne "exclusive" || [$lock token] != 0 || [$lock lease] <= 0 || [$lock lost] ne ""} {error "[$lock id]"}
try {
    locksmith acquire $address -ask {apply {busy {return end}}}
    error "it was held"
} trap {LOCKSMITH HELD} {why more} {
    lassign [dict get $more -errorcode] - - code holder waited
    if {$code ne "held" || ![string is integer -strict [dict get $holder pid]] || ![string match "*job=nightly*" $why]} {error $more}
}
after 50
if {![$lock release] || [$lock release] || [$lock held] < 0.05} {error "held for [$lock held]"}

# Its standard error goes where it should.
set talkative {sh -c "echo one >&2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo two >&2; echo RELEASED held_ms=1"}
set said {}
[locksmith acquire $address -helper $talkative -log {lappend said}] release
if {$said ne {one two}} {error "said: $said"}
[locksmith acquire $address -helper $talkative -log {}] release

# A helper that says with its status that it was too soon is believed, however late its line was read, as here after the
# release has begun.
foreach status {79 143} {
    set early [list sh -c "echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo RELEASED held_ms=0; exit $status"]
    set lock [locksmith acquire $address -helper $early]
    try {
        $lock release
        error "status $status: it was lost"
    } trap {LOCKSMITH LOST gone} {} {}
}

# An object that is destroyed lets go.
[locksmith acquire $address] destroy
[locksmith acquire $address -timeout 30] release

# An OK that may have been in the pipe while this process did not run is not believed without a heartbeat.
set late {sh -c "sleep 2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=2000; exec sleep 60 2>&-"}
set lock [locksmith acquire $address -helper $late -kill_after 0]
if {[$lock lost] eq "" || [$lock code] ne "expired"} {error "believed: [$lock code]"}
$lock destroy
