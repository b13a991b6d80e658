package protocol_test

import (
	"fmt"
	"strings"
	"time"

	"locksmith/protocol"
)

// A parent reads one line, and then, if it cares for a loss, the others.
func ExampleReader() {
	helper := strings.NewReader("OK proto=1 id=3f mode=exclusive token=17 waited_ms=12 lease_ms=60000 lock=nfs:/locks/billing\n" +
		"LOST code=gone text=nfs:/locks/billing: heartbeat: somebody removed the lock\n")
	lines := protocol.NewReader(helper)

	ok, err := lines.Read()
	if err != nil || ok.Word != protocol.WordOK {
		fmt.Println("no lock:", ok.Text, err)
		return
	}
	grant, err := protocol.ParseGrant(ok)
	fmt.Println("my fencing token is", grant.Token, err)

	for {
		line, err := lines.Read()
		if err != nil || line.Word == protocol.WordReleased {
			return
		}
		if line.Word == protocol.WordLost {
			fmt.Println("stop:", line.Text)
		}
	}
	// Output:
	// my fencing token is 17 <nil>
	// stop: nfs:/locks/billing: heartbeat: somebody removed the lock
}

// A helper says that it holds a lock, and why it does not.
func ExampleLine_Format() {
	granted := protocol.Grant{ID: "3f", Mode: "exclusive", Lease: time.Minute, Lock: "flock:/var/lock/my billing"}
	refused := protocol.Failure(protocol.WordErr, protocol.Held, "flock:/var/lock/billing: held by alice")
	for _, line := range []protocol.Line{granted.Line(), refused} {
		text, err := line.Format()
		if err != nil {
			fmt.Println(err)
		}
		fmt.Print(text)
	}
	// Output:
	// OK proto=1 id=3f mode=exclusive waited_ms=0 lease_ms=60000 lock=flock:/var/lock/my%20billing
	// ERR code=held text=flock:/var/lock/billing: held by alice
}
