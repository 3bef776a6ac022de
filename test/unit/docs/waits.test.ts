import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tutorials } from '../../support/docs/pages.ts';
import { read } from './pages.ts';

/** What a reader sees nothing of for a while. */
const waits = /kubectl .*\bwait --for|\bsleep \d|^etcdctl orders put/m;

/** The paragraph before each block of commands that waits, on a page. */
function sayingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .filter(([, commands = '']) => waits.test(commands) && !/\(\) \{/.test(commands))
    .map(({ index }) => text.slice(0, index).trimEnd().split('\n\n').at(-1) ?? '');
}

const said = /\busually\b.* \d+ s\b/;

for (const page of tutorials)
  test(`each wait of ${page} says how long it usually takes`, () => {
    const sayings = sayingsOf(read(page));
    assert.ok(sayings.length > 0);
    assert.deepEqual(
      sayings.filter((saying) => !said.test(saying.replaceAll('\n', ' '))),
      [],
    );
  });

test('a wait without a word about it is found', () => {
  const [saying = ''] = sayingsOf('# A\n\nNow do this:\n\n```sh\nkubectl wait --for=create pod/a\n```\n');
  assert.equal(saying, 'Now do this:');
  assert.doesNotMatch(saying, said);
});

test('no tutorial reads a status by JSONPath where the plugin shows it', () => {
  const paths = tutorials.flatMap((page) =>
    [...read(page).matchAll(/jsonpath='\{([^']*)\}'/g)].map(([, path]) => path),
  );
  // The phase of the reader's own pod, and a report in a ConfigMap: kubectl ratchet shows neither.
  assert.deepEqual(paths, ['.status.phase', String.raw`.data.report\.md`]);
});
