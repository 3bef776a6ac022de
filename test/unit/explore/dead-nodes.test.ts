import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadNodes } from '../../explore/dead-nodes.ts';
import { walkAtRandom } from '../../explore/random.ts';

/** Walks of a few seconds each; `npm run explore -- --scenario dies` searches all of them. */
const walks = 25;

for (const scenario of deadNodes) {
  test(`${scenario.name}: no wait is for ever`, () => {
    const { found } = walkAtRandom(walks, 13, { among: [scenario] });
    assert.equal(found, undefined, [found?.violation.message, ...(found?.story ?? [])].join('\n'));
  });
}
