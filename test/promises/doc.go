// Package promises asks every kind of lock every question, through the programs as people run
// them. A promise that is kept for the kind for which it was written, and not in the next kind,
// home or way of running, is found here.
//
// A question is a small function that gets a kind and judges what people see. Each is asked of each
// kind for which it arises: a cell. A cell is kept, or open, which means that it fails today, or it
// cannot be kept, and the guide says why in the same words. An open cell that is kept fails the
// test, and so does one that cannot be kept and is: so both lists only shrink.
//
// The guide's alert rules are judged by promtool, which has the engine of Prometheus.
//
//	go test ./test/promises                                  # the quick cells
//	go test ./test/promises -long                            # all, at servers as sites run them
//	go test ./test/promises -run 'Promises/cells/3.*/nfs:'   # some
//	go test ./test/promises -update                          # writes the table on the page
//
// A new kind gets its column by an entry in test/lab/kinds.
package promises
