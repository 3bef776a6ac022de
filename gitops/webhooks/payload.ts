import { isRecord, jsonIn } from '../../manifests/json.ts';
import { type Delivery, MalformedDelivery } from './receiver.ts';

/** A payload is foreign data: read field by field, each with its type, and never copied as a whole. */
export type Payload = Readonly<Record<string, unknown>>;

/** The body as a JSON object. @throws {MalformedDelivery} */
export function payloadOf({ header, body }: Delivery): Payload {
  return parsed(isForm(header('content-type')) ? fromForm(utf8(body)) : utf8(body));
}

function parsed(text: string): Payload {
  const value = jsonIn(text);
  // Without the parser's words: they quote the body.
  if (value === undefined) throw new MalformedDelivery('the body is not JSON');
  if (!isRecord(value)) throw new MalformedDelivery('the body is not a JSON object');
  return value;
}

/** GitHub and Gitea may be told to send `payload=<JSON>` as a browser's form would. */
function fromForm(text: string): string {
  const payload = new URLSearchParams(text).get('payload');
  if (payload === null) throw new MalformedDelivery('the form has no field payload');
  return payload;
}

function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new MalformedDelivery('the body is not UTF-8 text');
  }
}

/** An own property: what a payload inherits (`__proto__`, `constructor`) is not in it. */
export function field(of: unknown, ...path: readonly string[]): unknown {
  let value = of;
  for (const name of path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** @throws {MalformedDelivery} naming the field, when it is not a text of a sensible length */
export function textAt(payload: Payload, ...path: readonly string[]): string {
  const value = optionalTextAt(payload, ...path);
  if (value === undefined) throw new MalformedDelivery(`${path.join('.')} is missing`);
  return value;
}

/** @throws {MalformedDelivery} when it is there and is not a text of a sensible length */
export function optionalTextAt(payload: unknown, ...path: readonly string[]): string | undefined {
  const value = field(payload, ...path);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.length > longestText) {
    throw new MalformedDelivery(`${path.join('.')} is not a text`);
  }
  return value;
}

/** A request's number, as people say it. @throws {MalformedDelivery} */
export function numberAt(payload: Payload, ...path: readonly string[]): string {
  const value = field(payload, ...path);
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new MalformedDelivery(`${path.join('.')} is not a number`);
  }
  return String(value);
}

/** @throws {MalformedDelivery} when it is not a list */
export function listAt(payload: Payload, ...path: readonly string[]): readonly unknown[] {
  const value = field(payload, ...path);
  if (!Array.isArray(value)) throw new MalformedDelivery(`${path.join('.')} is not a list`);
  return value.slice(0, mostItems);
}

/** Those of these places at which there is a text. */
export function textsAt(payload: unknown, paths: readonly (readonly string[])[]): readonly string[] {
  return paths.flatMap((path) => optionalTextAt(payload, ...path) ?? []);
}

/** Longer than any URL or ref that a forge allows. */
const longestText = 4096;
/** Refs of one push that are looked at. */
const mostItems = 1000;
