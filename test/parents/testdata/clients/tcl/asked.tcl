# asked.tcl QUESTION LOCK PIDS: see test/helpers/clients_test.go.
source [file join [file dirname [info script]] ../../../../../client/tcl/locksmith.tcl]
lassign $argv question address pids
fconfigure stdout -buffering line
set timeouts {infinite Inf zero 0 negative -3 "not a number" NaN}

proc answer {question address pids timeouts} {
    switch $question {
        dropped {
            locksmith acquire $address
            locksmith acquire $address -timeout 5
            return free
        }
        twice {
            set lock [locksmith acquire $address]
            return [expr {[$lock release] && ![$lock release] ? "once" : "again"}]
        }
        cancel {
            set ::until [expr {[clock milliseconds] + 1000}]
            return [locksmith acquire $address -while {expr {[clock milliseconds] < $::until}}]
        }
        frozen {
            set helper [list sh -c "echo \$\$ >$pids; kill -STOP \$\$; exec sleep 300"]
            return [locksmith acquire $address -timeout 0.2 -kill_after 0.1 -helper $helper]
        }
    }
    [locksmith acquire $address -timeout [dict get $timeouts $question]] release
    return "got it"
}

puts asks
try {
    puts [answer $question $address $pids $timeouts]
} trap {LOCKSMITH HELD} {} {
    puts held
} trap {LOCKSMITH HELPER cancelled} {why more} {
    set waited [lindex [dict get $more -errorcode] 4]
    puts [expr {$waited ne "" && $waited >= 0.3 ? "cancelled" : "cancelled: $why"}]
} trap {LOCKSMITH HELPER unreachable} {} {
    puts "no answer"
} on error {why} {
    puts [expr {[string match "*-timeout is a number*" $why] ? "refused" : $why}]
}
