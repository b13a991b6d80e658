package backend

import "locksmith/backends/owner"

// Signed returns the record of a new acquisition, and what format makes of it. The record is r with
// an id that was never used, and the time of now. If r does not fit, the error tells the user what to
// shorten.
func Signed[T any](lock Name, env owner.Env, r owner.Record, format func(owner.Record) (T, error)) (owner.Record, T, error) {
	r.ID, r.Acquired = env.NewID(), env.Today()
	made, err := format(r)
	if err != nil {
		return r, made, lock.LongRecord(err.Error())
	}
	return r, made, nil
}

// LongRecord says that an owner record is too long for its place.
func (n Name) LongRecord(why string) error {
	return n.Usage("write owner record", why, "shorten the metadata")
}
