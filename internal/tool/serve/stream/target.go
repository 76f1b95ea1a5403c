// Package stream publishes the changes of a replica to a stream of NATS JetStream.
package stream

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
)

// Target is a stream.
type Target struct {
	text    string // that of Parse
	servers string // as nats.Connect has them
	name    string
	login   nats.Option // nil: none
}

// String returns what Parse has read.
func (t *Target) String() string { return t.text }

// Is reports whether a text names a stream, and no file.
func Is(text string) bool {
	return strings.HasPrefix(text, "nats://") || strings.HasPrefix(text, "tls://")
}

// Parse reads nats://HOST[:PORT][,HOST[:PORT]...]/STREAM, or the same with tls. The file has a user and a password
// separated by a colon, or a token, or what NATS calls credentials. No file ("") says nothing.
func Parse(text, file string) (*Target, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	hosts, name, found := strings.Cut(rest, "/")
	if !found || name == "" || strings.ContainsAny(name, "/.*> \t?#") {
		return nil, errors.New("it is nats://HOST:PORT/STREAM, or tls://HOST:PORT/STREAM")
	}
	t := &Target{text: text, name: name}
	for i, host := range strings.Split(hosts, ",") {
		if strings.Contains(host, "@") { // url.Parse's error would have it
			return nil, errors.New("others on this machine would see the password: put it into a file, and name that " +
				"with --changes-login")
		}
		server := scheme + "://" + host
		u, err := url.Parse(server)
		switch {
		case err != nil:
			return nil, err
		case u.Hostname() == "":
			return nil, fmt.Errorf("%q is no host", host)
		}
		if i > 0 {
			server = "," + server
		}
		t.servers += server
	}
	if file == "" {
		return t, nil
	}
	all, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(all, []byte("\n"))
	login := strings.TrimSuffix(string(line), "\r")
	user, password, found := strings.Cut(login, ":")
	switch {
	case bytes.Contains(all, []byte("BEGIN NATS USER JWT")):
		t.login = nats.UserCredentials(file)
	case login == "":
		return nil, fmt.Errorf("%s: its first line is empty", file)
	case found:
		t.login = nats.UserInfo(user, password)
	default:
		t.login = nats.Token(login)
	}
	return t, nil
}
