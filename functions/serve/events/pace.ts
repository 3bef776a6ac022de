/** How often events may start a pass at once. Any sender can use any source's name: the rest waits for a shared one. */
export interface Pace {
  /** Whether an event of this source may start a pass now. */
  mayStart(source: string): boolean;
}

interface Bucket {
  left: number;
  at: number;
}

/** Passes at once, and for each second after that: of one source, and of all together. */
const rates = { source: { burst: 8, perSecond: 1 }, all: { burst: 16, perSecond: 2 } };
/** Sources that are told apart; the one that was quiet for longest is forgotten first. */
const mostSources = 100;

/** @param clock milliseconds */
export function createPace(clock: () => number = () => performance.now()): Pace {
  const sources = new Map<string, Bucket>();
  const all: Bucket = { left: rates.all.burst, at: clock() };

  function fill(bucket: Bucket, { burst, perSecond }: { readonly burst: number; readonly perSecond: number }): Bucket {
    const now = clock();
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }

  return {
    mayStart: (source) => {
      const own = fill(sources.get(source) ?? { left: rates.source.burst, at: clock() }, rates.source);
      sources.delete(source);
      sources.set(source, own);
      const [oldest] = sources.keys();
      if (sources.size > mostSources && oldest !== undefined) sources.delete(oldest);
      fill(all, rates.all);
      if (own.left < 1 || all.left < 1) return false;
      own.left -= 1;
      all.left -= 1;
      return true;
    },
  };
}
