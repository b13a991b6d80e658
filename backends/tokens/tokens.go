// Package tokens is the numbers that count the holders of a lock. They are the fencing tokens: of
// numbered generations, whose numbers they are, and of locks of directories, which have them
// beside the lock. No number is ever used twice.
package tokens

// Max leaves room to count on. No helper ever makes a larger number.
const Max = 1 << 60

// Numbers are in ascending order.
type Numbers []uint64

// Newest returns the highest, or 0.
func (n Numbers) Newest() uint64 {
	if len(n) == 0 {
		return 0
	}
	return n[len(n)-1]
}

// RemoveOld removes, by remove, numbers that nobody can take for the newest any more. newest is
// ours, or was there before ours. As many numbers before it as kept says stay: a listing is not
// atomic, and one that misses the newest must not miss all. RemoveOld stops after most of them,
// which bounds the time that one release spends on what others left. It also stops when one could
// not be removed.
func (n Numbers) RemoveOld(newest, kept uint64, most int, remove func(n uint64) error) {
	//rule:order
	for i, old := range n {
		//rule:kept
		if old+kept >= newest || i == most {
			return
		}
		if remove(old) != nil {
			//rule:stop
			return // so that none is there without all that are newer
		}
	}
}
