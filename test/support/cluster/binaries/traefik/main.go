// Traefik's provider of configuration from etcd, as it is in Traefik, and the client library below it (valkeyrie and
// etcdv3 of kvtools), which writes that configuration and watches it as well. With other certificates it is begun anew
// before the one before it ends, as a Deployment is rolled: Traefik reads certificates once. The first watch goes on with
// what it read, as in a Traefik that is not restarted.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"etcd.ratchet.dev/test/ledger"
	"github.com/kvtools/etcdv3"
	"github.com/kvtools/valkeyrie"
	"github.com/kvtools/valkeyrie/store"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/log"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/provider/kv/etcd"
	"github.com/traefik/traefik/v3/pkg/safe"
	"github.com/traefik/traefik/v3/pkg/types"
)

const (
	root   = "traefik"
	server = "http://192.0.2.80/"
)

// generation is all that was begun with the same certificates.
type generation struct {
	store store.Store
	// former is set when the one after it has taken over.
	former atomic.Bool
	end    context.CancelFunc
	pool   *safe.Pool
	// given is what its provider gives to Traefik.
	given    chan dynamic.Message
	provided sync.WaitGroup
}

// stop returns once nothing is given any more: a provider waits until its configuration is taken.
func (g *generation) stop() {
	g.former.Store(true)
	g.end()
	g.provided.Wait()
	g.pool.Stop()
	close(g.given)
}

type program struct {
	sync.Mutex
	*ledger.Ledger
	now *generation
	// watching are the watches of all generations.
	watching sync.WaitGroup
	// shown is the newest number in the configuration that Traefik was given last.
	shown int
	first struct{ seen, ends int }
}

func main() {
	ledger.Main(func(l *ledger.Ledger) ledger.Program {
		p := &program{Ledger: l, shown: -1}
		log.Logger = zerolog.New(says{p.Ledger}).Level(zerolog.WarnLevel)
		return ledger.Program{
			Write:    p.write,
			Read:     p.read,
			Renew:    p.renew,
			Works:    []func(context.Context){p.wait},
			CaughtUp: p.caughtUp,
			Deaf:     p.deaf,
		}
	})
}

// says takes what Traefik would write into its log.
type says struct{ *ledger.Ledger }

func (s says) Write(line []byte) (int, error) {
	s.Problem("Traefik", errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

func (p *program) current() *generation {
	p.Lock()
	defer p.Unlock()
	return p.now
}

func (p *program) renew(ctx context.Context) error {
	file := ledger.Certificate
	client := &types.ClientTLS{CA: file("ca.crt"), Cert: file("tls.crt"), Key: file("tls.key")}
	config, err := client.CreateTLSConfig(ctx)
	if err != nil {
		return err
	}
	// As Traefik's provider does, which keeps its own to itself.
	options := &etcdv3.Config{ConnectionTimeout: 3 * time.Second, TLS: config}
	opened, err := valkeyrie.NewStore(ctx, etcdv3.StoreName, []string{*ledger.Endpoint}, options)
	if err != nil {
		return err
	}
	if _, err := opened.Exists(ctx, root+"/nothing", nil); err != nil {
		opened.Close()
		return err
	}
	provider := &etcd.Provider{TLS: client}
	provider.SetDefaults()
	provider.Endpoints = []string{*ledger.Endpoint}
	if err := provider.Init(); err != nil {
		opened.Close()
		return err
	}
	p.Lock()
	former := p.now
	isFirst := former == nil
	own, end := context.WithCancel(ctx)
	next := &generation{store: opened, end: end, pool: safe.NewPool(own), given: make(chan dynamic.Message)}
	p.now = next
	p.Unlock()
	p.watching.Go(func() {
		for message := range next.given {
			p.take(message.Configuration)
		}
	})
	watching := own
	if isFirst {
		watching = ctx
	}
	p.watching.Go(func() { p.watch(watching, next, isFirst) })
	next.provided.Go(func() {
		if err := provider.Provide(next.given, next.pool); err != nil {
			p.Problem("provider", err)
		}
	})
	if former == nil {
		return nil
	}
	p.watching.Go(func() {
		ledger.Pause(ctx, ledger.Patience)
		former.stop()
	})
	return nil
}

func key(number int) string {
	return fmt.Sprintf("%s/http/services/s%d/loadbalancer/servers/0/url", root, number%ledger.Slots)
}

// numberOf is -1 of a value that is not ours.
func numberOf(value string) int {
	number, err := strconv.Atoi(strings.TrimPrefix(value, server))
	if err != nil {
		return -1
	}
	return number
}

func (p *program) write(ctx context.Context, number int) error {
	return p.current().store.Put(ctx, key(number), []byte(server+strconv.Itoa(number)), nil)
}

func (p *program) read(ctx context.Context) (map[int]int, error) {
	pairs, err := p.current().store.List(ctx, root, nil)
	kept := map[int]int{}
	for _, pair := range pairs {
		number := numberOf(string(pair.Value))
		kept[number%ledger.Slots] = number
	}
	return kept, err
}

// watch begins again where its channel is closed, as Traefik does.
func (p *program) watch(ctx context.Context, g *generation, isFirst bool) {
	for ctx.Err() == nil {
		events, err := g.store.WatchTree(ctx, root, nil)
		if err != nil {
			// Before the first write there is no such directory.
			if !errors.Is(err, store.ErrKeyNotFound) && !g.former.Load() {
				p.Problem("watch", err)
			}
			ledger.Pause(ctx, 20*time.Millisecond)
			continue
		}
		p.follow(ctx, events, g, isFirst)
	}
}

// follow returns when the channel is closed.
func (p *program) follow(ctx context.Context, events <-chan []*store.KVPair, g *generation, isFirst bool) {
	for {
		select {
		case <-ctx.Done():
			return
		case pairs, ok := <-events:
			former := g.former.Load()
			if !ok && ctx.Err() == nil {
				if isFirst {
					p.Lock()
					p.first.ends++
					p.Unlock()
				}
				if !former {
					p.WatchEnded()
				}
			}
			if !ok {
				return
			}
			for _, pair := range pairs {
				number := numberOf(string(pair.Value))
				if isFirst {
					p.Lock()
					p.first.seen = max(p.first.seen, number)
					p.Unlock()
				}
				if !former {
					p.Saw(number)
				}
			}
		}
	}
}

// take is what Traefik does with its configuration, which is to hold all services as they were at one moment.
func (p *program) take(configuration *dynamic.Configuration) {
	found := map[int]bool{}
	newest := -1
	if configuration.HTTP == nil {
		return
	}
	for _, service := range configuration.HTTP.Services {
		for _, one := range service.LoadBalancer.Servers {
			number := numberOf(one.URL)
			found[number] = true
			newest = max(newest, number)
		}
	}
	for number := max(0, newest-ledger.Slots+1); number <= newest; number++ {
		if !found[number] {
			p.Problem("configuration", fmt.Errorf("shows %d without %d", newest, number))
			return
		}
	}
	p.Lock()
	from := p.shown + 1
	p.shown = max(p.shown, newest)
	p.Unlock()
	for number := from; number <= newest; number++ {
		p.Shown(number)
	}
}

func (p *program) caughtUp(number int) bool {
	p.Lock()
	defer p.Unlock()
	return p.shown >= number
}

// deaf says whether the first watch is still open, although it was told nothing of the last chapter.
func (p *program) deaf(begun int) bool {
	p.Lock()
	defer p.Unlock()
	return p.first.ends == 0 && p.first.seen < begun
}

func (p *program) wait(ctx context.Context) {
	<-ctx.Done()
	p.current().stop()
	p.watching.Wait()
}
