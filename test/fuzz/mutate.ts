import fc from 'fast-check';

interface Cut {
  /** From 0 to 1: where, whatever the length. */
  readonly at: number;
  readonly drop: number;
  readonly put: Uint8Array;
  /** Say what is there once more, so often. */
  readonly again: number;
}

/** Bytes that something good becomes by a few cuts; `words` are what such bytes are made of. */
export function mutated(good: fc.Arbitrary<Uint8Array | string>, words: readonly string[] = []): fc.Arbitrary<Buffer> {
  const put = fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc.constantFrom(
      ...[...words, '', '\0', '\n', '{', '[', '"', '\ufeff', '\ud800', '\u001b[31m'].map((word) => Buffer.from(word)),
    ),
    fc.string({ unit: 'binary', maxLength: 12 }).map((text) => Buffer.from(text)),
  );
  const cut = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.oneof(fc.nat(3), fc.nat(200)),
    put,
    again: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(50) }),
  });
  return fc
    .tuple(good, fc.array(cut, { maxLength: 6 }))
    .map(([bytes, cuts]) => cuts.reduce(applyCut, Buffer.from(bytes as string)));
}

function applyCut(bytes: Buffer, { at, drop, put, again }: Cut): Buffer {
  const place = Math.floor(at * bytes.length);
  const said = bytes.subarray(place, place + drop);
  const repeated = Array.from({ length: again }, () => said);
  return Buffer.concat([bytes.subarray(0, place), put, ...repeated, bytes.subarray(place + drop)]);
}

/** The same data with some of its parts replaced by any other, as JSON. */
export function distorted(good: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const hostile = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(
      null,
      -1,
      1e308,
      '',
      'x'.repeat(5_000),
      [],
      {},
      [[]],
      { length: 3 },
      { toString: 1 },
      true,
    ),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  const changes = fc.array(fc.tuple(fc.nat(60), hostile, fc.constantFrom('replace', 'remove', 'list')), {
    maxLength: 4,
  });
  return fc.tuple(good, changes).map(([value, list]) => {
    const copy: { all: unknown } = { all: structuredClone(value) };
    for (const [which, other, how] of list) distort(copy, which, structuredClone(other), how);
    return JSON.stringify(copy.all) ?? '';
  });
}

type Holder = Record<string, unknown>;

function distort(root: { all: unknown }, which: number, other: unknown, how: string): void {
  const places: { readonly holder: Holder; readonly key: string }[] = [];
  const visit = (holder: Holder, key: string): void => {
    places.push({ holder, key });
    const value = holder[key];
    if (typeof value === 'object' && value !== null && places.length < 500)
      for (const name of Object.keys(value)) visit(value as Holder, name);
  };
  visit(root as Holder, 'all');
  const place = places[which % places.length];
  if (!place) return;
  const { holder, key } = place;
  if (how === 'remove' && key !== 'all') delete holder[key];
  else
    Object.defineProperty(holder, key, {
      value: how === 'list' ? [holder[key], other] : other,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** The same bytes with one of them another, at places all over: so many. */
export function withOneByteChanged(bytes: Buffer, most = 32): readonly Buffer[] {
  const count = Math.min(most, bytes.length);
  return Array.from({ length: count }, (_, n) => {
    const changed = Buffer.from(bytes);
    const at = Math.floor((n * bytes.length) / count);
    // Every bit has its turn as places change with the length.
    changed[at] = (changed[at] ?? 0) ^ (1 << ((n + bytes.length) & 7));
    return changed;
  });
}
