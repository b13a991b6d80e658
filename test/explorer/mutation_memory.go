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
		{"memory.go", "	s := m.seen[id]\n", "	var s sighting\n	for _, other := range m.order() {\n		if m.seen[other].sign == short(sign) {\n			s = m.seen[other]\n		}\n	}\n"},
		{"../mkdirlock/watcher.go", "	s.Sign = \"beat \" + beat\n", "	s.Sign = \"beat \" + strings.Split(beat, \".\")[0]\n"},
		{"../mkdirlock/watcher.go", "	\"slices\"\n", "	\"slices\"\n	\"strings\"\n"}}},

	{name: "a new sign with the time of the last", breaks: robs, config: "short", edits: newSign},
	{name: "a new sign with the time of the last, of directories", breaks: robs, limit: 200_000, config: "plain-short", edits: newSign},
	{name: "a new sign with the time of the last, of files", breaks: robs, config: "link-short-beat", edits: newSign},

	{name: "no respite", breaks: robs, config: "short-respite", edits: noRespite},
	{name: "no respite, of directories", breaks: robs, config: "plain-short-respite", edits: noRespite},
}

var (
	anyBoot    = []edit{{"memory.go", "	if check != m.check(rest) {\n", "	if check == \"\" {\n"}}
	beforeLook = []edit{
		{"watch.go", "	watched map[string]*watched\n}", "	watched map[string]*watched\n	before  time.Duration\n}"},
		{"watch.go", "	seen, err := see(x.seen)\n", "	w.before = before\n	seen, err := see(x.seen)\n"},
		{"watch.go", "w.request.Memory.Since(s.ID, s.Sign, t.since)", "w.request.Memory.Since(s.ID, s.Sign, w.before)"}}
	newSign   = []edit{{"memory.go", "		s = sighting{sign: sign, since: now}\n", "		if s.sign = sign; s.since == 0 {\n			s.since = now\n		}\n"}}
	noRespite = []edit{{"timer.go", "	if r.Grace <= 0 {\n", "	if r.Grace >= 0 {\n"}}
)
