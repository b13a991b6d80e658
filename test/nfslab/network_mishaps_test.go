//go:build linux

package nfslab

import (
	"fmt"
	"strconv"
	"time"

	"locksmith/test/lab/mishaps"
)

// ofNetworks is what may happen to the server and the way to it.
var ofNetworks = []mishap{
	{Mishap: mishaps.Cut, few: true,
		inject: func(c *crash) { do(c.t, "hostnet", strconv.Itoa(c.host), "down") },
		heal:   func(c *crash) { do(c.t, "hostnet", strconv.Itoa(c.host), "up") }},
	{Mishap: mishaps.RequestsCut,
		inject: (*crash).loseRequests,
		heal:   func(c *crash) { script(c.t, c.host, "tc qdisc del dev eth0 root") }},
	{Mishap: mishaps.AnswersCut,
		inject: func(c *crash) { c.answers(false) },
		heal:   func(c *crash) { c.answers(true) }},
	{Mishap: mishaps.AnswersLost, survives: true, lease: rebootLease,
		inject: func(c *crash) {
			c.answers(false)
			c.unlag()
			c.thaw()
			time.Sleep(blink)
			c.answers(true)
		}},
	{Mishap: mishaps.ServerBack, alone: true, survives: true, late: mishaps.AfterReturn, lease: rebootLease,
		inject: func(c *crash) { c.reboot(blink) }},
	{Mishap: mishaps.ServerBackLate, alone: true, patient: true, late: mishaps.AfterReturn, lease: outageLease,
		inject: func(c *crash) { c.reboot(outageLease * 5 / 4) }},
}

// answers lets pass or drops what the server says to the victim's host, but not what it
// hears.
func (c *crash) answers(pass bool) {
	dev := fmt.Sprintf("v%d", c.host)
	if pass {
		do(c.t, "tc", "qdisc", "del", "dev", dev, "root")
		return
	}
	do(c.t, "tc", "qdisc", "replace", "dev", dev, "root", "netem", "loss", "100%")
}

// loseRequests drops what the victim's host says to the server, what is held back as well.
func (c *crash) loseRequests() {
	c.lagging = false
	script(c.t, c.host, "tc qdisc del dev eth0 root 2>/dev/null || :; tc qdisc add dev eth0 root netem loss 100%")
}

// reboot has the server crash, and stay away for a while. What the victim has under way
// does not reach it before.
func (c *crash) reboot(away time.Duration) {
	c.loseRequests()
	c.thaw()
	do(c.t, "nfsd", "crash")
	script(c.t, c.host, "tc qdisc del dev eth0 root")
	time.Sleep(away)
	do(c.t, "nfsd", "grace")
	c.happened = now()
}
