import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { Faults } from './faults.ts';

/** What the control socket carries: a method of `Faults` by name and its arguments. */
const methods = [
  'killContainer',
  'squeezeContainer',
  'freezePod',
  'thawPod',
  'unplugPod',
  'replugPod',
  'killAllPods',
  'loseNode',
  'cutNode',
  'restoreNode',
  'rebootNode',
  'wipeVolume',
  'corruptVolume',
  'alterVolume',
  'failMounts',
  'pauseImagePulls',
  'logs',
] as const satisfies readonly (keyof Faults)[];

type Reply = { result?: unknown; error?: string };

/** Offers the faults to other processes of this user, on a unix socket. */
export async function startControl(socketPath: string, faults: Faults): Promise<{ close(): void }> {
  const server = createServer((message, response) => {
    serve(message, faults)
      .catch((error: unknown): Reply => ({ error: error instanceof Error ? error.message : String(error) }))
      .then((reply) => {
        response.writeHead(reply.error === undefined ? 200 : 400, { 'content-type': 'application/json' });
        response.end(JSON.stringify(reply));
      });
  });
  // One of an earlier run that was killed would be in the way.
  await rm(socketPath, { force: true });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function serve(message: IncomingMessage, faults: Faults): Promise<Reply> {
  const method = methods.find((name) => message.url === `/${name}`);
  if (!method) throw new Error(`the process node has no fault ${message.url}`);
  const args = JSON.parse(await textOf(message)) as unknown[];
  const call = faults[method] as (...args: unknown[]) => Promise<unknown>;
  // JSON has no undefined; an argument left out comes as null.
  return { result: await call(...args.map((arg) => arg ?? undefined)) };
}

/** The faults of a process node in another process. @throws Error from each with that node's words, or after 60 s. */
export function controlNode(socketPath: string): Faults {
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify(args);
    const signal = AbortSignal.timeout(60_000);
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ socketPath, path: `/${method}`, method: 'POST', signal })
        .on('response', resolve)
        .on('error', reject)
        .end(body);
    });
    const { result, error } = JSON.parse(await textOf(message)) as Reply;
    if (error !== undefined) throw new Error(`${method}(${args.join(', ')}): ${error}`);
    return result;
  };
  const client = methods.map((method) => [method, (...args: unknown[]) => call(method, args)]);
  return Object.fromEntries(client) as Faults;
}

async function textOf(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8');
  let text = '';
  for await (const chunk of message) text += chunk;
  return text;
}
