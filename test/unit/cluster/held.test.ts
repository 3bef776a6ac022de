import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byData, type Held } from '../../../reconcile/cluster/know/recovery/held.ts';

const anew: Held = { index: 5n, revision: 10n, isSettled: true };

test('of two with one index, the further database is kept, also where the other may apply more', () => {
  const behind: Held = { index: 5n, revision: 9n, isSettled: false };
  assert.ok(byData(anew, behind) < 0 && byData(behind, anew) > 0);
});
