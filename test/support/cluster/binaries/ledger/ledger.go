// Package ledger is what programs have in common that try a client library on etcd: numbers are written in turn into a
// few keys, and seen by a watch. It speaks as test/consumers/program.ts says.
package ledger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// Slots is how many keys there are: a number is written into the key number % Slots.
	Slots  = 50
	breath = 20 * time.Millisecond
	// Patience is for a call of ours, and for how long a connection is kept beside the one after it.
	Patience = 3 * time.Second
)

// Endpoint is what a program connects to.
var Endpoint = flag.String("endpoint", "", "host and port, which members have certificates for")

var directory = flag.String("certificates", "", "holds ca.crt, tls.crt and tls.key")

// Certificate is the path of one of those files.
func Certificate(name string) string { return filepath.Join(*directory, name) }

// State is what a program knows. Times are in milliseconds.
type State struct {
	Acknowledged int    `json:"acknowledged"`
	Seen         int    `json:"seen"`
	LeaseLost    int    `json:"leaseLost"`
	WatchEnds    int    `json:"watchEnds"`
	Renewals     int    `json:"renewals"`
	LongestGap   int64  `json:"longestGap"`
	LongestLag   int64  `json:"longestLag"`
	Problem      string `json:"problem,omitempty"`
	Chapter      string `json:"chapter"`
	// At the end only.
	Deaf   *bool    `json:"deaf,omitempty"`
	Lost   []string `json:"lost,omitempty"`
	Missed []string `json:"missed,omitempty"`
	Ended  bool     `json:"ended,omitempty"`
}

// Ledger knows what was written, and what was seen of it.
type Ledger struct {
	mutex        sync.Mutex
	state        State
	acknowledged []time.Time
	seen         map[int]bool
	last         time.Time
	// begun is how many were written before this chapter.
	begun int
}

// Program is a client library at work.
type Program struct {
	// Write returns once it is acknowledged.
	Write func(ctx context.Context, number int) error
	// Read returns the number in each key.
	Read func(ctx context.Context) (map[int]int, error)
	// Renew connects with the certificates in the directory.
	Renew func(ctx context.Context) error
	// Works run until their context ends.
	Works []func(ctx context.Context)
	// CaughtUp says whether everything up to this number was taken in, besides the events. Optional.
	CaughtUp func(number int) bool
	// Deaf is what State says at the end, with the first number of the last chapter. Optional.
	Deaf func(begun int) bool
}

// Main is the whole of a program: it connects, and ends after its standard input has ended.
func Main(begin func(*Ledger) Program) {
	flag.Parse()
	l := &Ledger{seen: map[int]bool{}, last: time.Now()}
	if err := l.run(begin(l)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (l *Ledger) run(p Program) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	held := read()
	if err := p.Renew(ctx); err != nil {
		return err
	}
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var working sync.WaitGroup
	working.Go(func() { l.write(writing, p.Write) })
	var others sync.WaitGroup
	others.Go(func() { l.follow(ctx, p, held) })
	others.Go(func() { l.report(ctx) })
	for _, work := range p.Works {
		others.Go(func() { work(ctx) })
	}
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		l.begin(input.Text())
	}
	stopWriting()
	working.Wait()
	l.finish(p)
	cancel()
	others.Wait()
	return nil
}

// Saw notes the event of a number.
func (l *Ledger) Saw(number int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.seen[number] {
		return
	}
	l.seen[number] = true
	l.state.Seen++
	l.late(number)
}

// Shown notes that a number was taken in by something that is later than an event.
func (l *Ledger) Shown(number int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.late(number)
}

func (l *Ledger) late(number int) {
	if number < len(l.acknowledged) {
		l.state.LongestLag = max(l.state.LongestLag, time.Since(l.acknowledged[number]).Milliseconds())
	}
}

// Problem notes the last error of a chapter.
func (l *Ledger) Problem(what string, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.state.Problem = fmt.Sprintf("%s: %v", what, err)
}

// WatchEnded counts a watch that its library has ended.
func (l *Ledger) WatchEnded() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.state.WatchEnds++
}

// LeaseLost counts a lease that ended although it was kept alive.
func (l *Ledger) LeaseLost() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.state.LeaseLost++
}

// Pause ends with the context at the latest.
func Pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

func (l *Ledger) begin(chapter string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.begun = l.state.Acknowledged
	l.state.Chapter, l.state.LongestGap, l.state.LongestLag, l.state.Problem = chapter, 0, 0, ""
}

// write puts one number after the other, each until it is acknowledged.
func (l *Ledger) write(ctx context.Context, put func(context.Context, int) error) {
	for number := 0; ctx.Err() == nil; {
		// It ends with an answer: of a last write it is known whether it is acknowledged.
		if err := put(context.WithoutCancel(ctx), number); err != nil {
			l.Problem("put", err)
			Pause(ctx, breath)
			continue
		}
		number++
		l.mutex.Lock()
		now := time.Now()
		l.acknowledged = append(l.acknowledged, now)
		l.state.Acknowledged = number
		l.state.LongestGap = max(l.state.LongestGap, now.Sub(l.last).Milliseconds())
		l.last = now
		l.mutex.Unlock()
		Pause(ctx, breath)
	}
}

func (l *Ledger) follow(ctx context.Context, p Program, held [][]byte) {
	for ctx.Err() == nil {
		Pause(ctx, 250*time.Millisecond)
		found := read()
		if same(found, held) {
			continue
		}
		if err := p.Renew(ctx); err != nil {
			l.Problem("with the new certificates", err)
			continue
		}
		held = found
		l.mutex.Lock()
		l.state.Renewals++
		l.mutex.Unlock()
	}
}

// read leaves out what can't be read: connecting tells why.
func read() [][]byte {
	var files [][]byte
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key"} {
		content, _ := os.ReadFile(Certificate(name))
		files = append(files, content)
	}
	return files
}

func same(one, other [][]byte) bool {
	for i := range one {
		if !bytes.Equal(one[i], other[i]) {
			return false
		}
	}
	return true
}

func (l *Ledger) report(ctx context.Context) {
	for ctx.Err() == nil {
		l.say()
		Pause(ctx, 200*time.Millisecond)
	}
}

func (l *Ledger) say() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	line, _ := json.Marshal(l.state)
	fmt.Println(string(line))
}

// finish reads everything back, and waits until all is seen.
func (l *Ledger) finish(p Program) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	written := l.state.Acknowledged
	var kept map[int]int
	for ctx.Err() == nil {
		var err error
		if kept, err = p.Read(ctx); err == nil {
			break
		}
		l.Problem("reading back", err)
		Pause(ctx, breath)
	}
	caughtUp := func() bool { return p.CaughtUp == nil || p.CaughtUp(written-1) }
	for ctx.Err() == nil && !(caughtUp() && len(l.unseen(written)) == 0) {
		Pause(ctx, breath)
	}
	missed := l.unseen(written)
	if !caughtUp() {
		missed = append(missed, "the last state")
	}
	l.mutex.Lock()
	for number := max(0, written-Slots); number < written; number++ {
		if kept[number%Slots] != number {
			l.state.Lost = append(l.state.Lost, fmt.Sprint(number))
		}
	}
	if p.Deaf != nil {
		deaf := p.Deaf(l.begun)
		l.state.Deaf = &deaf
	}
	l.state.Missed = missed
	l.state.Ended = true
	l.mutex.Unlock()
	l.say()
}

func (l *Ledger) unseen(written int) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var missed []string
	for number := range written {
		if !l.seen[number] {
			missed = append(missed, fmt.Sprint(number))
		}
	}
	return missed
}
