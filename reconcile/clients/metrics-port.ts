import http from 'node:http';

interface Asked {
  readonly signal: AbortSignal;
  /** More is no answer: a member may run the image of a tenant. */
  readonly mostBytes: number;
  readonly take: (chunk: Buffer) => void;
}

/**
 * A plain GET of a member's metrics port. Redirects are not followed: the pod is asked, and nothing else.
 * @returns the HTTP status. @throws {Error} without an answer, and for one that is too large
 */
export function getBounded(url: URL, { signal, mostBytes, take }: Asked): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, signal }, (response) => {
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) request.destroy(new Error(`the answer is larger than ${mostBytes} bytes`));
        else take(chunk);
      });
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}
