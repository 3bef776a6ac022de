/** What a server lets itself be burdened with at once. Who comes when it is full is asked to come again, and costs nothing. */
export interface Gate {
  /** @returns `undefined` when it is full */
  enter(): Disposable | undefined;
  /** The whole body. */
  readonly read: (request: Request) => Promise<Read>;
}

export type Read =
  | { readonly kind: 'body'; readonly body: Uint8Array }
  | { readonly kind: 'too-large' }
  /** The others' bodies fill what there is for bodies. */
  | { readonly kind: 'busy' }
  /** The caller went away, or was too slow. */
  | { readonly kind: 'broken' };

export interface GateLimits {
  /** Requests under way. */
  readonly requests: number;
  /** Bytes of one body, and of all that are being read. */
  readonly bodyBytes: number;
  readonly allBytes: number;
}

export function createGate({ requests, bodyBytes, allBytes }: GateLimits): Gate {
  let inside = 0;
  let held = 0;
  return {
    enter: () => {
      if (inside >= requests) return undefined;
      inside += 1;
      return {
        [Symbol.dispose]: () => {
          inside -= 1;
        },
      };
    },
    read: async (request) => {
      const declared = Number(request.headers.get('content-length') ?? 0);
      if (declared > bodyBytes) return { kind: 'too-large' };
      if (held + declared > allBytes) return { kind: 'busy' };
      const chunks: Uint8Array[] = [];
      let size = 0;
      try {
        for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
          size += chunk.length;
          held += chunk.length;
          if (size > bodyBytes) return { kind: 'too-large' };
          if (held > allBytes) return { kind: 'busy' };
          chunks.push(chunk);
        }
        return { kind: 'body', body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) };
      } catch {
        return { kind: 'broken' };
      } finally {
        held -= size;
      }
    },
  };
}
