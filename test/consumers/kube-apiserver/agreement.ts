import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import type { ConsumingApiServer } from './api-server.ts';

/**
 * Compares what an API server answers from its watch cache with what it reads from etcd, again and again, while it
 * writes. Its watch cache lags by a few milliseconds; after a watch that resumed below what it had seen, for ever.
 */
export interface Agreement extends AsyncDisposable {
  /** Writes that were acknowledged. */
  readonly written: () => number;
  /** Looks in which both agreed. */
  readonly agreed: () => number;
  /** In milliseconds: the longest from a read of etcd until the watch cache said the same. */
  longest(): number;
  /** What was seen last where they do not agree now, and since how many milliseconds. */
  readonly now: () => string;
}

const path = '/api/v1/namespaces/default/configmaps';
const name = 'probe';

export async function watchAgreement({ ask }: ConsumingApiServer): Promise<Agreement> {
  const stopped = new AbortController();
  let [written, agreed, longest, now] = [0, 0, 0, 'no look yet'];
  const metadata = { name, namespace: 'default' };
  await ask(path, { method: 'POST', body: { metadata, data: { count: '0' } } });
  const ended = (async () => {
    for (let count = 1; !stopped.signal.aborted; count += 1) {
      await pause(100);
      if (await write(count)) written += 1;
      await compare();
    }
  })();
  return {
    written: () => written,
    agreed: () => agreed,
    longest: () => longest,
    now: () => now,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await ended;
    },
  };

  /** By force, and whether or not it is there: after a rollback it is older, or gone. */
  async function write(count: number): Promise<boolean> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { count: String(count) } };
    const way = '?fieldManager=probe&force=true';
    const type = 'application/apply-patch+yaml';
    return ask(`${path}/${name}${way}`, { method: 'PATCH', body, type }).then(
      () => true,
      () => false,
    );
  }

  /** Until both say the same. While etcd can't be read there is nothing to compare. */
  async function compare(): Promise<void> {
    let since: number | undefined;
    while (!stopped.signal.aborted) {
      const stored = await said('');
      if (stored === undefined) return;
      since ??= performance.now();
      const cached = await said('?resourceVersion=0');
      const lasted = performance.now() - since;
      now = `etcd has ${stored}, the watch cache ${cached}, for ${lasted.toFixed(0)} ms`;
      longest = Math.max(longest, lasted);
      if (cached === stored) {
        agreed += 1;
        return;
      }
      await pause(50);
    }
  }

  /** `undefined`: no answer. */
  async function said(query: string): Promise<string | undefined> {
    return ask(`${path}/${name}${query}`).then(
      (found) => `${(found as ConfigMap).data?.count} at ${(found as ConfigMap).metadata.resourceVersion}`,
      (error: Error) => (/: 404 /.test(error.message) ? 'nothing' : undefined),
    );
  }
}
