import { listen } from '../../functions/serve/listen.ts';
import { composed } from '../../functions/serve/serve.ts';
import { webhooks } from '../../functions/serve/webhooks.ts';
import { env, installation } from '../unit/serve/installation.ts';

/** The webhook server as a process of its own, with an API server in memory, so that only the server is measured. */

const stop = new AbortController();
const group = await webhooks({ kube: installation(), log: () => undefined, env, version: '0', stop: stop.signal });
const server = await listen(composed([group], stop.signal), { host: '127.0.0.1', port: 0 });
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss, heap: process.memoryUsage().heapUsed, cpu: process.cpuUsage() });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port });
