import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortened } from '../../../functions/checks/keep-report.ts';
import { reportMarkdown } from '../../../functions/checks/markdown.ts';
import { reportWith } from './reports.ts';

test('nothing that a stranger wrote is a link, a picture, a mention, HTML or a table of his own', () => {
  const evil = '![x](https://evil.example.com/?q) <img src=x onerror=alert(1)> @everybody | a | b\n# title\n`code` #1';
  const place = { file: evil, line: 1, column: 1, message: evil };
  const end = { kind: 'refused', reason: 'X', message: evil, cure: evil } as const;
  const planned = {
    summary: evil,
    risk: evil,
    rights: [{ who: evil, gains: evil, loses: evil }],
    steps: [{ action: 'a', target: evil, reason: 'r', message: evil }],
    end,
  };
  const text = reportMarkdown(
    reportWith({
      request: { number: '1', title: evil, url: 'https://evil.example.com', fork: true, draft: false },
      description: evil,
      targetBranch: evil,
      problems: [place],
      inherited: [place],
      warnings: [place],
      deletions: [{ namespace: 'n', name: 'm', kept: evil }],
      clusters: [{ namespace: 'n', name: evil, intent: 'update', fields: [evil], planned }],
    }),
  );
  for (const forbidden of [
    /(?<!\\)!\[/,
    /(?<!\\)<img/,
    /@everybody/,
    /https:\/\/evil/,
    /^# title/m,
    /(?<!\\)`code/,
    /(?<!\\)\]\(/,
  ])
    assert.doesNotMatch(text, forbidden);
  const rows = text.split('\n').filter((line) => line.startsWith('| 1 |'));
  assert.equal(rows[0]?.match(/(?<!\\)\|/g)?.length, 6, 'one row of five cells');
});

test('users of etcd for whom something changes stand in a table of what they gain and lose', () => {
  const planned = {
    summary: '1 step: users and roles',
    rights: [
      { who: 'user reader', gains: 'read /a/*' },
      { who: 'user old, which is deleted', loses: 'write /b' },
    ],
    steps: [],
    end: { kind: 'done', reason: 'Converged', message: 'all healthy' } as const,
  };
  const text = reportMarkdown(reportWith({ clusters: [{ namespace: 'n', name: 'm', intent: 'update', planned }] }));
  assert.ok(text.includes('| in etcd | gains | loses |\n|---|---|---|\n| user reader | read /a/\\* |  |\n'), text);
  assert.ok(text.includes('| user old, which is deleted |  | write /b |\n\n'), text);
});

test('a report is small enough to be kept, however many clusters and problems it is about', () => {
  const step = {
    action: 'restart-member',
    target: 'x'.repeat(60),
    reason: 'UpgradingMember',
    message: 'y'.repeat(200),
  };
  const planned = {
    summary: '',
    rights: Array(40).fill({ who: 'user a', gains: 'z'.repeat(1000), loses: 'z'.repeat(1000) }),
    steps: Array(250).fill(step),
    end: { kind: 'done', reason: '', message: '' } as const,
  };
  const clusters = Array.from({ length: 500 }, (_, n) => ({
    namespace: 'payments',
    name: `c${n}`,
    intent: 'update' as const,
    planned,
  }));
  const problem = { file: 'f'.repeat(1024), line: 1, column: 1, message: 'm'.repeat(2048) };
  const deletions = Array.from({ length: 5000 }, (_, n) => ({
    namespace: 'n'.repeat(63),
    name: `${n}`.repeat(50),
    kept: 'k'.repeat(200),
  }));
  for (const report of [
    reportWith({ clusters }),
    reportWith({ clusters, problems: Array(100).fill(problem), inherited: Array(100).fill(problem), deletions }),
  ]) {
    const short = shortened(report);
    assert.ok(short.shortened);
    assert.ok(Buffer.byteLength(JSON.stringify(short)) + Buffer.byteLength(reportMarkdown(short)) < 900_000);
  }
  const small = reportWith();
  assert.equal(shortened(small), small);
});
