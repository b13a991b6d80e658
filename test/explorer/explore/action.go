package explore

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An actionKind says what kind of thing happened.
type actionKind uint8

const (
	stepped actionKind = iota
	jumped
	crashed
	repeated
	calmed // the adversary gave up
	reaped // a person removed what nobody owns
	gave   // the kernel gave its lock on a file to a sleeping thread
)

// An action is what turned one world into another.
type action struct {
	kind    actionKind
	process int
	op      op
	fault   fault
	reply   reply
}

// describe describes an action in one line, with its consequences.
func (x *Explorer) describe(before, after *world) string {
	d := after.action
	switch d.kind {
	case reaped:
		return "a person removes the lock directory, which is nobody's"
	case calmed:
		return "from here on nothing goes wrong"
	case jumped:
		return fmt.Sprintf("time passes: %v", time.Duration(d.op.wait)*time.Millisecond)
	case crashed:
		return x.title(d.process) + " crashes"
	case gave:
		return fmt.Sprintf("the kernel gives %s its lock of descriptor %d", x.title(d.process), d.op.subject)
	case repeated:
		return fmt.Sprintf("the server executes again, of %s: %s: %s", x.title(d.process), x.call(d.op), result(d.reply.err))
	}
	line := x.title(d.process) + ": " + x.call(d.op)
	if d.op.kind != opWork && d.op.kind != opAwait && d.op.kind != opRest {
		line += ": " + x.answerText(d)
	}
	return line + x.changes(before, after)
}

var faultText = map[fault]string{
	outdated:     " (from an outdated cache)",
	lostRequest:  " (the request was lost)",
	lostReply:    " (it was executed; the reply was lost)",
	crashedReply: " (it was executed; then the server crashed)",
	duplicated:   " (and the network keeps a copy of the request)",
	delayed:      " (the request is on its way still)",
	foreign:      " (of something before the store, which did not see the request)",
	foreignReply: " (it was executed; the answer is that of something before the store)",
}

func (x *Explorer) answerText(d action) string {
	if d.fault == tornBegin {
		return "begins to read"
	}
	text := result(d.reply.err)
	if d.reply.err == 0 {
		text = x.value(d)
	}
	return text + faultText[d.fault]
}

func result(err unix.Errno) string {
	if err == 0 {
		return "ok"
	}
	return unix.ErrnoName(err)
}

func (x *Explorer) value(d action) string {
	switch d.op.kind {
	case opReadlink:
		return x.short(x.names.texts[d.reply.value])
	case opHead:
		return "there, written at " + seconds(x.names.views[d.reply.value].stamp)
	case opGet:
		return x.short(x.names.texts[x.names.views[d.reply.value].content])
	case opStat, opRead, opOpen, opStatFile:
		return x.sightText(d.op, x.names.views[d.reply.value])
	case opLook:
		return fmt.Sprintf("there, touched at %s", seconds(unpackSight(d.reply.value).stamp))
	case opMake, opOpenLock:
		return fmt.Sprintf("descriptor %d", d.reply.value)
	case opText:
		return x.whose(x.names.views[d.reply.value].content)
	case opList:
		var all []string
		for _, name := range x.listed(d.reply) {
			all = append(all, x.short(name))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return "ok"
}

// listed returns the names that a listing showed.
func (x *Explorer) listed(r reply) (all []string) {
	if x.Config.Objects == nil {
		for _, t := range x.names.listings[r.value] {
			all = append(all, x.names.base(t))
		}
		return all
	}
	shown, more := x.names.page(r)
	for _, t := range shown {
		all = append(all, x.names.key(t))
	}
	if more {
		all = append(all, "…")
	}
	return all
}

func seconds(ms int32) string { return fmt.Sprint(time.Duration(ms) * time.Millisecond) }

var opNames = map[opKind]string{
	opMkdir: "mkdir", opSymlink: "symlink", opRename: "rename", opRenameNew: "rename unless it is there:", opRmdir: "rmdir", opRemoveAbandoned: "remove if abandoned:", opStake: "stake", opPin: "pin", opUnpin: "unpin", opUnlink: "unlink",
	opCreate: "create", opWrite: "write", opLink: "link", opTouchFile: "touch the file", opStat: "stat", opRead: "read", opOpen: "open",
	opPut: "put", opPutNew: "put if there is none:", opDelete: "delete", opHead: "head", opGet: "get",
	opMake: "make the lock file", opOpenLock: "open the lock file", opByHand: "remove the lock file by hand", opSize: "size of", opText: "read",
	opFill: "write", opStamp: "touch", opFlock: "lock", opNamed: "is at the path:", opRemove: "unlink the path, as that of", opShut: "close", opSit: "take a seat at", opQueue: "sleep for",
	opRecall: "recall", opRemember: "remember", opStatFile: "stat the file", opTouch: "touch", opReadlink: "readlink", opLook: "look", opList: "list",
}

func (x *Explorer) call(o op) string {
	name := x.short(x.names.texts[o.name])
	switch o.kind {
	case opWork:
		return "works as long as it likes"
	case opRecall, opRemember:
		return opNames[o.kind] + " what was seen"
	case opAwait, opRest:
		return "wakes up"
	case opByHand, opMake, opOpenLock:
		return opNames[o.kind]
	case opSize, opText, opFill, opStamp, opFlock, opNamed, opRemove, opShut, opSit, opQueue:
		return fmt.Sprintf("%s descriptor %d", opNames[o.kind], o.subject)
	case opLink:
		return fmt.Sprintf("link %s -> %s", x.short(x.names.texts[o.to]), name)
	case opPutNew:
		return fmt.Sprintf("%s %s, of %s", opNames[o.kind], name, x.short(x.names.texts[o.to]))
	case opSymlink, opRename, opRenameNew:
		return fmt.Sprintf("%s %s -> %s", opNames[o.kind], name, x.short(x.names.texts[o.to]))
	}
	return opNames[o.kind] + " " + name
}

// changes says what processes found out by a step.
func (x *Explorer) changes(before, after *world) string {
	var all []string
	for p := range after.procs {
		b, a := &before.procs[p], &after.procs[p]
		switch {
		case a.asksLate && !b.asksLate:
			all = append(all, x.title(p)+" is stopped before it looks at its clock or at who lives")
		case x.op(after, p).kind == opDone && x.op(before, p).kind != opDone:
			all = append(all, x.title(p)+" has ended")
		}
		switch {
		case a.holding && !b.holding:
			all = append(all, fmt.Sprintf("%s HOLDS, token %d", x.title(p), a.token))
		case b.valid && !a.valid && a.releasing:
			all = append(all, x.title(p)+" begins to release")
		case b.valid && !a.valid:
			all = append(all, x.title(p)+" knows that it lost the lock, or the operator does")
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}

var longTicket = regexp.MustCompile(`(?:\d+-)*[0-9a-f]{32}`)

// zeros are the leading zeros of the number in an object's key.
var zeros = regexp.MustCompile(`\bg\.0+`)

// packed is a record in the name of a directory.
var packed = regexp.MustCompile(`\b(\d+\.\d+\.)[A-Za-z0-9_-]{20,}`)

// short writes a ticket as P1#2, the second ticket of process 1, and a record by its owner.
func (x *Explorer) short(s string) string {
	if strings.HasPrefix(s, "LOCK ") {
		return "record of " + x.who(makerOf(longTicket.FindString(s)))
	}
	return longTicket.ReplaceAllStringFunc(packed.ReplaceAllString(zeros.ReplaceAllString(s, "g."), "$1…"), func(t string) string { return x.who(makerOf(t)) })
}

func (x *Explorer) who(m maker) string {
	if m.process < 0 || m.process >= len(x.roles) {
		return "nobody"
	}
	return fmt.Sprintf("%s#%d", strings.TrimPrefix(x.title(m.process), "the "), m.serial)
}
