import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Admission, createGate } from '../../../functions/serve/gate.ts';

const limits = { requests: 2, bodyBytes: 100, allBytes: 250 };

interface Sending {
  readonly request: Request;
  send(bytes: number): void;
  end(): void;
  fail(): void;
}

/** A request whose body comes piece by piece. */
function sending(headers: Readonly<Record<string, string>> = {}): Sending {
  let pipe: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      pipe = controller;
    },
    cancel: () => {
      isOver = true;
    },
  });
  const once = (act: (to: ReadableStreamDefaultController<Uint8Array>) => void) => {
    if (pipe && !isOver) act(pipe);
  };
  return {
    request: new Request('http://x/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
    send: (bytes) => once((to) => to.enqueue(new Uint8Array(bytes).fill(7))),
    end: () =>
      once((to) => {
        isOver = true;
        to.close();
      }),
    fail: () =>
      once((to) => {
        isOver = true;
        to.error(new Error('gone'));
      }),
  };
}

function whole(bytes: number): Request {
  const one = sending();
  if (bytes > 0) one.send(bytes);
  one.end();
  return one.request;
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
}

test('slow senders take no place, however many they are', async () => {
  const gate = createGate(limits);
  const slow = Array.from({ length: 50 }, () => sending());
  const waiting = slow.map(({ request }) => gate.admit(request));
  for (const one of slow) one.send(1);
  await settled();
  for (let turn = 0; turn < 5; turn++) {
    using read = await gate.admit(whole(50));
    assert.equal(read.kind === 'body' && read.body.length, 50);
  }
  for (const one of slow) one.fail();
  assert.deepEqual(new Set((await Promise.all(waiting)).map(({ kind }) => kind)), new Set(['broken']));
});

test('bodies that fill the room and stand still go, oldest first, when a request comes', async () => {
  const gate = createGate(limits);
  const slow = [sending(), sending(), sending()];
  const waiting = slow.map(({ request }) => gate.admit(request));
  for (const one of slow) one.send(80);
  await settled();
  using read = await gate.admit(whole(60));
  assert.equal(read.kind, 'body');
  assert.equal((await waiting[0])?.kind, 'busy');
  slow[1]?.end();
  assert.equal((await waiting[1])?.kind, 'body', 'the others are where they were');
  slow[2]?.fail();
  await waiting[2];
});

test('beyond the places it is busy, until one is left; bodies that are worked at count', async () => {
  const gate = createGate(limits);
  const [one, two] = [await gate.admit(whole(100)), await gate.admit(whole(100))];
  assert.deepEqual([one.kind, two.kind], ['body', 'body']);
  assert.equal((await gate.admit(whole(1))).kind, 'busy');
  one[Symbol.dispose]();
  using third = await gate.admit(whole(1));
  assert.equal(third.kind, 'body');

  const narrow = createGate({ ...limits, requests: 9 });
  const held = [await narrow.admit(whole(100)), await narrow.admit(whole(100))];
  assert.equal((await narrow.admit(whole(60))).kind, 'busy', 'nobody is cut off at work');
  for (const read of held) read[Symbol.dispose]();
  using after = await narrow.admit(whole(60));
  assert.equal(after.kind, 'body');
});

test('of many whose bodies are there at the same moment no more get in than there are places', async () => {
  const gate = createGate(limits);
  const all = await Promise.all(Array.from({ length: 9 }, () => gate.admit(whole(1))));
  assert.equal(all.filter(({ kind }) => kind === 'body').length, 2);
  for (const read of all) read[Symbol.dispose]();
});

test('what is too large is said so, declared or not; no body is an empty one', async () => {
  const gate = createGate(limits);
  assert.equal((await gate.admit(sending({ 'content-length': '101' }).request)).kind, 'too-large');
  assert.equal((await gate.admit(whole(101))).kind, 'too-large');
  using none = await gate.admit(new Request('http://x/'));
  assert.equal(none.kind === 'body' && none.body.length, 0);
});

test('whatever comes in whatever order, all places and all room are there again when it is over', async () => {
  const move = fc.record({ who: fc.nat(5), what: fc.constantFrom('send', 'end', 'fail', 'leave'), bytes: fc.nat(120) });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      const gate = createGate(limits);
      const clients = Array.from({ length: 6 }, () => sending());
      const admitted: Admission[] = [];
      const waiting = clients.map(async ({ request }) => void admitted.push(await gate.admit(request)));
      for (const { who, what, bytes } of moves) {
        if (what === 'leave') admitted.shift()?.[Symbol.dispose]();
        else if (what === 'send') clients[who]?.send(bytes + 1);
        else clients[who]?.[what]();
        await settled();
      }
      for (const client of clients) client.end();
      await Promise.all(waiting);
      for (const read of admitted) read[Symbol.dispose]();
      const all = [await gate.admit(whole(100)), await gate.admit(whole(100))];
      assert.deepEqual(
        all.map(({ kind }) => kind),
        ['body', 'body'],
      );
    }),
    { numRuns: 200 },
  );
});
