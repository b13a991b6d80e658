//go:build unix

package main

// memoryMutations are wrong ways to let short tries watch together. Their files are in package
// watch.
var memoryMutations = []mutation{
	{name: "the time of another boot", breaks: robs, config: "short-hosts", edits: anyBoot},
	{name: "the time of another boot, of directories", breaks: robs, config: "plain-short-hosts", edits: anyBoot},
	{name: "the time of another boot, of files", breaks: robs, config: "link-short-hosts", edits: anyBoot},

	{name: "remembered from before the look", breaks: robs, config: "short", edits: beforeLook},
	{name: "remembered from before the look, of directories", breaks: robs, config: "plain-short", edits: beforeLook},
	{name: "remembered from before the look, of files", breaks: robs, config: "link-short-beat", edits: beforeLook},

	{name: "the sign of another holder", breaks: robs, config: "plain-short-next", edits: []edit{
		change("Memory.Since", "whose", "var s sighting\n	for _, other := range m.order() {\n		if m.seen[other].sign == short(sign) {\n			s = m.seen[other]\n		}\n	}"),
		elsewhere("../mkdirlock", "Lock.seen", "sign", "s.Sign = \"beat \" + strings.Split(beat, \".\")[0]"),
		elsewhere("../mkdirlock", "import", "Lock.seen", `"strings"`)}},

	{name: "a new sign with the time of the last", breaks: robs, config: "short", edits: newSign},
	{name: "a new sign with the time of the last, of directories", breaks: robs, limit: 200_000, config: "plain-short", edits: newSign},
	{name: "a new sign with the time of the last, of files", breaks: robs, config: "link-short-beat", edits: newSign},

	{name: "no respite", breaks: robs, config: "short-respite", edits: noRespite},
	{name: "no respite, of directories", breaks: robs, config: "plain-short-respite", edits: noRespite},
}

var (
	anyBoot    = []edit{change("Memory.parse", "boot", "if check == \"\" {$body}")}
	beforeLook = []edit{
		change("type Watcher", "", "before time.Duration"),
		change("Watcher.Look", "before", "w.before = before\n	$old"),
		change("Watcher.start", "since", "t.since = w.request.Memory.Since(s.ID, s.Sign, w.before)")}
	newSign   = []edit{change("Memory.Since", "new-sign", "if s.sign = sign; s.since == 0 {\n			s.since = now\n		}")}
	noRespite = []edit{change("timer.due", "grace", "if r.Grace >= 0 {$body}")}
)
