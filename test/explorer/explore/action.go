//go:build unix

package explore

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/steps"
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
	purged // somebody removed a name because of its age
	gave   // the kernel gave its lock on a file to a sleeping thread
)

// An action is what turned one world into another.
type action struct {
	kind    actionKind
	process int
	op      steps.Op
	fault   fault
	reply   steps.Reply
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
		return fmt.Sprintf("time passes: %v", time.Duration(d.op.Wait)*time.Millisecond)
	case crashed:
		return x.title(d.process) + " crashes"
	case purged:
		return "a purge by age removes " + x.short(x.names.Texts[d.op.Name])
	case gave:
		return fmt.Sprintf("the kernel gives %s its lock of descriptor %d", x.title(d.process), d.op.Subject)
	case repeated:
		return fmt.Sprintf("the server executes again, of %s: %s: %s", x.title(d.process), x.call(d.op), result(d.reply.Err))
	}
	line := x.title(d.process) + ": " + x.call(d.op)
	if d.op.Kind != steps.OpWork && d.op.Kind != steps.OpAwait && d.op.Kind != steps.OpRest {
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
	text := result(d.reply.Err)
	if d.reply.Err == 0 {
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
	switch d.op.Kind {
	case steps.OpReadlink, steps.OpReadlinkNow:
		return x.short(x.names.Texts[d.reply.Value])
	case steps.OpHead:
		return "there, written at " + seconds(x.names.Views[d.reply.Value].Stamp)
	case steps.OpGet:
		return x.short(x.names.Texts[x.names.Views[d.reply.Value].Content])
	case steps.OpStat, steps.OpRead, steps.OpOpen, steps.OpStatFile:
		return x.sightText(d.op, x.names.Views[d.reply.Value])
	case steps.OpLook:
		return fmt.Sprintf("there, touched at %s", seconds(steps.UnpackSight(d.reply.Value).Stamp))
	case steps.OpMake, steps.OpOpenLock:
		return fmt.Sprintf("descriptor %d", d.reply.Value)
	case steps.OpText:
		return x.whose(x.names.Views[d.reply.Value].Content)
	case steps.OpList:
		var all []string
		for _, name := range x.listed(d.reply) {
			all = append(all, x.short(name))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return "ok"
}

// listed returns the names that a listing showed.
func (x *Explorer) listed(r steps.Reply) (all []string) {
	if x.Config.Objects == nil {
		for _, t := range x.names.Listings[r.Value] {
			all = append(all, x.names.Base(t))
		}
		return all
	}
	shown, more := x.names.Page(r)
	for _, t := range shown {
		all = append(all, x.names.Key(t))
	}
	if more {
		all = append(all, "…")
	}
	return all
}

func seconds(ms int32) string { return fmt.Sprint(time.Duration(ms) * time.Millisecond) }

var opNames = map[steps.OpKind]string{
	steps.OpMkdir: "mkdir", steps.OpSymlink: "symlink", steps.OpRename: "rename", steps.OpRenameNew: "rename unless it is there:", steps.OpRmdir: "rmdir", steps.OpRemoveAbandoned: "remove if abandoned:", steps.OpStake: "stake", steps.OpPin: "pin", steps.OpUnpin: "unpin", steps.OpUnlink: "unlink",
	steps.OpCreate: "create", steps.OpWrite: "write", steps.OpLink: "link", steps.OpTouchFile: "touch the file", steps.OpStat: "stat", steps.OpRead: "read", steps.OpOpen: "open",
	steps.OpPut: "put", steps.OpPutNew: "put if there is none:", steps.OpDelete: "delete", steps.OpHead: "head", steps.OpGet: "get",
	steps.OpMake: "make the lock file", steps.OpOpenLock: "open the lock file", steps.OpByHand: "remove the lock file by hand", steps.OpSize: "size of", steps.OpText: "read",
	steps.OpFill: "write", steps.OpStamp: "touch", steps.OpFlock: "lock", steps.OpNamed: "is at the path:", steps.OpRemove: "unlink the path, as that of", steps.OpShut: "close", steps.OpSit: "take a seat at", steps.OpQueue: "sleep for",
	steps.OpRecall: "recall", steps.OpRemember: "remember", steps.OpStatFile: "stat the file", steps.OpTouch: "touch", steps.OpKeep: "set times of what it holds by", steps.OpReadlink: "readlink", steps.OpReadlinkNow: "look and readlink", steps.OpLook: "look", steps.OpList: "list",
}

func (x *Explorer) call(o steps.Op) string {
	name := x.short(x.names.Texts[o.Name])
	switch o.Kind {
	case steps.OpKeep:
		return opNames[o.Kind]
	case steps.OpWork:
		return "works as long as it likes"
	case steps.OpRecall, steps.OpRemember:
		return opNames[o.Kind] + " what was seen"
	case steps.OpAwait, steps.OpRest:
		return "wakes up"
	case steps.OpByHand, steps.OpMake, steps.OpOpenLock:
		return opNames[o.Kind]
	case steps.OpSize, steps.OpText, steps.OpFill, steps.OpStamp, steps.OpFlock, steps.OpNamed, steps.OpRemove, steps.OpShut, steps.OpSit, steps.OpQueue:
		return fmt.Sprintf("%s descriptor %d", opNames[o.Kind], o.Subject)
	case steps.OpLink:
		return fmt.Sprintf("link %s -> %s", x.short(x.names.Texts[o.To]), name)
	case steps.OpPutNew:
		return fmt.Sprintf("%s %s, of %s", opNames[o.Kind], name, x.short(x.names.Texts[o.To]))
	case steps.OpSymlink, steps.OpRename, steps.OpRenameNew:
		return fmt.Sprintf("%s %s -> %s", opNames[o.Kind], name, x.short(x.names.Texts[o.To]))
	}
	return opNames[o.Kind] + " " + name
}

// changes says what processes found out by a step.
func (x *Explorer) changes(before, after *world) string {
	var all []string
	for p := range after.procs {
		b, a := &before.procs[p], &after.procs[p]
		switch {
		case a.asksLate && !b.asksLate:
			all = append(all, x.title(p)+" is stopped before it looks at its clock or at who lives")
		case x.op(after, p).Kind == steps.OpDone && x.op(before, p).Kind != steps.OpDone:
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
		return "record of " + x.who(steps.MakerOf(longTicket.FindString(s)))
	}
	return longTicket.ReplaceAllStringFunc(packed.ReplaceAllString(zeros.ReplaceAllString(s, "g."), "$1…"), func(t string) string { return x.who(steps.MakerOf(t)) })
}

func (x *Explorer) who(m steps.Maker) string {
	if m.Process < 0 || m.Process >= len(x.roles) {
		return "nobody"
	}
	return fmt.Sprintf("%s#%d", strings.TrimPrefix(x.title(m.Process), "the "), m.Serial)
}
