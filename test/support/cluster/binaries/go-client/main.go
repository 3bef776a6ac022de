// A program as many are that use etcd's own Go client: it writes, watches what is written, and keeps a lease alive. It
// follows the files of its certificates. Each line that it prints says what it knows by now. Each line of its standard
// input begins another chapter, with gaps and lags of its own; it ends when that does.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

const (
	patience = 3 * time.Second
	breath   = 20 * time.Millisecond
	leaseTTL = 15 // Seconds.
)

var (
	endpoint  = flag.String("endpoint", "", "URL of the Service, by its name: this client verifies certificates for it")
	address   = flag.String("address", "", "host and port that the name stands for: there is no DNS")
	directory = flag.String("certificates", "", "holds ca.crt, tls.crt and tls.key")
	prefix    = flag.String("prefix", "go/", "of all keys")
)

// State is what the program knows. Times are in milliseconds.
type State struct {
	Acknowledged int    `json:"acknowledged"`
	Seen         int    `json:"seen"`
	LeaseLost    int    `json:"leaseLost"`
	Compacted    int    `json:"compacted"`
	Renewals     int    `json:"renewals"`
	LongestGap   int64  `json:"longestGap"`
	LongestLag   int64  `json:"longestLag"`
	Problem      string `json:"problem,omitempty"`
	Chapter      string `json:"chapter"`
	// At the end only.
	Lost   []string `json:"lost,omitempty"`
	Missed []string `json:"missed,omitempty"`
	Ended  bool     `json:"ended,omitempty"`
}

type program struct {
	sync.Mutex
	state        State
	acknowledged map[string]time.Time
	seen         map[string]bool
	last         time.Time
	client       *clientv3.Client
	lease        clientv3.LeaseID
}

func main() {
	flag.Parse()
	ctx, cancel := context.WithCancel(context.Background())
	p := &program{acknowledged: map[string]time.Time{}, seen: map[string]bool{}, last: time.Now()}
	pem, err := read()
	if err == nil {
		p.client, err = connect(pem)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var working sync.WaitGroup
	for _, work := range []func(context.Context){p.write, p.watch, p.keepLease, p.follow, p.report} {
		working.Add(1)
		go func() {
			defer working.Done()
			work(ctx)
		}()
	}
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		p.begin(input.Text())
	}
	p.finish()
	cancel()
	working.Wait()
}

func read() ([3][]byte, error) {
	var files [3][]byte
	for i, name := range []string{"ca.crt", "tls.crt", "tls.key"} {
		content, err := os.ReadFile(filepath.Join(*directory, name))
		if err != nil {
			return files, err
		}
		files[i] = content
	}
	return files, nil
}

func connect(pem [3][]byte) (*clientv3.Client, error) {
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem[0]) {
		return nil, fmt.Errorf("ca.crt holds no certificate")
	}
	certificate, err := tls.X509KeyPair(pem[1], pem[2])
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{
		Endpoints:            []string{*endpoint},
		DialTimeout:          patience,
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
		TLS:                  &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", *address)
		})},
		// What matters is in the state.
		Logger: zap.NewNop(),
	})
}

func (p *program) begin(chapter string) {
	p.Lock()
	defer p.Unlock()
	p.state.Chapter, p.state.LongestGap, p.state.LongestLag, p.state.Problem = chapter, 0, 0, ""
}

func (p *program) now() *clientv3.Client {
	p.Lock()
	defer p.Unlock()
	return p.client
}

func (p *program) problem(what string, err error) {
	p.Lock()
	defer p.Unlock()
	p.state.Problem = fmt.Sprintf("%s: %v", what, err)
}

func pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

// write puts one key after the other, each until it is acknowledged.
func (p *program) write(ctx context.Context) {
	for number := 0; ctx.Err() == nil; number++ {
		key := fmt.Sprintf("%sw/%06d", *prefix, number)
		for ctx.Err() == nil {
			one, cancel := context.WithTimeout(ctx, patience)
			_, err := p.now().Put(one, key, "x")
			cancel()
			if err == nil {
				break
			}
			p.problem("put", err)
			pause(ctx, breath)
		}
		if ctx.Err() != nil {
			return
		}
		p.Lock()
		now := time.Now()
		p.acknowledged[key] = now
		p.state.Acknowledged++
		p.state.LongestGap = max(p.state.LongestGap, now.Sub(p.last).Milliseconds())
		p.last = now
		p.Unlock()
		pause(ctx, breath)
	}
}

// watch goes on after the last revision that it saw, whatever ends a stream.
func (p *program) watch(ctx context.Context) {
	revision := int64(1)
	for ctx.Err() == nil {
		client := p.now()
		stream, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		for response := range client.Watch(stream, *prefix+"w/", clientv3.WithPrefix(), clientv3.WithRev(revision)) {
			if response.CompactRevision > 0 {
				p.Lock()
				p.state.Compacted++
				p.Unlock()
				revision = response.CompactRevision
			}
			if err := response.Err(); err != nil {
				p.problem("watch", err)
				break
			}
			for _, event := range response.Events {
				p.sawWrite(string(event.Kv.Key))
				revision = max(revision, event.Kv.ModRevision+1)
			}
			if p.now() != client {
				break
			}
		}
		cancel()
		pause(ctx, breath)
	}
}

func (p *program) sawWrite(key string) {
	p.Lock()
	defer p.Unlock()
	if p.seen[key] {
		return
	}
	p.seen[key] = true
	p.state.Seen++
	if at, ok := p.acknowledged[key]; ok {
		p.state.LongestLag = max(p.state.LongestLag, time.Since(at).Milliseconds())
	}
}

// keepLease has one lease for as long as it lives: one that ends is counted, and another one taken.
func (p *program) keepLease(ctx context.Context) {
	for ctx.Err() == nil {
		if p.lease == 0 {
			one, cancel := context.WithTimeout(ctx, patience)
			granted, err := p.now().Grant(one, leaseTTL)
			if err == nil {
				_, err = p.now().Put(one, *prefix+"lease", "held", clientv3.WithLease(granted.ID))
			}
			cancel()
			if err != nil {
				p.problem("lease", err)
				pause(ctx, breath)
				continue
			}
			p.lease = granted.ID
		}
		one, cancel := context.WithTimeout(ctx, patience)
		answer, err := p.now().KeepAliveOnce(one, p.lease)
		cancel()
		if err != nil {
			p.problem("keep-alive", err)
		}
		if errors.Is(err, rpctypes.ErrLeaseNotFound) || (err == nil && answer.TTL <= 0) {
			p.Lock()
			p.state.LeaseLost++
			p.Unlock()
			p.lease = 0
		}
		pause(ctx, time.Second)
	}
}

// follow connects anew with other certificates before it lets go of the connection that it has.
func (p *program) follow(ctx context.Context) {
	held, _ := read()
	for ctx.Err() == nil {
		pause(ctx, 250*time.Millisecond)
		found, err := read()
		if err != nil || same(found, held) {
			continue
		}
		client, err := connect(found)
		if err != nil {
			p.problem("certificates", err)
			continue
		}
		one, cancel := context.WithTimeout(ctx, patience)
		_, err = client.Get(one, *prefix+"lease")
		cancel()
		if err != nil {
			p.problem("with the new certificates", err)
			client.Close()
			continue
		}
		p.Lock()
		former := p.client
		p.client = client
		p.state.Renewals++
		p.Unlock()
		held = found
		pause(ctx, patience)
		former.Close()
	}
}

func same(one, other [3][]byte) bool {
	for i := range one {
		if !bytes.Equal(one[i], other[i]) {
			return false
		}
	}
	return true
}

func (p *program) report(ctx context.Context) {
	for ctx.Err() == nil {
		p.say()
		pause(ctx, 200*time.Millisecond)
	}
}

func (p *program) say() {
	p.Lock()
	line, _ := json.Marshal(p.state)
	p.Unlock()
	fmt.Println(string(line))
}

// finish reads everything back, and waits until the watch has seen it.
func (p *program) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	p.Lock()
	written := make([]string, 0, len(p.acknowledged))
	for key := range p.acknowledged {
		written = append(written, key)
	}
	p.Unlock()
	kept := map[string]bool{}
	for ctx.Err() == nil {
		answer, err := p.now().Get(ctx, *prefix+"w/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			p.problem("reading back", err)
			pause(ctx, breath)
			continue
		}
		for _, kv := range answer.Kvs {
			kept[string(kv.Key)] = true
		}
		break
	}
	missed := p.unseen(written)
	for len(missed) > 0 && ctx.Err() == nil {
		pause(ctx, breath)
		missed = p.unseen(written)
	}
	p.Lock()
	for _, key := range written {
		if !kept[key] {
			p.state.Lost = append(p.state.Lost, key)
		}
	}
	p.state.Missed = missed
	p.state.Ended = true
	p.Unlock()
	p.say()
}

func (p *program) unseen(written []string) []string {
	p.Lock()
	defer p.Unlock()
	var missed []string
	for _, key := range written {
		if !p.seen[key] {
			missed = append(missed, key)
		}
	}
	return missed
}
