import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ForgeError } from '../../../../gitops/forges/error.ts';
import { type Answer, startRecorder } from '../../../support/git/recorder.ts';
import { head, inTime, kinds, open } from './kinds.ts';

const runs = 150;

/** Where in a page something is: keys and indexes from the root. */
type Path = readonly (string | number)[];

function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, below]) => pathsIn(below, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

/** What a forge of this kind answers, with one thing in it turned into anything. */
function oddAnswers(page: unknown) {
  const odd = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '\u0000', head));
  const mutated = fc.tuple(fc.constantFrom(...pathsIn(page)), odd).map(([path, by]) => replaced(page, path, by));
  const body = fc.oneof(
    { weight: 6, arbitrary: mutated.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const status = fc.oneof({ weight: 8, arbitrary: fc.constant(200) }, fc.integer({ min: 200, max: 599 }));
  return fc.record({ body, status, type: fc.constantFrom('application/json', 'text/html', 'x') });
}

for (const kind of kinds) {
  test(`${kind.type}: any answer (${runs}) is open requests with harmless fields, or a clear error`, async () => {
    await using server = await startRecorder();
    const page = kind.page(
      [
        { number: 2, fork: true },
        { number: 1, draft: true },
      ],
      true,
    );
    await fc.assert(
      fc.asyncProperty(oddAnswers(page), async ({ body, status, type }) => {
        const answer: Answer = (_, response) => {
          response.writeHead(status === 304 ? 200 : status, { 'content-type': type }).end(body);
        };
        server.answerWith(answer);
        try {
          const { requests } = await open(kind, server.url).openRequests('main', inTime());
          for (const { number, title, url, headSha } of requests) {
            assert.match(number, /^[1-9]\d*$/);
            assert.doesNotMatch(title, /[\p{Cc}\u202a-\u202e]/u);
            assert.match(url, /^https?:/);
            assert.match(headSha, /^[0-9a-f]{40}$/);
          }
        } catch (error) {
          if (!(error instanceof ForgeError)) throw error;
          assert.doesNotMatch(error.message, /[\p{Cc}]/u);
          assert.ok(error.message.length < 600);
        }
      }),
      { numRuns: runs },
    );
  });
}
