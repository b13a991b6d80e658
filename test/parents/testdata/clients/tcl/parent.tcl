# parent.tcl SCENARIO LOCK GO, by way of client/tcl: see doc.go.
source [file join [file dirname [info script]] ../../../../../client/tcl/locksmith.tcl]
lassign $argv scenario address go
fconfigure stdout -buffering line

proc await_go {go} {
    for {set i 0} {$i < 2400} {incr i} {
        if {[file exists $go]} return
        after 50
    }
    error "told nothing"
}

if {$scenario in {give_up deaf}} {
    set deaf [expr {$scenario eq "deaf" ? {-helper {sh -c "exec sleep 600"} -kill_after 1} : {}}]
    set until [expr {[clock milliseconds] + 500}]
    try {
        locksmith acquire $address -while {expr {[clock milliseconds] < $until}} {*}$deaf
    } trap {LOCKSMITH HELPER cancelled} {} {
        puts "gave up"
    }
    exit
}
# A try of a lock on this machine is one without the bound of try_acquire, which a busy machine may miss.
set limits [switch $scenario {
    try {expr {[string match local:* $address] ? {-ask {apply {busy {return end}}}} : {-timeout 0}}}
    stopped {list -lease 3}
    max_hold {list -max_hold 1}
}]
set told {}
set lock [locksmith acquire $address {*}$limits -onlost {lappend told}]
if {$scenario eq "fork"} {
    puts "child [exec sleep 600 <@[$lock channel] >@[$lock channel] &]"
}
puts working
if {$scenario in {lost stopped max_hold}} {
    # once by the event loop, and again by a look
    after 120000 {lappend told late}
    vwait told
    if {[$lock lost] ne [lindex $told 0]} {error "told $told, and lost is [$lock lost]"}
    puts "lost [$lock code]"
    try {$lock release} trap {LOCKSMITH LOST} {- more} {puts "released [lindex [dict get $more -errorcode] 2]"}
    exit
}
if {$scenario eq "data"} {
    while {[gets stdin line] >= 0} {puts "data $line"}
    puts eof
}
await_go $go
if {![$lock release] || [$lock release]} {error "released in vain"}
$lock destroy
puts released
