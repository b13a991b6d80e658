package events

// A member is one key of a line and the field of an event that has its value.
type member struct {
	key      string
	field    func(*Event) any // a pointer
	optional bool             // left out where it says nothing
}

// common are the members of every event, in the order in which they are written.
var common = []member{
	{key: "time", field: func(e *Event) any { return (*stamp)(&e.Time) }},
	{key: "boot_ms", field: func(e *Event) any { return (*millis)(&e.Boot) }},
	{key: "clock", field: func(e *Event) any { return &e.Clock }, optional: true},
	{key: "event", field: func(e *Event) any { return &e.Kind }},
	{key: "locks", field: func(e *Event) any { return &e.Locks }},
	{key: "more", field: func(e *Event) any { return &e.More }, optional: true},
	{key: "host", field: func(e *Event) any { return &e.Host }},
	{key: "pid", field: func(e *Event) any { return &e.PID }},
	{key: "mode", field: func(e *Event) any { return &e.Mode }},
	{key: "modes", field: func(e *Event) any { return &e.Modes }, optional: true},
	{key: "command", field: func(e *Event) any { return &e.Command }, optional: true},
}

var (
	lock    = member{key: "lock", field: func(e *Event) any { return &e.Lock }, optional: true}
	why     = member{key: "why", field: func(e *Event) any { return &e.Text }, optional: true}
	holder  = member{key: "holder", field: func(e *Event) any { return &e.Holder }, optional: true}
	id      = member{key: "id", field: func(e *Event) any { return &e.ID }, optional: true}
	token   = member{key: "token", field: func(e *Event) any { return &e.Token }, optional: true}
	tokens  = member{key: "tokens", field: func(e *Event) any { return (*numbers)(&e.Tokens) }, optional: true}
	waited  = member{key: "waited_ms", field: func(e *Event) any { return (*millis)(&e.Waited) }}
	late    = member{key: "late_ms", field: func(e *Event) any { return (*millis)(&e.Late) }}
	failed  = member{key: "error", field: func(e *Event) any { return &e.Text }, optional: true}
	held    = member{key: "held_ms", field: func(e *Event) any { return (*millis)(&e.Held) }}
	release = member{key: "release_ms", field: func(e *Event) any { return (*millis)(&e.Release) }}
	code    = member{key: "code", field: func(e *Event) any { return &e.Code }}
	text    = member{key: "text", field: func(e *Event) any { return &e.Text }}
)

// own are the members of each kind of event, after the common ones.
var own = map[Kind][]member{
	Waiting:  {lock, holder, why},
	Acquired: {id, token, tokens, waited},
	Late:     {late, failed},
	Lost:     {code, text},
	Released: {held, release},
	GaveUp:   {waited, code, text},
}

// isOwn reports that a key means something in some kind of event.
func isOwn(key string) bool {
	for _, members := range own {
		for _, m := range members {
			if m.key == key {
				return true
			}
		}
	}
	return false
}
