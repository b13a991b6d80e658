// Package doctor finds out what a place can do that locks need. It has what the
// backends' examinations share: facts about the file system under a directory, with
// what is bad for one kind of lock and harmless for another (DirNeeds).
package doctor
