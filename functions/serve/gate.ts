/** Limits what a server takes on at once. When it is full, callers are asked to come again, at no cost. */
export interface Gate {
  /** Takes a place once the whole body is there. A slow sender takes none, and goes first when bodies fill the room. */
  readonly admit: (request: Request) => Promise<Admission>;
}

export type Admission = Disposable &
  (
    | { readonly kind: 'body'; readonly body: Uint8Array }
    | { readonly kind: 'too-large' }
    /** All places are taken, or others' bodies fill what there is for bodies. */
    | { readonly kind: 'busy' }
    /** The caller went away, or was too slow. */
    | { readonly kind: 'broken' }
  );

export interface GateLimits {
  /** Requests whose body is there. */
  readonly requests: number;
  /** Bytes of one body, and of all that are arriving or being worked at. */
  readonly bodyBytes: number;
  readonly allBytes: number;
}

interface Arrival {
  readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly chunks: Uint8Array[];
  size: number;
  isCut: boolean;
}

export function createGate({ requests, bodyBytes, allBytes }: GateLimits): Gate {
  let inside = 0;
  let held = 0;
  /** The oldest first. */
  const arriving = new Set<Arrival>();

  function cutOldest(): void {
    const [oldest] = arriving;
    if (!oldest) return;
    oldest.isCut = true;
    letGo(oldest);
    // Ends its wait for more.
    oldest.reader?.cancel().catch(() => undefined);
  }

  function letGo(arrival: Arrival): void {
    arriving.delete(arrival);
    held -= arrival.size;
    arrival.size = 0;
    arrival.chunks.length = 0;
  }

  async function arrived(arrival: Arrival): Promise<'body' | 'too-large' | 'busy' | 'broken'> {
    const { reader, chunks } = arrival;
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (arrival.isCut) return 'busy';
        if (done || !value) return 'body';
        arrival.size += value.length;
        held += value.length;
        chunks.push(value);
        if (arrival.size > bodyBytes) return 'too-large';
        while (held > allBytes && arriving.size > 0) cutOldest();
        if (arrival.isCut || held > allBytes) return 'busy';
      }
    } catch {
      return arrival.isCut ? 'busy' : 'broken';
    }
  }

  return {
    admit: async (request) => {
      const declared = Number(request.headers.get('content-length') ?? 0);
      if (declared > bodyBytes) return refusal('too-large');
      if (inside >= requests) return refusal('busy');
      const arrival: Arrival = { reader: request.body?.getReader(), chunks: [], size: 0, isCut: false };
      arriving.add(arrival);
      const came = await arrived(arrival);
      // Nothing may come between this look and the place that is taken for it.
      const kind = came === 'body' && inside >= requests ? 'busy' : came;
      if (kind !== 'body') {
        if (!arrival.isCut) letGo(arrival);
        arrival.reader?.cancel().catch(() => undefined);
        return refusal(kind);
      }
      arriving.delete(arrival);
      inside += 1;
      const { chunks } = arrival;
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      chunks.length = 0;
      return {
        kind,
        body,
        [Symbol.dispose]: () => {
          inside -= 1;
          held -= arrival.size;
        },
      };
    },
  };
}

function refusal(kind: 'too-large' | 'busy' | 'broken'): Admission {
  return { kind, [Symbol.dispose]: () => undefined };
}
