import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { gitHttpBackend } from './backend.ts';
import { led } from './leading.ts';
import type { Traits } from './traits.ts';

/** Answers as git's own server, but for these traits. */
export async function behave(
  traits: Traits,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = led(traits, request, response);
  if (url === undefined) return;
  const body = await bytesOf(request);
  const refusal = refusalOf(traits, body);
  if (refusal) {
    response.writeHead(refusal.status, { 'content-type': refusal.type }).end(refusal.text);
    return;
  }
  const { method, socket } = request;
  const { 'git-protocol': _version, ...others } = request.headers;
  const headers = traits.version2 === 'ignored' ? others : request.headers;
  const again = Object.assign(Readable.from([body]), { url, method, headers, socket });
  await gitHttpBackend(root, again, changing(response, traits));
}

/** What a first `want` says that the client can do. */
const firstWant = /^[0-9a-f]{4}want [0-9a-f]{40} ?(?<list>[^\n]*)\n/;

function refusalOf(
  { version2, demands, isStrict, offers }: Traits,
  body: Buffer,
): { readonly status: number; readonly type: string; readonly text: string } | undefined {
  if (body.length === 0) return undefined;
  const list = firstWant.exec(body.toString('latin1'))?.groups?.list;
  const isVersion2 = list === undefined;
  if (isVersion2 && version2 !== 'ignored') return undefined;
  const can = list?.split(' ').filter((name) => name !== '') ?? [];
  if (demands && !demands.oneOf.some((name) => can.includes(name)))
    return { status: demands.status, type: 'text/plain', text: 'The Git protocol sent is not as expected' };
  const unknown = isStrict && can.find((name) => !offers?.includes(name));
  if (!unknown) return undefined;
  const line = `ERR ${unknown} is not supported\n`;
  const text = `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
  return { status: 200, type: 'application/x-git-upload-pack-result', text };
}

/** A response that changes what the backend writes, where there is something to change. */
function changing(response: ServerResponse, { offers, zips }: Traits): ServerResponse {
  if (!offers && !zips) return response;
  const chunks: Buffer[] = [];
  function end(): void {
    const body = offers ? offering(Buffer.concat(chunks), offers) : Buffer.concat(chunks);
    if (zips) response.setHeader('content-encoding', 'gzip');
    response.end(zips === 'answers' ? gzipSync(body) : body);
  }
  return new Proxy(response, {
    get(target, property) {
      if (property === 'write') return (chunk: Buffer) => chunks.push(chunk) > 0;
      if (property === 'end') return end;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The first line of a list of refs, with fewer capabilities. */
function offering(body: Buffer, offers: readonly string[]): Buffer {
  const text = body.toString('latin1');
  const line = /(?<length>[0-9a-f]{4})(?<ref>[0-9a-f]{40} [^\0\n]+)\0(?<list>[^\n]*)\n/.exec(text);
  const { ref, list } = line?.groups ?? {};
  if (!line || ref === undefined || list === undefined) return body;
  const kept = list.split(' ').filter((name) => offers.includes(name));
  const changed = `${ref}\0${kept.join(' ')}\n`;
  const packet = `${(changed.length + 4).toString(16).padStart(4, '0')}${changed}`;
  return Buffer.from(text.slice(0, line.index) + packet + text.slice(line.index + line[0].length), 'latin1');
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
