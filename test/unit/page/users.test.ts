import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterConcerns } from '../../../functions/page/attention.ts';
import { planSteps } from '../../../functions/page/plan.ts';
import { clusterPlanText } from '../../../functions/tick/plan-output.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { cluster } from '../../support/page/scene.ts';

/** Users of etcd where a person looks. */

test('users that others made are told, and none where all are as asked', () => {
  const reasons = (status: 'True' | 'False', reason: string) => {
    const made = cluster('payments/ledger');
    const conditions = [{ type: 'AuthReady', status, reason, message: 'x', lastTransitionTime: '' }];
    return clusterConcerns({ ...made, status: { ...made.status, conditions } } as EtcdCluster).map((one) => one.reason);
  };
  assert.ok(reasons('False', 'UnlistedUsers').includes('UnlistedUsers'));
  assert.deepEqual(reasons('True', 'UsersAsAsked'), []);
});

test('a plan says who gains and who loses what, on the page and in a terminal, as text only', () => {
  const planned = {
    summary: '1 step: users and roles',
    rights: [
      { who: 'user reader', gains: 'read /<b>/*' },
      { who: 'user both', gains: 'read /a', loses: 'write /a' },
      { who: 'user idle, which is new' },
    ],
    steps: [],
    end: { kind: 'done', reason: 'Converged', message: 'all healthy' },
  } as const;
  const page = String(planSteps(planned));
  assert.ok(page.includes('<li><bdi>user reader</bdi> gains <bdi>read /&lt;b&gt;/*</bdi></li>'), page);
  assert.ok(page.includes('gains <bdi>read /a</bdi> and loses <bdi>write /a</bdi></li>'), page);
  const text = clusterPlanText({ namespace: 'payments', name: 'ledger', intent: 'update', planned });
  assert.ok(text.includes('  user reader: gains read /<b>/*\n'), text);
  assert.ok(text.includes('  user both: gains read /a; loses write /a\n'), text);
  assert.ok(text.includes('  user idle, which is new: has no rights\n'), text);
});
