import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';

/**
 * `kubectl port-forward pod/NAME :PORT` of the playground, on 127.0.0.1 until it is ended: through the proxy of
 * forward.ts. Called as `port-forward.ts PROXY KUBECTL ARGUMENTS…`; what leads to the cluster stands before the verb.
 */
const [proxy, kubectl = '', ...args] = process.argv.slice(2);
const at = args.indexOf('port-forward');
const [pod = '', ports = ''] = args.slice(at + 1);
const path = '{.status.podIP}';
const asked = [...args.slice(0, at), 'get', pod, '-o', `jsonpath=${path}`];
const { stdout: address } = await promisify(execFile)(kubectl, asked, { timeout: 10_000 });
const [, remote = ''] = ports.split(':');
const target = `${address}:${remote}`;

const server = createServer((near: Socket) => {
  near.on('error', () => near.destroy());
  const asking = request({ host: '127.0.0.1', port: Number(proxy), method: 'CONNECT', path: target });
  asking.once('error', () => near.destroy());
  asking.once('connect', ({ statusCode }, far: Socket) => {
    far.on('error', () => near.destroy());
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    if (statusCode === 200) near.pipe(far).pipe(near);
    else near.destroy();
  });
  asking.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const local = server.address();
if (local === null || typeof local === 'string') throw new Error('no port');
process.stdout.write(`Forwarding from 127.0.0.1:${local.port} -> ${remote}\n`);
