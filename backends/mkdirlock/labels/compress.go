package labels

import (
	"encoding/hex"
	"errors"
	"strings"

	"locksmith/protocol"
)

// phrases are what most records have in common. Their places in the list are part of the format:
// new ones go to the end of the list, which may have 96. Of two that begin alike the longer one
// comes first.
var phrases = [...]string{
	"LOCK v=1 id=", " host=", " machine=", " boot=", " pidns=pid:[4026531836]", " pidns=",
	" timens=time:[4026531834]", " timens=", " pid=", " start=", " ppid=", " pstart=", " proof=off",
	" user=root", " user=", " mode=exclusive", " mode=shared", " lease_ms=60000", " lease_ms=", " at=20", " meta.", "Z\n",
	" refresh_ms=", " program=",
}

// Bytes that stand for something else than themselves.
const (
	phraseByte  = 0x80 // and above: a phrase
	literalByte = 0x1f // the next byte as it is
	hexBytes    = 0x10 // from here to below literalByte: as many bytes follow as the byte less hexBytes, plus 3; they stand for their hexadecimal
	leastHex    = 3
	mostHex     = leastHex + literalByte - hexBytes - 1
)

// Compress shortens a record so that it fits into a name. A general compressor
// would do a little better, and cost every helper a megabyte.
func Compress(text string) []byte {
	var b []byte
	for len(text) > 0 {
		if i := phraseAt(text); i >= 0 {
			b = append(b, phraseByte+byte(i))
			text = text[len(phrases[i]):]
			continue
		}
		if n := hexAt(text); n >= leastHex {
			raw, _ := hex.DecodeString(text[:2*n]) // it is hexadecimal
			b = append(append(b, hexBytes+byte(n-leastHex)), raw...)
			text = text[2*n:]
			continue
		}
		if c := text[0]; c >= phraseByte || c >= hexBytes && c <= literalByte {
			b = append(b, literalByte)
		}
		b = append(b, text[0])
		text = text[1:]
	}
	return b
}

func phraseAt(text string) int {
	for i, p := range phrases {
		if strings.HasPrefix(text, p) {
			return i
		}
	}
	return -1
}

// hexAt returns how many bytes the text begins with in lower-case hexadecimal.
func hexAt(text string) int {
	n := 0
	for n < len(text) && n < 2*mostHex && strings.IndexByte("0123456789abcdef", text[n]) >= 0 {
		n++
	}
	return n / 2
}

var errCompressed = errors.New("it is not packed as we do")

// decompress reads what compress wrote; it stops at more than a record can be.
func decompress(b []byte) (string, error) {
	var text strings.Builder
	for len(b) > 0 && text.Len() <= protocol.MaxLine {
		c := b[0]
		b = b[1:]
		switch n := int(c-hexBytes) + leastHex; {
		case c >= phraseByte:
			if int(c-phraseByte) >= len(phrases) {
				return "", errCompressed
			}
			text.WriteString(phrases[c-phraseByte])
		case c == literalByte && len(b) > 0:
			text.WriteByte(b[0])
			b = b[1:]
		case c == literalByte, c >= hexBytes && c < literalByte && n > len(b):
			return "", errCompressed
		case c >= hexBytes && c < literalByte:
			text.WriteString(hex.EncodeToString(b[:n]))
			b = b[n:]
		default:
			text.WriteByte(c)
		}
	}
	return text.String(), nil
}
