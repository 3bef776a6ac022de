import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { decideBackup } from '../../../reconcile/backup/decide.ts';
import { stateOfJob } from '../../../reconcile/backup/job-state.ts';
import { statementOf } from '../../../reconcile/backup/report.ts';
import type { BackupSituation, Trouble } from '../../../reconcile/backup/situation.ts';
import { at, backupWith, jobWith, object, podWith, serving } from './scene.ts';

/** A Job whose pod does not start: told at once, and Stalled with a cure after three minutes, or at once if refused. */

function saidOf(trouble: Omit<Trouble, 'since'>, seconds: number) {
  const since = new Date(at.getTime() - seconds * 1000).toISOString();
  const situation: BackupSituation = {
    backup: backupWith(),
    cluster: serving,
    attempt: { stage: 'Take', number: 1, begun: true },
    job: {
      name: 'j',
      uid: 'u',
      ours: true,
      leaving: false,
      object,
      startedAt: since,
      state: { kind: 'under-way', trouble: { ...trouble, since } },
    },
    at,
  };
  const decision = decideBackup(situation);
  assert.ok(decision.kind === 'wait');
  return { ...statementOf(situation, decision, { kind: 'none' }), afterSeconds: decision.afterSeconds };
}

for (const [code, cure] of [
  ['FailedMount', /To go on: make the Secret, ConfigMap, key or PersistentVolumeClaim that it names/],
  ['ImagePullBackOff', /To go on: see that the image exists/],
  ['Unschedulable', /To go on: make room on a node/],
  ['SomethingNew', /To go on: correct what it names/],
] as const) {
  test(`${code} is told at once, and asks for a person after three minutes`, () => {
    const trouble = { code, words: `${code}: in its own words` };
    const early = saidOf(trouble, 179);
    assert.deepEqual([early.course, early.reason], ['on-its-way', 'Taking']);
    assert.match(early.message, /in its own words$/);
    const late = saidOf(trouble, 180);
    assert.deepEqual([late.course, late.reason], ['stalled', 'PodNotStarting']);
    assert.match(late.message, /in its own words\. To go on: /);
    assert.match(late.message, cure);
  });
}

test('a pod that the API server refuses asks for a person at once', () => {
  const said = saidOf({ code: 'FailedCreate', words: 'exceeded quota' }, 1);
  assert.deepEqual([said.course, said.reason], ['stalled', 'PodNotStarting']);
  assert.match(said.message, /exceeded quota\. To go on: raise the quota/);
});

test('etcd that restarts on what was restored is no pod that does not start', () => {
  assert.equal(saidOf({ code: 'CrashLoopBackOff', words: 'x' }, 9000).course, 'on-its-way');
});

test('a container waits since the one before it ended, not since the pod was made', () => {
  const finishedAt = '2026-11-22T22:59:50Z';
  const made = { ...podWith([]).metadata, creationTimestamp: '2026-11-22T20:00:00Z' };
  const pod = (ended: boolean): Pod => ({
    ...podWith([]),
    metadata: made,
    status: {
      initContainerStatuses: [
        ...(ended
          ? [{ name: 'stage', ready: false, restartCount: 0, state: { terminated: { exitCode: 0, finishedAt } } }]
          : []),
        { name: 'restore', ready: false, restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } },
      ],
    },
  });
  const sinceOf = (ended: boolean) => {
    const state = stateOfJob(jobWith(), pod(ended));
    return state.kind === 'under-way' ? state.trouble?.since : undefined;
  };
  assert.equal(sinceOf(true), finishedAt);
  assert.equal(sinceOf(false), made.creationTimestamp);
});
