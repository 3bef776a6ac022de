import type { Fingerprint } from './fingerprint.ts';

/**
 * Which fingerprints were seen, each with the number it was given: a hash table in typed arrays, twelve bytes an entry,
 * because a Set of millions of strings or bigints takes ten times that.
 */
export interface Seen {
  readonly size: number;
  /** @returns the number of a fingerprint that is new; `-1` of one that is not. */
  add(fingerprint: Fingerprint): number;
  has(fingerprint: Fingerprint): boolean;
}

export function createSeen(): Seen {
  let capacity = 1 << 12;
  let highs = new Uint32Array(capacity);
  let lows = new Uint32Array(capacity);
  let taken = new Uint8Array(capacity);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (fingerprint) => {
      const place = find(fingerprint);
      if (taken[place]) return -1;
      put(place, fingerprint);
      size += 1;
      if (size * 3 > capacity * 2) grow();
      return size - 1;
    },
    has: (fingerprint) => taken[find(fingerprint)] === 1,
  };

  /** Where it is, or where it would be. */
  function find({ high, low }: Fingerprint): number {
    let place = (high ^ low) & (capacity - 1);
    while (taken[place] && (highs[place] !== high || lows[place] !== low)) place = (place + 1) & (capacity - 1);
    return place;
  }

  function put(place: number, { high, low }: Fingerprint): void {
    taken[place] = 1;
    highs[place] = high;
    lows[place] = low;
  }

  function grow(): void {
    const [oldHighs, oldLows, oldTaken] = [highs, lows, taken];
    capacity *= 2;
    highs = new Uint32Array(capacity);
    lows = new Uint32Array(capacity);
    taken = new Uint8Array(capacity);
    for (const [index, isTaken] of oldTaken.entries()) {
      if (!isTaken) continue;
      const fingerprint = { high: oldHighs[index] ?? 0, low: oldLows[index] ?? 0 };
      put(find(fingerprint), fingerprint);
    }
  }
}
