import { createHash, randomBytes } from 'node:crypto';
import { collected } from '../../../reconcile/backup/agent/collected.ts';
import { type AgentRequest, parseRequest } from '../../../reconcile/backup/agent/request.ts';
import { checkedTrailer } from '../../../reconcile/backup/agent/trailer.ts';
import { openStore } from '../../../reconcile/backup/stores/open-store.ts';
import { localEgress } from '../../support/network.ts';
import { peakMebibytes } from '../../support/peak-memory.ts';

/**
 * All that a snapshot goes through behind etcd's client, of so many MiB, to the store of a request; prints the most
 * memory that it took.
 *
 * Arguments: the request, MiB.
 */
const [json = '', mebibytes = ''] = process.argv.slice(2);
const request: AgentRequest = parseRequest(json);
if (!('location' in request)) throw new TypeError('it takes an object');

/** In messages as etcd sends them, each a buffer of its own. */
async function* snapshot(): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const seed = randomBytes(32 * 1024);
  for (let sent = 0; sent < Number(mebibytes) * 32; sent++) {
    const message = Buffer.from(seed);
    message.writeUInt32LE(sent);
    hash.update(message);
    yield message;
  }
  yield hash.digest();
}

const store = await openStore(request.location, request.store, localEgress);
const body = checkedTrailer(collected(snapshot()), () => undefined);
const started = performance.now();
const { bytes } = await store.put(request.location.path, body, { signal: AbortSignal.timeout(100_000) });
store.close();
const ms = Math.round(performance.now() - started);
console.log(JSON.stringify({ bytes, ms, mebibytes: Math.round(peakMebibytes()) }));
