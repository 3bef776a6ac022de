import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../functions/log.ts';
import { printable } from '../../../manifests/printable.ts';
import { markdownText } from '../../../reconcile/cluster/foresee/table.ts';

const hostile = 'a\u001b[2J\r\nfleet    other/one  Ready\u2028\u202egnp.yaml\u2066\u0007';

test('a file name can not draw on a terminal, begin a line, or turn what follows', async () => {
  const lines: string[] = [];
  const log = await createLog({ isTTY: true, fd: -1, write: (text) => lines.push(text) });
  log({ fleet: 'platform/production', problem: `${hostile}:1:1: is wrong` }, 'Git could not be read');
  const written = lines.join('');
  assert.match(written, /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*\n$/u);
  assert.match(written, /a\\u001b\[2J\\u000d\\u000afleet/);
  assert.equal(printable('clusters/prod/örders.yaml'), 'clusters/prod/örders.yaml');
});

for (const [what, text, safe] of [
  ['a direction is turned', 'a\u202eb\u2066c\u061c', 'a\ufffdb\ufffdc\ufffd'],
  ['an address becomes a link', 'see www.example.com', 'see www\u200b.example.com'],
  ['an entity becomes a mention', '&#64;team', '\\&\\#64;team'],
  ['a milestone is named', '%1 $2 ^3', '\\%1 \\$2 \\^3'],
] as const) {
  test(`in a comment no text of others does harm: ${what}`, () => assert.equal(markdownText(text), safe));
}
