// Vitess' client of etcd (etcd2topo): it writes files of a cell, watches their directory as it watches for a VSchema, and
// holds a lock. Each call has the deadline that Vitess' have. With other certificates it connects anew before it lets go
// of the connection that it has: Vitess reads certificates once.
package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"etcd.ratchet.dev/test/ledger"
	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/etcd2topo"
)

const (
	cell   = "/vitess/zone1"
	folder = "keyspaces/shop"
)

type program struct {
	sync.Mutex
	*ledger.Ledger
	now *etcd2topo.Server
	// renewed is closed when there is another one.
	renewed chan struct{}
}

func main() {
	ledger.Main(func(l *ledger.Ledger) ledger.Program {
		p := &program{Ledger: l, renewed: make(chan struct{})}
		return ledger.Program{
			Write: p.write,
			Read:  p.read,
			Renew: p.renew,
			Works: []func(context.Context){p.watch, p.lock},
		}
	})
}

func (p *program) current() (*etcd2topo.Server, <-chan struct{}) {
	p.Lock()
	defer p.Unlock()
	return p.now, p.renewed
}

func (p *program) renew(ctx context.Context) error {
	file := ledger.Certificate
	next, err := etcd2topo.NewServerWithOpts(*ledger.Endpoint, cell, file("tls.crt"), file("tls.key"), file("ca.crt"))
	if err != nil {
		return err
	}
	p.Lock()
	former := p.now
	p.now = next
	close(p.renewed)
	p.renewed = make(chan struct{})
	p.Unlock()
	if former != nil {
		go func() {
			ledger.Pause(ctx, ledger.Patience)
			former.Close()
		}()
	}
	return nil
}

func (p *program) write(ctx context.Context, number int) error {
	one, cancel := context.WithTimeout(ctx, topo.RemoteOperationTimeout)
	defer cancel()
	server, _ := p.current()
	file := fmt.Sprintf("%s/%d", folder, number%ledger.Slots)
	_, err := server.Update(one, file, []byte(strconv.Itoa(number)), nil)
	return err
}

func (p *program) read(ctx context.Context) (map[int]int, error) {
	server, _ := p.current()
	found, err := server.List(ctx, folder+"/")
	kept := map[int]int{}
	for _, one := range found {
		if number, err := strconv.Atoi(string(one.Value)); err == nil {
			kept[number%ledger.Slots] = number
		}
	}
	return kept, err
}

// watch begins again where it ends, and where there is another connection, with what is there.
func (p *program) watch(ctx context.Context) {
	for ctx.Err() == nil {
		server, renewed := p.current()
		own, cancel := context.WithCancel(ctx)
		present, changes, err := server.WatchRecursive(own, folder)
		if err != nil {
			p.Problem("watch", err)
		} else {
			for _, one := range present {
				p.saw(one)
			}
			p.follow(ctx, changes, renewed)
		}
		cancel()
		ledger.Pause(ctx, 20*time.Millisecond)
	}
}

// follow returns when the watch ends, or there is another connection.
func (p *program) follow(ctx context.Context, changes <-chan *topo.WatchDataRecursive, renewed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-renewed:
			return
		case one, ok := <-changes:
			if !ok {
				return
			}
			// A file was deleted, as that of a lock is: the watch goes on.
			if topo.IsErrType(one.Err, topo.NoNode) {
				continue
			}
			if one.Err != nil {
				p.WatchEnded()
				p.Problem("watch", one.Err)
				return
			}
			p.saw(one)
		}
	}
}

func (p *program) saw(one *topo.WatchDataRecursive) {
	// Locks are in the same directory.
	if strings.Contains(one.Path, "/locks/") {
		return
	}
	if number, err := strconv.Atoi(string(one.Contents)); err == nil {
		p.Saw(number)
	}
}

// lock is held for as long as its lease lives, or its connection: one that is lost is counted, and another one taken.
func (p *program) lock(ctx context.Context) {
	for ctx.Err() == nil {
		server, renewed := p.current()
		own, cancel := context.WithCancel(ctx)
		held, err := server.Lock(own, folder, "held")
		if err != nil {
			// Before the first write there is no such directory.
			if !topo.IsErrType(err, topo.NoNode) {
				p.Problem("lock", err)
			}
		} else {
			p.hold(own, held, renewed)
			p.unlock(held)
		}
		cancel()
		ledger.Pause(ctx, 20*time.Millisecond)
	}
}

// hold returns when the lock is lost, or there is another connection.
func (p *program) hold(ctx context.Context, held topo.LockDescriptor, renewed <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-renewed:
			return
		case <-time.After(time.Second):
		}
		one, cancel := context.WithTimeout(ctx, topo.RemoteOperationTimeout)
		err := held.Check(one)
		cancel()
		if topo.IsErrType(err, topo.NoNode) {
			p.LeaseLost()
			return
		}
		if err != nil && ctx.Err() == nil {
			p.Problem("lock", err)
		}
	}
}

func (p *program) unlock(held topo.LockDescriptor) {
	one, cancel := context.WithTimeout(context.Background(), ledger.Patience)
	defer cancel()
	if err := held.Unlock(one); err != nil && !topo.IsErrType(err, topo.NoNode) {
		p.Problem("unlock", err)
	}
}
