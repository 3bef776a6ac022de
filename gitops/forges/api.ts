import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { assertTaken, type Purpose } from './answer.ts';
import { ForgeError } from './error.ts';
import type { ForgeAccess } from './forge.ts';
import { type ForgeAnswer, type ForgeRequest, send } from './http.ts';

export interface Call {
  readonly purpose: Purpose;
  readonly signal: AbortSignal;
}

export interface Api {
  readonly address: string;
  /** Reads what has at least this shape. @throws ForgeError */
  get<Schema extends TSchema>(path: string, schema: Schema, call: Call): Promise<Page<Static<Schema>>>;
  /** Whether what lies there is still what that ETag was of. @throws ForgeError */
  isUnchanged(path: string, etag: string, call: Call): Promise<boolean>;
  /** @throws ForgeError unless it was taken, or `asIfTaken` says that the refusal means the same */
  send(
    method: Exclude<ForgeRequest['method'], 'GET'>,
    path: string,
    body: unknown,
    call: Call,
    asIfTaken?: (answer: ForgeAnswer) => boolean,
  ): Promise<ForgeAnswer>;
}

interface Page<Value> {
  readonly value: Value;
  readonly headers: ForgeAnswer['headers'];
}

export interface ApiOptions extends Pick<ForgeAccess, 'caBundle' | 'network'> {
  readonly address: string;
  readonly accept?: string;
  /** Headers that say who we are. */
  readonly authorize: (call: Call) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** @param options.address without a slash at its end; paths begin with one */
export function apiAt({ address, accept = 'application/json', authorize, caBundle, network }: ApiOptions): Api {
  async function ask(
    { headers: more, ...request }: Pick<ForgeRequest, 'method' | 'body'> & Partial<Pick<ForgeRequest, 'headers'>>,
    path: string,
    call: Call,
    asIfTaken: (answer: ForgeAnswer) => boolean = () => false,
  ): Promise<ForgeAnswer> {
    const headers = { accept, ...more, ...(await authorize(call)) };
    const answer = await send({ ...request, url: `${address}${path}`, headers, caBundle, network }, call.signal);
    if (!asIfTaken(answer)) assertTaken(address, answer, call.purpose, Date.now());
    return answer;
  }

  return {
    address,
    async get(path, schema, call) {
      const answer = await ask({ method: 'GET' }, path, call);
      return { value: shaped(address, answer, schema), headers: answer.headers };
    },
    async isUnchanged(path, etag, call) {
      const isSame = ({ status }: ForgeAnswer) => status === 304;
      return isSame(await ask({ method: 'GET', headers: { 'if-none-match': etag } }, path, call, isSame));
    },
    send: (method, path, body, call, asIfTaken) => ask({ method, body }, path, call, asIfTaken),
  };
}

/** @throws ForgeError BadAnswer */
export function shaped<Schema extends TSchema>(address: string, answer: ForgeAnswer, schema: Schema): Static<Schema> {
  const value = json(address, answer);
  if (Check(schema, value)) return value;
  const [first] = Errors(schema, value);
  throw new ForgeError(
    'BadAnswer',
    `${address} does not answer as this type of forge does (${first?.instancePath || '/'} ${first?.message ?? 'differs'}): is forge.type right?`,
  );
}

function json(address: string, { body, cut }: ForgeAnswer): unknown {
  if (cut) throw new ForgeError('BadAnswer', `${address} answers with more than we read`);
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new ForgeError('BadAnswer', `${address} answers what is not JSON: is forge.apiURL its API?`, { cause });
  }
}
