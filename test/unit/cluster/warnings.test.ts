import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { warningsIn } from '../../../reconcile/cluster/observe/warnings.ts';

const now = new Date('2026-01-02T03:04:05Z');
const pod = { object: 'pod', uid: 'pod-1' } as const;

function event(reason: string, seconds: number, more: object = {}): object {
  const deprecatedLastTimestamp = new Date(now.getTime() - seconds * 1000).toISOString();
  return { reason, note: `${reason}!`, type: 'Warning', deprecatedLastTimestamp, regarding: { uid: 'pod-1' }, ...more };
}

function reasons(...events: readonly unknown[]): readonly string[] {
  return warningsIn(events, pod, now).map(({ reason }) => reason);
}

describe('of the events of an object', () => {
  test('events of one code are one warning: first, last, count and the most frequent words', () => {
    const deprecatedFirstTimestamp = '2026-01-02T03:00:00Z';
    const events = [
      event('FailedMount', 10, { deprecatedCount: 2, note: 'rare' }),
      event('FailedMount', 60, { deprecatedCount: 7, deprecatedFirstTimestamp, note: 'frequent' }),
    ];
    assert.deepEqual(warningsIn(events, pod, now), [
      {
        ...pod,
        reason: 'FailedMount',
        message: 'frequent',
        since: new Date(deprecatedFirstTimestamp),
        at: new Date(now.getTime() - 10_000),
        count: 9,
      },
    ]);
  });

  test('one that the newer API wrote has its times and its number elsewhere', () => {
    const series = { count: 4, lastObservedTime: '2026-01-02T03:03:00.000001Z' };
    const newer = { reason: 'FailedMount', eventTime: '2026-01-02T03:01:00.5Z', series, regarding: { uid: 'pod-1' } };
    const [warning] = warningsIn([newer], pod, now);
    assert.partialDeepStrictEqual(warning, { count: 4, message: '', since: new Date('2026-01-02T03:01:00.5Z') });
    assert.equal(warning?.at.toISOString(), '2026-01-02T03:03:00.000Z');
  });

  for (const [what, expected, events] of [
    [
      'what failed, and has not succeeded since, counts',
      ['FailedMount'],
      [
        ['Scheduled', 90],
        ['FailedMount', 60],
      ],
    ],
    [
      'what has succeeded since is over',
      [],
      [
        ['FailedAttachVolume', 60],
        ['SuccessfulAttachVolume', 50],
      ],
    ],
    [
      'what succeeded before, and fails again, counts',
      ['FailedMount'],
      [
        ['Pulled', 60],
        ['FailedMount', 50],
      ],
    ],
    [
      'a volume that is attached may still not be mounted',
      ['FailedMount'],
      [
        ['SuccessfulAttachVolume', 40],
        ['FailedMount', 50],
      ],
    ],
    [
      'an image that is pulled has its volumes',
      [],
      [
        ['FailedMount', 60],
        ['FailedCreatePodSandBox', 55],
        ['Pulling', 50],
      ],
    ],
    [
      'codes that we don’t know are left out',
      [],
      [
        ['DNSConfigForming', 1],
        ['Unhealthy', 1],
        ['__proto__', 1],
        ['', 1],
      ],
    ],
    [
      'codes of another kind of object are left out',
      [],
      [
        ['FailedCreate', 1],
        ['ProvisioningFailed', 1],
      ],
    ],
  ] as const) {
    test(what, () => {
      assert.deepEqual(reasons(...events.map(([reason, seconds]) => event(reason, seconds))), expected);
    });
  }

  test('those of an earlier object of that name are left out', () => {
    assert.deepEqual(reasons(event('FailedMount', 1, { regarding: { uid: 'pod-0' } })), []);
  });
});

describe('the text of an event may be anything', () => {
  test('a huge message is cut, in one line, without what deceives', () => {
    const note = `a\u0000b\r\nc\u202edrowssap\u200b \ud800${'😀'.repeat(1_000_000)}`;
    const [warning] = warningsIn([event('FailedMount', 1, { note })], pod, now);
    assert.match(warning?.message ?? '', /^a b c drowssap 😀+…😀+$/u);
    assert.equal(Array.from(warning?.message ?? '').length, 241);
  });

  // What kubelet says of a pod whose memory limit is less than runc itself needs.
  test('of a long message the end is shown, where runtimes put the cause', () => {
    const cause = 'container init was OOM-killed (memory limit too low?)';
    const note = `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${cause}`;
    const [warning] = warningsIn([event('FailedCreatePodSandBox', 1, { note })], pod, now);
    assert.match(warning?.message ?? '', /^Failed to create pod sandbox: .*…/);
    assert.ok(warning?.message.endsWith(cause), warning?.message);
  });

  test('wrong types, and times that are none, are left out', () => {
    assert.deepEqual(reasons(null, 7, 'x', [], {}, event('FailedMount', 1, { reason: { toString: 'x' } })), []);
    assert.deepEqual(reasons(event('FailedMount', 1, { deprecatedLastTimestamp: 'soon' })), []);
    const [warning] = warningsIn([event('FailedMount', 1, { note: { a: 1 }, deprecatedCount: '9' })], pod, now);
    assert.partialDeepStrictEqual(warning, { message: '', count: 1 });
  });

  test('no time is in the future, and no number is beyond bounds', () => {
    const [warning] = warningsIn([event('FailedMount', -3600, { deprecatedCount: 1e300 })], pod, now);
    assert.partialDeepStrictEqual(warning, { at: now, count: 1_000_000 });
  });

  test('whatever it is, what comes of it is bounded and sound', () => {
    const anyEvent = fc.record(
      {
        reason: fc.oneof(fc.constantFrom('FailedMount', 'FailedAttachVolume', 'Pulled'), fc.anything()),
        note: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
        series: fc.anything(),
        deprecatedCount: fc.oneof(fc.integer(), fc.anything()),
        deprecatedLastTimestamp: fc.oneof(fc.date({ noInvalidDate: true }).map(String), fc.anything()),
        eventTime: fc.anything(),
        metadata: fc.anything(),
        regarding: fc.oneof(fc.constant({ uid: 'pod-1' }), fc.anything()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(anyEvent, fc.anything())), (events) => {
        const warnings = warningsIn(events, pod, now);
        assert.equal(new Set(warnings.map(({ reason }) => reason)).size, warnings.length);
        for (const { message, since, at, count } of warnings) {
          assert.ok(Array.from(message).length <= 241 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(message), message);
          assert.ok(since <= at && at <= now && Number.isInteger(count) && count > 0);
        }
      }),
    );
  });
});
