package profile

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

const readProfiles = "read profiles"

// read returns the profiles of a file, or none if there is no such file.
func (e Env) read(file string) (map[string]*Profile, error) {
	text, err := unwritable.read(file, readProfiles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return e.parse(file, text)
}

func (e Env) parse(file string, text []byte) (map[string]*Profile, error) {
	var tables map[string]toml.Primitive
	meta, err := toml.Decode(string(text), &tables)
	if err != nil {
		return nil, syntaxError(file, text, err)
	}
	r := reader{file: file, text: text, env: e, meta: &meta}
	profiles := map[string]*Profile{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if profiles[name], err = r.profile(name, tables[name]); err != nil {
			return nil, err
		}
	}
	return profiles, nil
}

// syntaxError says where the file is not TOML. It does not show the text there, which may be a
// password. The library's own error shows some of it.
func syntaxError(file string, text []byte, err error) error {
	wrong := faulty("it is not shown, as it may be a secret; is a quote or a bracket missing?", "what stands there is not TOML")
	p, ok := errors.AsType[toml.ParseError](err)
	if !ok {
		return failAt(file, 0, wrong)
	}
	if key, ok := twice(p); ok {
		wrong = faulty("leave one", "%s is there twice", key)
	}
	// Not p.Line: if something is missing at the end of a line, p.Line is the next line.
	before := text[:max(0, min(p.Position.Start, len(text)))] // it has been seen to be -1
	return failAt(file, 1+bytes.Count(before, []byte("\n")), wrong)
}

// twice returns the key or table that is there twice, if the library complains of that. A missing
// quote may have made a key of any text.
func twice(p toml.ParseError) (key string, ok bool) {
	key, isKey := strings.CutPrefix(p.Message, "Key '")
	key, complaint, _ := strings.Cut(key, "' ")
	if !isKey || !strings.Contains(complaint, " already ") {
		return "", false
	}
	if strings.Trim(key, nameChars+".") != "" {
		key = "a key that is not shown"
	}
	return key, true
}

// A reader makes profiles from the tables of one file.
type reader struct {
	file string
	text []byte
	env  Env
	meta *toml.MetaData
}

func (r *reader) profile(name string, table toml.Primitive) (*Profile, error) {
	if err := r.take(table, isProfile(name)); err != nil {
		return nil, err
	}
	var values map[string]toml.Primitive
	if err := r.meta.PrimitiveDecode(table, &values); err != nil {
		return nil, syntaxError(r.file, r.text, err)
	}
	p := &Profile{Name: name, File: r.file, env: r.env}
	known := p.keys()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		set := known[key]
		if set == nil {
			set = unknownKey(name, key, slices.Sorted(maps.Keys(known)))
		}
		if err := r.take(values[key], set); err != nil {
			return nil, err
		}
	}
	return p, r.take(table, p.whole)
}

// take passes a value to set, and adds to its error where the value is.
func (r *reader) take(value toml.Primitive, set setter) error {
	var wrong error
	err := r.meta.PrimitiveDecode(value, setter(func(v any) error {
		wrong = set(v)
		return wrong
	}))
	if err == nil {
		return nil
	}
	// The library knows the line only when it wraps an error of ours.
	line := 0
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		line = p.Position.Line
	}
	return failAt(r.file, line, wrong)
}
