import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOf, exitCodes, type FailureReason, failures } from '../../../reconcile/jobs/failure.ts';

/** What a failure of the agent asks for, written down a second time: the controller goes by the word alone. */

const kinds = {
  retry: `Unreachable Stalled Deadline Stopped NoQuorum EtcdRefused CompactedMeanwhile TornSnapshot Locked Unexpected`,
  request: `InvalidRequest Superseded`,
  defect: `BadTrailer WrongDigest WrongRevision NotASnapshot CannotDecrypt NotRestorable Mismatch`,
  person: `OnlyLearners AnotherCluster Corrupt Forbidden PlainHttpRefused HostRefused ImageRefused NotTrusted
    NoSuchBucket WrongRegion Full Exists NotFound Changed StoreRefused TooMany NoKey NewerVersion RevisionTooHigh
    DataPresent NoRoomForTrial NoRoomForCopy NoData NotServed TrialFailed NodeTooOld`,
} as const;

for (const [kind, words] of Object.entries(kinds) as [keyof typeof kinds, string][])
  test(`each failure of the kind "${kind}" is told by an exit code of its own`, () => {
    const reasons = Object.keys(failures).filter((reason) => failures[reason as FailureReason] === kind);
    assert.deepEqual(reasons.toSorted(), words.split(/\s+/).toSorted());
    for (const reason of reasons) assert.equal(exitCodeOf(reason as FailureReason), exitCodes[kind]);
  });

test('exit codes are what the documents say', () => {
  assert.deepEqual(exitCodes, { done: 0, retry: 1, request: 2, person: 3, defect: 4 });
});
