# tclsh all.tcl runs all tests; it exits with 1 if one fails.
package require tcltest 2.5
tcltest::configure -testdir [file dirname [file normalize [info script]]] {*}$argv
set tcltest::singleProcess 1
exit [tcltest::runAllTests]
