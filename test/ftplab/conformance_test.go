package ftplab

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/test/ftpserver"
)

// conformance: every server is fit for all that the suite asks of a backend.
func conformance(t *testing.T, kind string) { conform(t, kind, ftpserver.Options{}) }

func conformanceTLS(t *testing.T, kind string) { conform(t, kind, ftpserver.Options{TLS: true}) }

func conform(t *testing.T, kind string, o ftpserver.Options) {
	s := ftpserver.Start(t, kind, o)
	inBothStyles(t, func(t *testing.T, style string) {
		if o.TLS && style == "dir" && !*long {
			t.Skip("without TLS it is tested: only with -long")
		}
		backendtest.Run(t, backendtest.Subject{
			New:    func(t *testing.T) backendtest.Fixture { return newPlace(t, s, style).fixture() },
			Shared: style == "dir",
		})
	})
}

func (p *place) fixture() backendtest.Fixture {
	connections := newPool(p.t)
	return backendtest.Fixture{
		Open: func() backend.Backend {
			l := p.open()
			l.NewDir = connections.share(l.NewDir)
			return l
		},
		Leftovers: p.leftovers,
		Remove: func() {
			if err := os.RemoveAll(filepath.Join(p.dir, "L")); err != nil {
				p.t.Error(err)
			}
		},
		Abandon: func(backend.Hold) {}, // its connection does not make it live
	}
}
