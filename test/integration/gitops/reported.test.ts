import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { test } from 'node:test';
import { gitReports, personalityNames } from '../../support/git/personalities.ts';
import { startGitServer } from '../../support/git/server.ts';
import type { GitReport, Traits } from '../../support/git/traits.ts';
import { inTime } from './scene.ts';

/** Each row of a server's reports is played: any client sees it, and does not see it at git's own server. */

interface Asked {
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Heard {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const token = 't0ken';
const basic = `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`;

function ask(url: string, { method, headers, body }: Asked = {}): Promise<Heard> {
  const { promise, resolve, reject } = Promise.withResolvers<Heard>();
  const sent = request(url, { method: method ?? 'GET', headers: headers ?? {}, signal: inTime() }, (answer) => {
    answer.toArray().then((chunks: Buffer[]) => {
      const text = Buffer.concat(chunks).toString('latin1');
      resolve({ status: answer.statusCode, headers: answer.headers, text });
    }, reject);
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

const refs = 'info/refs?service=git-upload-pack';

async function capabilities(url: string): Promise<readonly string[]> {
  const { text } = await ask(`${url}/${refs}`);
  return text.split('\0')[1]?.split('\n')[0]?.split(' ') ?? [];
}

function want(sha: string, can: string): Asked {
  const line = `want ${sha}${can}\n`;
  const packet = `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
  const headers = { 'content-type': 'application/x-git-upload-pack-request' };
  return { method: 'POST', headers, body: `${packet}00000009done\n` };
}

/** What a client hears of each trait. A new trait has a row, and all reports that play it are heard by it. */
const hear: { readonly [Trait in keyof Traits]-?: (url: string, sha: string) => Promise<unknown> } = {
  offers: capabilities,
  config: capabilities,
  version2: async (url) => {
    const { text } = await ask(`${url}/${refs}`, { headers: { 'git-protocol': 'version=2' } });
    return text.includes('version 2');
  },
  demands: async (url, sha) => (await ask(`${url}/git-upload-pack`, want(sha, ''))).status,
  isStrict: async (url, sha) => (await ask(`${url}/git-upload-pack`, want(sha, ' no-progress'))).text.includes('ERR'),
  leads: async (url, sha) => {
    const [list, commits] = [await ask(`${url}/${refs}`), await ask(`${url}/git-upload-pack`, want(sha, ''))];
    return [list.status, commits.status];
  },
  zips: async (url) => (await ask(`${url}/${refs}`)).headers['content-encoding'],
  takesTokens: async (url) => (await ask(`${url}/${refs}`, { headers: { authorization: basic } })).status,
};

/** By trait, as a client hears it. */
async function heard(traits: Traits, names: readonly (keyof Traits)[]) {
  await using server = await startGitServer({ traits, ...(names.includes('takesTokens') && { auth: { token } }) });
  const { url, commit } = await server.createRepository('r');
  const sha = await commit({ a: '1' });
  const all: Partial<Record<keyof Traits, unknown>> = {};
  for (const name of names) all[name] = await hear[name](url, sha);
  return all;
}

const ofTokens = { ...(await heard({}, ['takesTokens'])) };
const others = (Object.keys(hear) as (keyof Traits)[]).filter((name) => name !== 'takesTokens');
const own = { ...(await heard({}, others)), ...ofTokens };

for (const name of personalityNames) {
  for (const { does, plays } of gitReports[name] as readonly GitReport[]) {
    test(`${name} ${does}`, async () => {
      const traits = Object.keys(plays) as (keyof Traits)[];
      const played = await heard(plays, traits);
      for (const trait of traits) assert.notDeepEqual(played[trait], own[trait], trait);
    });
  }
}
