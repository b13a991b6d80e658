package protocol

import (
	"strconv"
)

// The words of a helper that serves one acquisition after another (hold --again), and of its
// parent.
const (
	WordReady   = "READY"   // the helper reads requests
	WordBegun   = "BEGUN"   // the helper has begun a request
	WordAcquire = "ACQUIRE" // the parent wants a lock
	WordCancel  = "CANCEL"  // the parent does not want it any more
	WordRelease = "RELEASE" // the same, for a lock that is held
)

// numberKey is the key of a request's number, which every answer to it repeats.
const numberKey = "n"

// argKey is the key of an argument of ACQUIRE. Arguments count from 1, so no key comes twice.
func argKey(i int) string { return "arg" + strconv.Itoa(i+1) }

// A Request is one line of a parent to a helper that serves several.
type Request struct {
	Word   string   // WordAcquire, WordCancel or WordRelease
	Number uint64   // from 1; the same word comes once for each
	Args   []string // of ACQUIRE: flags and locks, as after hold
}

// Line returns the request's line.
func (r Request) Line() Line {
	l := Line{Word: r.Word}.WithNumber(r.Number)
	for i, arg := range r.Args {
		l.Fields = append(l.Fields, Field{argKey(i), arg})
	}
	return l
}

// ParseRequest reads what Line returned. Its errors wrap ErrMalformed.
func ParseRequest(l Line) (Request, error) {
	r := Request{Word: l.Word}
	switch l.Word {
	case WordAcquire, WordCancel, WordRelease:
	default:
		return r, malformed("%s is no request", l.Word)
	}
	if r.Number = l.Number(); r.Number == 0 {
		return r, malformed("%s has no number n", l.Word)
	}
	for l.Word == WordAcquire {
		arg, ok := l.Get(argKey(len(r.Args)))
		if !ok {
			break
		}
		r.Args = append(r.Args, arg)
	}
	if len(l.Fields) != 1+len(r.Args) {
		return r, malformed("%s has fields that are no arguments, or not numbered from 1", l.Word)
	}
	return r, nil
}

// WithNumber returns the line with the number of a request, unless that is 0.
func (l Line) WithNumber(n uint64) Line {
	if n == 0 {
		return l
	}
	return l.With(numberKey, strconv.FormatUint(n, 10))
}

// Number is the number of the request that the line is about; 0: it has none.
func (l Line) Number() uint64 {
	n, err := strconv.ParseUint(l.Value(numberKey), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Ready returns a READY line.
func Ready() Line { return Line{Word: WordReady}.With("proto", strconv.Itoa(Version)) }

// ownKey says of an ERR that the request needs a helper of its own.
const ownKey = "own"

// WithOwn returns an ERR line that says that the request needs a helper of its own.
func (l Line) WithOwn() Line { return l.With(ownKey, "1") }

// NeedsOwn reports whether the line is an ERR that WithOwn made.
func (l Line) NeedsOwn() bool { return l.Word == WordErr && l.Value(ownKey) == "1" }

// earlyKey says of a RELEASED that a signal was the reason, and not the parent.
const earlyKey = "early"

// WithEarly returns a RELEASED line that says that a signal was the reason.
func (l Line) WithEarly() Line { return l.With(earlyKey, "1") }

// IsEarly reports whether the line is a RELEASED that WithEarly made.
func (l Line) IsEarly() bool { return l.Word == WordReleased && l.Value(earlyKey) == "1" }
