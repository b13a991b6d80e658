// Package timeline draws the history of locks as a picture: who held, who waited,
// and what went wrong. Each process has a row, in the order in which they got the
// lock, and each lock a group of rows. A set of locks has a row in each of its locks'
// groups, in which it waits while this lock is not free, and there is a line while it
// is another of them.
//
// The picture is an SVG that needs nothing else: its own background, no script, no
// link. The same events, in any order, give the same bytes. Whatever is in the
// events is only ever text in it.
//
// The times of one host are by its clock since boot, so that setting its calendar
// moves nothing; the calendars of hosts place them beside each other, and are only
// as good as those are set.
package timeline
