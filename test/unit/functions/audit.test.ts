import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weaknessesIn } from '../../../functions/audit.ts';

const weakness = (name: string, severity: string) => ({
  source: 1,
  name,
  dependency: name,
  title: `weakness of ${name}`,
  url: 'https://github.com/advisories/GHSA-0',
  severity,
  range: '<2.0.0',
});

/** As npm 11 prints it (auditReportVersion 2): `via` holds weaknesses, and names of packages that have them. */
const report = {
  auditReportVersion: 2,
  vulnerabilities: {
    bundled: { name: 'bundled', severity: 'high', via: [weakness('bundled', 'high')], nodes: ['node_modules/bundled'] },
    'asks-for-it': { severity: 'high', via: ['bundled'], nodes: ['node_modules/asks-for-it'] },
    'test-only': { severity: 'critical', via: [weakness('test-only', 'critical')], nodes: ['node_modules/test-only'] },
    twice: {
      severity: 'low',
      via: [weakness('twice', 'low')],
      nodes: ['node_modules/test-only/node_modules/twice'],
    },
  },
  metadata: {},
};
const installed = {
  'node_modules/bundled': { version: '1.0.0' },
  'node_modules/asks-for-it': { version: '1.0.0' },
  'node_modules/test-only': { version: '1.0.0' },
  'node_modules/twice': { version: '2.0.0' },
  'node_modules/test-only/node_modules/twice': { version: '1.0.0' },
};

test('an audit tells the weaknesses of what is bundled, in the very version', () => {
  const bundled = new Set(['bundled@1.0.0', 'asks-for-it@1.0.0', 'twice@2.0.0']);
  const found = weaknessesIn(report, installed, bundled);
  assert.deepEqual(
    found.map(({ name, severity }) => [name, severity]),
    [['bundled', 'high']],
  );
  const older = weaknessesIn(report, installed, new Set(['twice@1.0.0']));
  assert.deepEqual(
    older.map(({ name }) => name),
    ['twice'],
  );
});

test('an audit that could not ask is no clean one', () => {
  for (const answer of [{ error: { code: 'ENOAUDIT' } }, null, [], 'x'])
    assert.throws(() => weaknessesIn(answer, installed, new Set()), /made no report/);
});
