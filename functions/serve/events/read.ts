import { CloudEvent, HTTP } from '../../pass/follow-up/cloud-events.ts';

/** It claims to be a CloudEvent, and is none. The message never quotes what was sent. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent';
}

const mostEvents = 1000;

/**
 * The events of one request: binary (`ce-` headers), structured (`application/cloudevents+json`), or batched
 * (`application/cloudevents-batch+json`). @throws {MalformedEvent}
 */
export function readEvents(headers: Headers, body: Uint8Array): readonly CloudEvent<unknown>[] {
  const contentType = headers.get('content-type')?.toLowerCase() ?? '';
  const text = utf8(body);
  const found = contentType.startsWith('application/cloudevents-batch') ? batch(text) : [one(headers, text)];
  for (const event of found) refuseUnsound(event);
  return found;
}

/** By hand: the library goes over whatever it is given, and what is in it may be anything. */
function batch(text: string): readonly CloudEvent<unknown>[] {
  const all = understood(() => JSON.parse(text) as unknown);
  if (!Array.isArray(all)) throw new MalformedEvent('a batch is a list of events');
  if (all.length > mostEvents) throw new MalformedEvent(`a batch may have ${mostEvents} events`);
  return all.map((event) => structured(event));
}

function structured(event: unknown): CloudEvent<unknown> {
  const given = typeof event === 'object' && event !== null ? event : {};
  refuseLack((name) => (Object.hasOwn(given, name) ? Object(given)[name] : undefined));
  const headers = { 'content-type': 'application/cloudevents+json' };
  return single(understood(() => HTTP.toEvent({ headers, body: JSON.stringify(event) })));
}

function one(headers: Headers, text: string): CloudEvent<unknown> {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/cloudevents+json') return structured(understood(() => JSON.parse(text) as unknown));
  refuseLack((name) => headers.get(`ce-${name}`));
  // The library knows content types by their exact words.
  const given = { ...Object.fromEntries(headers), ...(type && { 'content-type': type }) };
  return single(understood(() => HTTP.toEvent({ headers: given, body: text })));
}

/** The library would invent attributes that are required and missing. */
function refuseLack(attribute: (name: string) => unknown): void {
  for (const name of ['id', 'source', 'type', 'specversion']) {
    const value = attribute(name);
    if (typeof value !== 'string' || value === '') throw new MalformedEvent(`${name} is missing`);
  }
}

function single(event: unknown): CloudEvent<unknown> {
  if (!(event instanceof CloudEvent)) throw new MalformedEvent('one event was expected');
  return event;
}

/** Only 1.0: what the library does not know it takes as valid. */
function refuseUnsound(event: CloudEvent<unknown>): void {
  if (event.specversion !== '1.0') throw new MalformedEvent('specversion must be 1.0');
  understood(() => event.validate());
}

/** The library throws its own errors, JavaScript's and those of its parsers, and all of them quote what was sent. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new MalformedEvent(
      'this is no CloudEvent: id, source, type and specversion are required, and JSON where it says so',
    );
  }
}

function utf8(bytes: Uint8Array): string {
  return understood(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}
