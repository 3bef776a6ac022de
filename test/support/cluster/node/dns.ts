import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { type Answer, decode, encode, type Packet, type Question, RECURSION_DESIRED } from 'dns-packet';
import type { DnsAnswer, LookUp } from './dns-answers.ts';
import type { Log } from './options.ts';
import { clusterDomain } from './pod-files.ts';

/**
 * Short: the next answer should know what has changed. CoreDNS gives 30 s by default, for clusters that are not tests.
 */
const ttl = 2;
const authoritative = 1 << 10;
const nameError = 3;

/** The cluster's name server. @throws Error when the address can't be bound. */
export async function startDns(address: string, lookUp: LookUp, log: Log): Promise<{ close(): Promise<void> }> {
  const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', reuseAddr: true });
  socket.on('message', (message, from) => {
    const response = answer(lookUp, message, log);
    if (response) socket.send(response, from.port, from.address);
  });
  socket.on('error', (error) => log.warn({ error: String(error) }, 'the name server had an error'));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, address, resolve);
  });
  return { close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

/** The bytes of the response; undefined for what is not a query. */
export function answer(lookUp: LookUp, message: Buffer, log: Log): Buffer | undefined {
  try {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (query.type !== 'query' || !question) return undefined;
    return encode(respond(lookUp, query, question));
  } catch (error) {
    log.debug({ error: String(error) }, 'the name server was sent what is not a query');
    return undefined;
  }
}

function respond(lookUp: LookUp, query: Packet, question: Question): Packet {
  const found = lookUp(question.name);
  const answers = found.kind === 'no-name' ? [] : answersTo(lookUp, question, found);
  return {
    type: 'response',
    id: query.id ?? 0,
    flags: authoritative | ((query.flags ?? 0) & RECURSION_DESIRED) | (found.kind === 'no-name' ? nameError : 0),
    questions: [question],
    answers,
    // Neither a missing name nor a missing record may be remembered for long.
    authorities: answers.length > 0 ? [] : [authority()],
  };
}

function answersTo(lookUp: LookUp, { name, type }: Question, found: DnsAnswer): Answer[] {
  const wants = (wanted: string) => [wanted, 'ANY'].includes(type);
  switch (found.kind) {
    case 'addresses':
      return shuffled(found.addresses)
        .map((data): Answer => ({ type: isIPv6(data) ? 'AAAA' : 'A', name, ttl, data }))
        .filter((found) => wants(found.type));
    case 'servers':
      return wants('SRV')
        ? found.servers.map((server) => ({ type: 'SRV', name, ttl, data: { ...server, priority: 0, weight: 100 } }))
        : [];
    case 'alias': {
      const target = lookUp(found.target);
      const more = target.kind === 'addresses' ? answersTo(lookUp, { name: found.target, type }, target) : [];
      return [{ type: 'CNAME', name, ttl, data: found.target }, ...more];
    }
    case 'no-name':
      return [];
  }
}

function authority(): Answer {
  return {
    type: 'SOA',
    name: clusterDomain,
    ttl,
    data: {
      mname: `ns.dns.${clusterDomain}`,
      rname: `hostmaster.${clusterDomain}`,
      serial: 1,
      refresh: 7200,
      retry: 1800,
      expire: 86400,
      minimum: ttl,
    },
  };
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
