import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { samples } from '../../unit/docs/samples.ts';
import {
  backup,
  badDocuments,
  changed,
  cluster,
  fleet,
  fullBackup,
  fullCluster,
  fullFleet,
  fullNodePolicy,
  fullRestore,
  fullSchedule,
  namedCluster,
  nodePolicy,
  peer,
  restore,
  schedule,
} from '../../unit/manifests/api-documents.ts';
import { shareApiServer } from '../shared-api-server.ts';

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

/** In this file's own namespace, which the documents do not know. */
function send(method: 'GET' | 'POST' | 'PUT', path: string, document?: object) {
  const { metadata } = (document ?? {}) as { readonly metadata?: { readonly namespace?: unknown } };
  const isNamespaced = metadata?.namespace === 'default';
  const placed = isNamespaced ? { ...document, metadata: { ...metadata, namespace: api.namespace } } : document;
  return api.send(method, path, placed);
}

const plural = {
  EtcdCluster: 'etcdclusters',
  EtcdFleet: 'etcdfleets',
  EtcdPeer: 'etcdpeers',
  EtcdBackup: 'etcdbackups',
  EtcdBackupSchedule: 'etcdbackupschedules',
  EtcdRestore: 'etcdrestores',
  EtcdNodePolicy: 'etcdnodepolicies',
};

function pathOf(kind: keyof typeof plural, name = ''): string {
  const place = kind === 'EtcdNodePolicy' ? '' : `namespaces/${api.namespace}/`;
  return `/apis/etcd.ratchet.dev/v1alpha1/${place}${plural[kind]}${name && `/${name}`}`;
}

const good = {
  cluster,
  fullCluster,
  namedCluster,
  fleet,
  fullFleet,
  peer,
  backup,
  fullBackup,
  schedule,
  fullSchedule,
  restore,
  fullRestore,
  nodePolicy,
  fullNodePolicy,
};
for (const [name, document] of Object.entries(good)) {
  test(`the API server takes the good ${name}`, async () => {
    const { status, body } = await send('POST', `${pathOf(document.kind)}?dryRun=All`, document);
    assert.equal(status, 201, body.message);
  });
}

for (const [file, sample] of samples) {
  test(`the API server takes the sample ${file}`, async () => {
    const { kind, metadata } = sample as { readonly kind: keyof typeof plural; readonly metadata: object };
    const document = { ...(sample as object), metadata: { ...metadata, namespace: 'default' } };
    const { status, body } = await send('POST', `${pathOf(kind)}?dryRun=All`, document);
    assert.equal(status, 201, body.message);
  });
}

for (const { title, document, server } of badDocuments) {
  test(`API server and offline validator agree: ${title}`, async () => {
    assert.notDeepEqual(validateDocument(document), []);
    const { kind } = document as { kind: keyof typeof plural };
    const { status, body } = await send('POST', `${pathOf(kind)}?dryRun=All`, document);
    assert.equal(status >= 400 && status < 500 ? 'refuses' : 'later', server, body.message ?? 'it was taken');
    // A rule that fails to evaluate refuses too, but tells a person nothing.
    assert.doesNotMatch(body.message ?? '', /failed rule|no such overload|no such key|evaluat/);
  });
}

test('where a rule refuses, the API server says what the validator says', async () => {
  const { body } = await send(
    'POST',
    `${pathOf('EtcdCluster')}?dryRun=All`,
    changed(cluster, 'spec/tls', { mode: 'CertManager' }),
  );
  const [problem] = validateDocument(changed(cluster, 'spec/tls', { mode: 'CertManager' }));
  assert.ok(problem && body.message?.includes(problem.message), body.message);
});

test('the API server writes only those defaults into objects that we fill in offline', async () => {
  const stored = await send('POST', `${pathOf('EtcdCluster')}?dryRun=All`, cluster);
  assert.deepEqual(stored.body.spec, withDefaults(cluster).spec);
  const storedFleet = await send('POST', `${pathOf('EtcdFleet')}?dryRun=All`, fleet);
  assert.deepEqual(storedFleet.body.spec, { ...fleet.spec, suspend: false });
});

for (const document of [cluster, fleet, peer, backup]) {
  test(`a new ${document.kind} is not yet observed`, async () => {
    const { body } = await send('POST', `${pathOf(document.kind)}?dryRun=All`, document);
    assert.deepEqual(body.status, { observedGeneration: -1 });
  });
}

test('what is decided at birth may change before there is a cluster, and not after', async () => {
  const named = changed(cluster, 'metadata/name', 'born');
  const path = pathOf('EtcdCluster', 'born');
  const put = async (field: string, value: unknown) => {
    const { body } = await send('GET', path);
    return await send('PUT', path, changed(body, field, value));
  };
  assert.equal((await send('POST', pathOf('EtcdCluster'), named)).status, 201);
  assert.equal((await put('spec/storage/size', '4Gi')).status, 200);
  const { body } = await send('GET', path);
  const born = changed(body, 'status', { observedGeneration: 1, clusterID: 'cafe' });
  assert.equal((await send('PUT', `${path}/status`, born)).status, 200);

  const moded = await put('spec/tls', { mode: 'Disabled' });
  assert.match(moded.body.message ?? '', /tls.mode is decided at birth/);
  // Whether a smaller size can be had the volumes tell: `git revert` of one that they never got must be taken.
  assert.equal((await put('spec/storage/size', '5Gi')).status, 200);
  assert.equal((await put('spec/storage/size', '4Gi')).status, 200);
  assert.equal((await put('spec/storage/storageClassName', 'fast')).status, 200);
});

test('names that let certificates in may come later, and stay, and clients come and go', async () => {
  const path = pathOf('EtcdCluster', 'named');
  const put = async (field: string, value: unknown) => {
    const { body } = await send('GET', path);
    return await send('PUT', path, changed(body, field, value));
  };
  assert.equal(
    (await send('POST', pathOf('EtcdCluster'), changed(namedCluster, 'metadata/name', 'named'))).status,
    201,
  );
  const { body } = await send('GET', path);
  const born = { observedGeneration: 1, clusterID: 'cafe' };
  assert.equal((await send('PUT', `${path}/status`, changed(body, 'status', born))).status, 200);

  const { issuerRef } = namedCluster.spec.tls?.certManager ?? assert.fail();
  const opened = await put('spec/tls/certManager', { issuerRef, peerIssuerRef: issuerRef });
  assert.match(opened.body.message ?? '', /allowedNames Own is for life/);
  assert.equal((await put('spec/tls/certManager/clientNames', ['b.example.com'])).status, 200);
  // As the reconciler refuses it, after objects were created anew: then the way back is open.
  const found = await send('GET', path);
  const refusals = [{ reason: 'TlsModeRefused', message: 'it was born otherwise' }];
  assert.equal((await send('PUT', `${path}/status`, changed(found.body, 'status', { ...born, refusals }))).status, 200);
  assert.equal((await put('spec/tls/certManager', { issuerRef, peerIssuerRef: issuerRef })).status, 200);
  // A person is asked before members take them: until then the spec may go back.
  assert.equal((await put('spec/tls/certManager', { issuerRef, allowedNames: 'Own' })).status, 200);
  const asking = await send('GET', path);
  const asked = { ...born, refusals: [{ reason: 'NamesNotApproved', message: 'a person is asked' }] };
  assert.equal((await send('PUT', `${path}/status`, changed(asking.body, 'status', asked))).status, 200);
  assert.equal((await put('spec/tls/certManager', { issuerRef, peerIssuerRef: issuerRef })).status, 200);
});

test('what is taken over stays in the spec while the status says that its members vote', async () => {
  const existing = { clusterID: 'cafe', memberIDs: ['a1', 'a2', 'a3'], podLabels: { app: 'old' } };
  const named = changed(changed(cluster, 'metadata/name', 'adopts'), 'spec/bootstrap', { existing });
  const path = pathOf('EtcdCluster', 'adopts');
  const put = async (bootstrap: object) => {
    const { body } = await send('GET', path);
    return await send('PUT', path, changed(body, 'spec/bootstrap', bootstrap));
  };
  const told = async (status: object) => {
    const { body } = await send('GET', path);
    assert.equal((await send('PUT', `${path}/status`, changed(body, 'status', status))).status, 200);
  };
  assert.equal((await send('POST', pathOf('EtcdCluster'), named)).status, 201);
  assert.equal((await put({})).status, 200, 'nothing has joined');
  assert.equal((await put({ existing })).status, 200);
  await told({ observedGeneration: 1, existing });
  for (const bootstrap of [
    {},
    { existing: { ...existing, clusterID: 'beef' } },
    { existing: { ...existing, memberIDs: ['a1', 'a3'] } },
  ]) {
    const refused = await put(bootstrap);
    assert.equal(refused.status, 422, JSON.stringify(bootstrap));
    assert.match(
      refused.body.message ?? '',
      /spec\.bootstrap\.existing: Invalid value: .*while members of that cluster/s,
    );
  }
  const moved = { ...existing, podLabels: { app: 'moved' }, memberIDs: ['a3', 'a2', 'a1', 'a4'] };
  assert.equal((await put({ existing: moved })).status, 200);
  // The rule is of the change: a status that is restored later judges no spec that has lost the field already.
  await told({ observedGeneration: 1 });
  assert.equal((await put({})).status, 200, 'they have left');
  await told({ observedGeneration: 1, existing });
  const { body } = await send('GET', path);
  assert.equal((await send('PUT', path, changed(body, 'spec/replicas', 5))).status, 200);
});

test("a peer's identity is for life", async () => {
  const named = changed(changed(peer, 'metadata/name', 'life-0'), 'spec/clusterName', 'life');
  assert.equal((await send('POST', pathOf('EtcdPeer'), named)).status, 201);
  const path = pathOf('EtcdPeer', 'life-0');
  const { body } = await send('GET', path);
  const refused = await send('PUT', path, changed(body, 'spec/ordinal', 1));
  assert.match(refused.body.message ?? '', /never change/);
});

test('a backup is taken once: its spec never changes', async () => {
  assert.equal((await send('POST', pathOf('EtcdBackup'), changed(backup, 'metadata/name', 'once'))).status, 201);
  const path = pathOf('EtcdBackup', 'once');
  const { body } = await send('GET', path);
  const refused = await send('PUT', path, changed(body, 'spec/to/object', 'pvc://others/{{uid}}.db'));
  assert.match(refused.body.message ?? '', /spec never changes: a backup is taken once/);
  assert.match(
    await api.kubectl(['get', 'ebk']),
    /^NAME +CLUSTER +READY +REASON +VERIFIED +SIZE +REVISION +TAKEN +AGE\nonce +orders/,
  );
});

test('a restore is done once: its spec never changes, and people see what it makes', async () => {
  await send('POST', pathOf('EtcdRestore'), restore);
  const path = pathOf('EtcdRestore', restore.metadata.name);
  const { body } = await send('GET', path);
  const other = changed(body as unknown as typeof restore, 'spec/backupName', 'orders-2');
  const { status, body: refused } = await send('PUT', path, other);
  assert.equal(status, 422);
  assert.match(refused.message ?? '', /a restore is done once; create another one/);
  assert.match(await api.kubectl(['get', 'etcdrestores']), /CLUSTER +SNAPSHOT +READY +REASON +AGE/);
});

test('people see of a schedule what is next, what was last, and what was last good', async () => {
  await send('POST', pathOf('EtcdBackupSchedule'), schedule);
  const path = pathOf('EtcdBackupSchedule', schedule.metadata.name);
  const { body } = await send('GET', path);
  const at = new Date(Date.now() - 3600_000).toISOString();
  const status: EtcdBackupSchedule['status'] = {
    observedGeneration: 1,
    nextAt: '2099-01-01T02:30:00Z',
    lastAt: at,
    lastGood: { name: 'orders-nightly-209812310230', object: 'pvc://backups/a.db', takenAt: at, verifiedAt: at },
  };
  const { status: code, body: answer } = await send('PUT', `${path}/status`, { ...body, status });
  assert.equal(code, 200, answer.message);
  assert.match(
    await api.kubectl(['get', 'etcdbackupschedules']),
    /^NAME +CLUSTER +SCHEDULE +SUSPEND +READY +LAST +LAST GOOD +NEXT +AGE\norders-nightly +orders +30 2 \* \* \* +false +6\dm +6\dm +2099-01-01T02:30:00Z/,
  );
});

test('people see members, version, leader and a word of why, and can scale', async () => {
  await send('POST', pathOf('EtcdCluster'), changed(cluster, 'metadata/name', 'seen'));
  const path = pathOf('EtcdCluster', 'seen');
  const { body } = await send('GET', path);
  const status: EtcdCluster['status'] = {
    observedGeneration: 1,
    clusterID: 'cafe',
    version: '3.6.16',
    leader: 'seen-1',
    replicas: 3,
    readyReplicas: 2,
    membersReady: '2/3',
    selector: 'etcd.ratchet.dev/cluster=seen',
    step: {
      action: 'seal-members',
      parameters: { kind: 'seal-members', peers: ['seen-0'], nested: { any: [1, { thing: true }] } },
      reason: 'Sealing',
      holder: { pod: 'p', uid: 'u' },
      startedAt: '2026-01-01T00:00:00Z',
      deadline: '2026-01-01T00:01:00Z',
    },
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'MemberDown',
        message: 'seen-2 is down',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  const stored = await send('PUT', `${path}/status`, { ...body, status });
  assert.deepEqual(stored.body.status, status);

  const table = await api.kubectl(['get', 'ec', 'seen']);
  assert.match(
    table,
    /^NAME +READY +REASON +MEMBERS +VERSION +LEADER +AGE\nseen +False +MemberDown +2\/3 +3\.6\.16 +seen-1 +\S+\n$/,
  );
  assert.match(await api.kubectl(['get', 'etcdc', 'seen', '-o', 'wide']), /CLUSTER ID.*\n.*cafe +seen-2 is down/);
  assert.match(await api.kubectl(['get', 'all']), /etcdcluster\.etcd\.ratchet\.dev\/seen/);

  await api.kubectl(['scale', 'ec', 'seen', '--replicas=5']);
  assert.equal(await api.kubectl(['get', 'ec', 'seen', '-o', 'jsonpath={.spec.replicas}']), '5');
  const { body: scale } = await send('GET', `${path}/scale`);
  assert.deepEqual(scale.status, { replicas: 3, selector: 'etcd.ratchet.dev/cluster=seen' });
});

test('fleets and peers are readable rows too, and explain themselves', async () => {
  assert.match(await api.kubectl(['explain', 'ec.spec.storage']), /It can grow, never shrink/);
  await send('POST', pathOf('EtcdFleet'), fleet);
  assert.match(
    await api.kubectl(['get', 'ef']),
    /^NAME +READY +REVISION +CLUSTERS +MESSAGE +LAST RUN +AGE\nproduction/,
  );
  await send('POST', pathOf('EtcdPeer'), peer);
  assert.match(
    await api.kubectl(['get', 'epeer', 'orders-0']),
    /^NAME +CLUSTER +ROLE +READY +VERSION +MEMBER ID +VOLUME +AGE\n/,
  );
});

test('a backup is a readable row: verified, size, revision, taken and age', async () => {
  const sample = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name: 'row', namespace: 'default' },
    spec: { clusterName: 'orders', to: { object: 'gs://backups/{{timestamp}}.db' } },
  };
  const path = `${pathOf('EtcdBackup')}/row`;
  const { body } = await send('POST', pathOf('EtcdBackup'), sample);
  const at = '2026-01-01T00:00:00Z';
  const ready = { type: 'Ready', status: 'True', reason: 'Verified', message: 'it is proven', lastTransitionTime: at };
  const status = {
    ...{ observedGeneration: 1, object: 'gs://backups/1.db', size: '5.5Mi', revision: 81_724, takenAt: at },
    verified: { at, revision: 81_724, etcdVersion: '3.6.16', took: '14s' },
    conditions: [ready],
  };
  const stored = await send('PUT', `${path}/status`, { ...(body as object), status });
  assert.equal(stored.status, 200, JSON.stringify(stored.body));
  assert.match(
    await api.kubectl(['get', 'etcdbackups', 'row']),
    /^NAME +CLUSTER +READY +REASON +VERIFIED +SIZE +REVISION +TAKEN +AGE\nrow +orders +True +Verified +\S+ +5\.5Mi +81724 +\S+ +\S+\n$/,
  );
});

test('kubectl explains each field of backups, schedules and restores', async () => {
  for (const [field, words] of [
    ['etcdbackups.spec.verify', /it is restored, started and compared with the member/],
    ['etcdbackups.status.revision', /Every write that was acknowledged/],
    ['etcdbackupschedules.spec.maxAge', /How old the newest good backup may be/],
    ['etcdbackupschedules.status.lastGood.clusterID', /As etcd prints it/],
    ['etcdrestores.spec.backupName', /An EtcdBackup of the same namespace.*It must be Ready/],
    ['etcdclusters.spec.rollback.backupName', /An EtcdBackup of the same namespace.*It must be Ready/],
  ] as const)
    assert.match((await api.kubectl(['explain', field])).replace(/\s+/g, ' '), words);
});

test('a flag that is reserved by now is refused in a new cluster, and copied to a new peer', async () => {
  const extraArgs = { 'pre-vote': 'false' };
  const reserved = changed(cluster, 'spec/etcd/extraArgs', extraArgs);
  const { status, body } = await send('POST', `${pathOf('EtcdCluster')}?dryRun=All`, reserved);
  assert.equal(status, 422, JSON.stringify(body));
  const copy = changed(
    changed(changed(peer, 'metadata/name', 'orders-7'), 'spec/ordinal', 7),
    'spec/etcd/extraArgs',
    extraArgs,
  );
  assert.deepEqual(validateDocument(copy), []);
  const made = await send('POST', `${pathOf('EtcdPeer')}?dryRun=All`, copy);
  assert.equal(made.status, 201, JSON.stringify(made.body));
});

test('a new cluster with a quota or a volume without room for the log is refused', async () => {
  const spec = (size: string, quota: string) => ({
    ...cluster,
    metadata: { ...cluster.metadata, name: 'tight' },
    spec: { ...cluster.spec, storage: { size }, etcd: { quotaBackendBytes: quota } },
  });
  const dryRun = `${pathOf('EtcdCluster')}?dryRun=All`;
  for (const [size, quota, expected] of [
    ['768Mi', '767Mi', 422],
    ['768Mi', '257Mi', 422],
    ['768Mi', '256Mi', 201],
    ['256Mi', '64Mi', 201],
    ['256Mi', '65Mi', 422],
    ['255Mi', '16Mi', 422],
  ] as const) {
    const { status, body } = await send('POST', dryRun, spec(size, quota));
    assert.equal(status, expected, `${quota} of ${size}: ${JSON.stringify(body)}`);
  }
});
