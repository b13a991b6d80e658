//go:build unix

package history

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/clock"
	"locksmith/protocol"
)

// begin begins a round.
func (r *recorder) begin(l *life) string {
	if r.over {
		return "end"
	}
	c := l.contender
	c.rounds++
	l.schedule, l.hurt, l.dropped = newSchedule(r.seed, c.number, c.rounds), false, 0
	return span("pause", l.schedule.pause)
}

func span(word string, d time.Duration) string {
	return word + " " + strconv.FormatInt(d.Microseconds(), 10)
}

// hear takes one packet and returns the answer.
func (r *recorder) hear(l *life, word, rest string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.killed {
		return "end"
	}
	now := clock.Boot{}.Now()
	switch word {
	case "want":
		r.want(l, now)
		r.scheduleInjection(l, starting)
	case "enter":
		r.enter(l, now, rest)
		r.scheduleInjection(l, working)
		return span("stay", l.schedule.stay)
	case "leave":
		l.contender.cell.tally.left++
		r.leave(l, now, "left")
		r.scheduleInjection(l, releasing)
	case "lost":
		l.contender.cell.tally.lost++
		if ran, err := strconv.ParseInt(rest, 10, 64); err == nil {
			l.section.ran = time.Duration(ran)
		}
		r.leave(l, now, "lost")
	case "free":
		l.last.free = now
		return r.begin(l)
	case "missed":
		return r.missed(l, now, rest)
	}
	return "go"
}

func (r *recorder) want(l *life, now time.Duration) {
	l.wants = now
	for _, m := range l.contender.wish {
		m.lock.wanted++
	}
	r.settle(l.contender, now)
}

// unwant ends a wish: it was fulfilled, or the parent goes without.
func (r *recorder) unwant(l *life) {
	if l.wants == 0 {
		return
	}
	l.wants = 0
	for _, m := range l.contender.wish {
		m.lock.wanted--
	}
}

func (r *recorder) enter(l *life, now time.Duration, granted string) {
	r.handOver(l.contender, now)
	id, tokens, _ := strings.Cut(granted, " ")
	s := &section{who: l.contender.String(), id: id, want: l.wants, enter: now, dropped: l.dropped}
	for i, token := range strings.Split(tokens, ",") {
		m := l.contender.wish[i]
		m.token, _ = strconv.ParseUint(token, 10, 64) // a text that is no number becomes 0, which does not rise
		s.memberships = append(s.memberships, m)
		m.lock.sections = append(m.lock.sections, s)
		m.lock.inside++
	}
	for one := range strings.SplitSeq(id, ",") {
		if r.ids[one] {
			r.faults = append(r.faults, "the id "+one+" came twice: "+s.who)
		}
		r.ids[one] = true
	}
	r.unwant(l)
	l.section = s
	r.settle(l.contender, now)
}

func (r *recorder) leave(l *life, now time.Duration, how string) {
	s := l.section
	s.leave, s.how, l.section, l.last = now, how, nil, s
	for _, m := range s.memberships {
		m.lock.inside--
	}
	r.settle(l.contender, now)
}

// defects are codes that neither an injection nor a slow machine explains.
var defects = []protocol.Code{protocol.Usage, protocol.Internal, protocol.CannotCreate, protocol.Permission, protocol.Config}

// missed hears why a lock is not held or not released. The code comes first.
func (r *recorder) missed(l *life, now time.Duration, why string) string {
	k := l.contender.cell.tally
	k.missed++
	if !l.hurt {
		r.unexplained(l.contender, why)
	}
	r.unwant(l)
	r.settle(l.contender, now)
	if l.contender.cell.kind.endsOnLoss || l.schedule.ends {
		return "end"
	}
	return r.begin(l)
}

// unexplained counts a miss in a round without an injection, by its code. If the machine was too
// slow for the lease, that is nobody's fault.
func (r *recorder) unexplained(c *contender, why string) {
	code, _, _ := strings.Cut(why, " ")
	r.misses[c.cell.kind.name+" "+code]++
	if slices.Contains(defects, protocol.Code(code)) {
		r.faults = append(r.faults, c.String()+": "+why)
	}
}

// gone hears the end of a connection, which the kernel has closed.
func (r *recorder) gone(l *life) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l == nil || l.killed {
		return
	}
	r.dead(l, clock.Boot{}.Now())
}

// dead closes everything that a life was in.
func (r *recorder) dead(l *life, now time.Duration) {
	l.killed = true
	r.unwant(l)
	if l.section != nil {
		r.leave(l, now, "ended")
	}
	r.settle(l.contender, now)
}

// settle looks at the gaps of a contender's locks.
func (r *recorder) settle(c *contender, now time.Duration) {
	k := c.cell.tally
	for _, m := range c.wish {
		gap, vain := m.lock.settle(now)
		k.gap, k.vain = max(k.gap, gap), max(k.vain, vain)
	}
}

// handOver is called when the next holder comes. It notes how long the locks were empty after an
// injection that hit their holder.
func (r *recorder) handOver(c *contender, now time.Duration) {
	for _, m := range c.wish {
		if injected := m.lock.injected; injected != spared && m.lock.gap != 0 {
			c.cell.tally.handover[injected] = append(c.cell.tally.handover[injected], now-m.lock.gap)
		}
		m.lock.injected = spared
	}
}
