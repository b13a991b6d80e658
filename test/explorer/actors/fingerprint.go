//go:build unix

package actors

import (
	"fmt"
	"math/bits"
	"reflect"
	"time"

	"locksmith/test/explorer/steps"
)

// fingerprint hashes everything that values hold, including private fields and what pointers lead
// to. It shows that two processes which came different ways are in the same state. What all
// processes have alike says nothing and is left out: functions, and the way of the code under
// test to the world.
func fingerprint(values ...any) uint64 {
	f := fingerprinter{hash: 0x9e3779b97f4a7c15}
	for _, v := range values {
		f.value(reflect.ValueOf(v), 0)
	}
	return f.hash
}

type fingerprinter struct{ hash uint64 }

func (f *fingerprinter) word(v uint64) {
	hi, lo := bits.Mul64(f.hash^v, 0xd6e8feb86659fd93)
	f.hash = hi ^ lo + 0x2545f4914f6cdd1d
}

func (f *fingerprinter) text(s string) {
	f.word(uint64(len(s)))
	for i := range len(s) {
		f.word(uint64(s[i]))
	}
}

var opaque = map[reflect.Type]bool{
	reflect.TypeFor[*runner](): true,
}

const tooDeep = 40

func (f *fingerprinter) value(v reflect.Value, depth int) {
	if depth > tooDeep {
		panic("explore: an attempt that holds itself has no fingerprint")
	}
	f.word(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Invalid, reflect.Func, reflect.UnsafePointer:
	case reflect.Chan:
		f.word(uint64(steps.Bit(v.IsNil()))<<32 | uint64(v.Len()))
	case reflect.Bool:
		f.word(uint64(steps.Bit(v.Bool())))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		f.word(v.Uint())
	case reflect.String:
		f.text(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !opaque[v.Type()] {
			f.value(v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		f.word(uint64(v.Len()))
		for i := range v.Len() {
			f.value(v.Index(i), depth+1)
		}
	case reflect.Struct:
		fields := v.NumField()
		if v.Type() == reflect.TypeFor[time.Time]() {
			fields-- // the last field is the time zone, which depends on how the time was made
		}
		for i := range fields {
			f.value(v.Field(i), depth+1)
		}
	case reflect.Map:
		f.mapping(v, depth)
	default:
		panic(fmt.Sprintf("explore: no fingerprint of a %v", v.Type()))
	}
}

// mapping adds up the pairs, because their order means nothing.
func (f *fingerprinter) mapping(v reflect.Value, depth int) {
	var sum uint64
	for it := v.MapRange(); it.Next(); {
		pair := fingerprinter{hash: 1}
		pair.value(it.Key(), depth+1)
		pair.value(it.Value(), depth+1)
		sum += pair.hash
	}
	f.word(uint64(v.Len()))
	f.word(sum)
}
