import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defectsOf } from '../../../reconcile/x509/judge.ts';
import { now, peerPlan } from './forge.ts';

/** A Secret for {@link peerPlan}, and the reasons of all its defects. */
export type Case = readonly [
  what: string,
  make: () => Promise<Readonly<Record<string, string>>>,
  expected: readonly string[],
  words?: RegExp,
];

export function judge(data: Readonly<Record<string, string>> | undefined) {
  return defectsOf({ data, plan: peerPlan, now });
}

export function testCases(cases: readonly Case[]): void {
  for (const [what, make, expected, words = /./] of cases) {
    test(`${what}: ${expected.join(', ') || 'no defect'}`, async () => {
      const defects = judge(await make());
      assert.deepEqual(
        defects.map(({ reason }) => reason),
        expected,
        JSON.stringify(defects),
      );
      for (const { message, reason, severity, cure } of defects) {
        assert.match(message, /^(tls\.crt|tls\.key|ca\.crt) of Secret c-0-peer-tls /);
        assert.equal(severity, reason === 'ExpiresSoon' ? 'warning' : 'fatal');
        assert.notEqual(cure, '');
      }
      assert.match(defects.map(({ message }) => message).join('\n') || '-', words);
    });
  }
}
