import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalsIn, renewalsIn, spellsOf } from '../../consumers/patroni/log.ts';

const log = `1764357000.123 INFO: no action. I am (pg-0), the leader with the lock
2026-11-28 19:10:01.000 UTC [42] LOG:  checkpoint starting: time
1764357010.456 INFO: no action. I am (pg-1), a secondary, and following a leader (pg-0)
1764357011.500 ERROR: Request to server https://a:2379 failed: MaxRetryError("Pool(host='a'): (Caused by NewConnectionError("refused: [Errno 111]"))")
1764357012.000 INFO: Lock owner: pg-0; I am pg-0
1764357020.789 INFO: no action. I am (pg-0), the leader with the lock
`;

test('of Patroni’s log, the renewals of its leader key are counted, and nothing of a secondary', () => {
  assert.deepEqual(renewalsIn(log), [1764357000.123, 1764357020.789]);
});

test('of Patroni’s log, requests that failed are told with their cause', () => {
  assert.deepEqual(refusalsIn(log), [{ at: 1764357011.5, why: 'NewConnectionError' }]);
});

test('the longest time without a renewal reaches from before the chapter up to now', () => {
  assert.deepEqual(spellsOf([10, 20, 33], { began: 15, now: 40 }), { count: 2, longest: 13 });
  assert.deepEqual(spellsOf([10, 20], { began: 21, now: 45 }), { count: 0, longest: 25 });
  assert.deepEqual(spellsOf([], { began: 21, now: 25 }), { count: 0, longest: 4 });
});
