import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { Refusal } from '../../../reconcile/cluster/know/spec/refusal.ts';
import {
  all,
  type Differences,
  healthy,
  prepared,
  unborn,
  withInputs,
  without,
  withRecord,
  withVolume,
} from './observations.ts';

const refusals = (observation: Observation) => situate(observation).effective.refusals.map(({ reason }) => reason);

describe('what cannot be done', () => {
  test('a smaller volume is refused and the size stays', () => {
    const observation = healthy(3, { spec: { storage: { size: '512Mi' } } });
    assert.equal(situate(observation).effective.inputs.storage.size, '1Gi');
    assert.deepEqual(refusals(observation), ['VolumeShrinkRefused']);
  });

  test('an equal size in another spelling is no change', () => {
    assert.deepEqual(refusals(healthy(3, { spec: { storage: { size: '1024Mi' } } })), []);
  });

  test('a volume that was never bound may become smaller', () => {
    assert.deepEqual(refusals(prepared(3, { spec: { storage: { size: '512Mi' } } })), []);
  });

  test('another TLS mode is refused and the mode stays', () => {
    const observation = healthy(3, { spec: { tls: { mode: 'Managed' } } });
    assert.equal(situate(observation).effective.inputs.tls.mode, 'Disabled');
    assert.deepEqual(refusals(observation), ['TlsModeRefused']);
  });

  describe('other names that let certificates in', () => {
    const issuerRef = { name: 'company' };
    const spec = (names: object) => ({ tls: { mode: 'CertManager', certManager: { issuerRef, ...names } } as const });
    type Names = { readonly allowedNames?: 'Own'; readonly clientNames?: readonly string[] };
    const own = { allowedNames: 'Own', clientNames: ['a.b.example.com'] } as const;
    const recorded = ({ allowedNames }: Names) =>
      withRecord({ tlsMode: 'CertManager', ...(allowedNames && { allowedNames }) });
    const bornWith = (names: Names) => all(recorded(names), withInputs({ tls: { mode: 'CertManager', ...names } }));
    const refusedIn = ({ refusals: found }: { readonly refusals: readonly Refusal[] }) =>
      found.map(({ reason, field }) => [reason, field]);
    const names = ['TlsModeRefused', 'spec.tls.certManager.allowedNames'];

    test('are refused by the field, members keep theirs, and the mode is not refused beside', () => {
      for (const [born, asked, expected] of [
        [own, {}, own],
        [own, { allowedNames: 'Any' }, own],
      ] as const) {
        const { effective } = situate(healthy(3, { spec: spec(asked), every: bornWith(born) }));
        assert.deepEqual(effective.inputs.tls, { mode: 'CertManager', ...expected });
        assert.deepEqual(refusedIn(effective), [names]);
      }
    });

    test('take nothing along that only names make safe', () => {
      const { tls } = spec(own);
      const everyone = { tls: { ...tls, peerSourceAddress: 'Any' } } as const;
      const { effective } = situate(healthy(3, { spec: everyone, every: bornWith({}) }));
      const asked = [['NamesNotApproved', 'spec.tls.certManager.allowedNames']];
      assert.deepEqual([effective.inputs.tls, refusedIn(effective)], [{ mode: 'CertManager' }, asked]);
      const apart = {
        ...tls,
        certManager: { ...tls.certManager, peerIssuerRef: issuerRef },
        peerSourceAddress: 'Any',
      } as const;
      const kept = situate(healthy(3, { spec: { tls: apart }, every: bornWith({}) })).effective.inputs.tls;
      assert.deepEqual(kept, { mode: 'CertManager', peerSourceAddress: 'Any' });
    });

    test('of clients may change, and a refused mode takes none along', () => {
      const wider = { allowedNames: 'Own', clientNames: ['a.b.example.com', 'c.b.example.com'] } as const;
      const change = situate(healthy(3, { spec: spec(wider), every: bornWith(own) })).effective;
      assert.deepEqual([change.inputs.tls, change.refusals], [{ mode: 'CertManager', ...wider }, []]);
      const managed = healthy(3, { spec: { tls: { mode: 'Managed' } }, every: bornWith(own) });
      assert.deepEqual(situate(managed).effective.inputs.tls, { mode: 'CertManager', ...own });
    });

    test('are judged by the volumes, whatever became of the peers', () => {
      const { clientNames: _, ...alone } = own;
      for (const tls of [{ mode: 'Managed' }, spec({}).tls] as const) {
        const { effective } = situate(healthy(3, { spec: { tls }, every: all(recorded(own), without('peer')) }));
        assert.deepEqual(effective.inputs.tls, { mode: 'CertManager', ...alone });
        assert.equal(refusedIn(effective).length, 1);
      }
      const emptied = all(recorded(own), withInputs({ tls: { mode: 'CertManager' } }));
      const unread = { every: emptied, certificates: { kind: 'unread' } } as const;
      const kept = situate(healthy(3, { spec: spec(own), ...unread })).effective;
      assert.deepEqual([kept.inputs.tls, kept.refusals], [{ mode: 'CertManager', ...own }, []]);
      const refused = situate(healthy(3, { spec: spec({}), ...unread })).effective;
      assert.deepEqual(refused.inputs.tls, { mode: 'CertManager', ...alone });
    });

    test('stay on where one volume says so and a member has them, or where no member is left', () => {
      const some = { slots: { 2: recorded(own) } };
      const of = (spec: Partial<EtcdClusterSpec>, differences: Differences) =>
        situate(healthy(3, { spec, ...differences })).effective;
      const peers = { ...some, every: all(recorded({}), withInputs({ tls: { mode: 'CertManager', ...own } })) };
      for (const asked of [spec(own), spec({})]) assert.equal(of(asked, peers).inputs.tls.allowedNames, 'Own');
      const open = { ...some, every: bornWith({}) };
      for (const asked of [spec(own), spec({})]) assert.equal(of(asked, open).inputs.tls.allowedNames, undefined);
      const alone = { every: all(recorded({}), without('peer')), slots: { 2: all(recorded(own), without('peer')) } };
      const effective = of(spec({}), alone);
      assert.equal(effective.inputs.tls.allowedNames, 'Own');
      assert.deepEqual(refusedIn(effective), [names]);
    });

    test('that are refused still refuse clients that the spec lists', () => {
      const { tls } = spec({});
      const { effective } = situate(
        healthy(3, {
          spec: { tls: { ...tls, revokedClientSerials: ['0a'] } },
          shared: { revocations: { state: 'present' } },
          every: bornWith(own),
        }),
      );
      assert.equal(effective.inputs.tls.revocations, 'Listed');
    });
  });

  describe('another storage class', () => {
    const slow = withVolume({ storageClassName: 'slow' });
    const fast = { storage: { size: '1Gi', storageClassName: 'fast' } };

    test('is refused by name with both ways out, and lost members are replaced on the working one', () => {
      const { inputs, newStorage, refusals: found } = situate(healthy(3, { spec: fast, every: slow })).effective;
      assert.deepEqual([inputs.storage.storageClassName, newStorage.storageClassName], ['slow', 'fast']);
      assert.partialDeepStrictEqual(found, [{ reason: 'StorageClassRefused', field: 'spec.storage.storageClassName' }]);
      assert.match(
        found[0]?.message ?? '',
        /^orders-0, orders-1, orders-2: volumes of storage class slow,.* get fast$/,
      );
      assert.match(found[0]?.cure ?? '', /back to slow; or .*: kubectl -n shop delete pvc orders-0 --wait=false/);
    });

    test('that some members have by now is what a lost one is replaced on', () => {
      const moved = withVolume({ storageClassName: 'fast' });
      const { inputs, refusals: found } = situate(
        healthy(3, { spec: fast, every: slow, slots: { 0: moved } }),
      ).effective;
      assert.equal(inputs.storage.storageClassName, 'fast');
      assert.match(found[0]?.message ?? '', /^orders-1, orders-2: /);
    });

    test('is not refused where all have it, where none is named, and of a volume that left or goes', () => {
      for (const differences of [
        { spec: fast, every: withVolume({ storageClassName: 'fast' }) },
        { every: slow },
        { spec: fast, every: all(slow, withVolume({ leaving: true })) },
        { spec: fast, every: all(slow, withRecord({ state: 'released' })) },
      ])
        assert.deepEqual(refusals(healthy(3, differences)), []);
    });

    test('before birth is over is no refusal: a volume that was never bound is made anew', () => {
      assert.deepEqual(refusals(prepared(3, { spec: fast, every: slow })), []);
    });

    test('stops nothing else of the commit: volumes grow, members come', () => {
      const grows = { storage: { size: '2Gi', storageClassName: 'fast' } };
      assert.equal(decide(healthy(3, { spec: grows, every: slow })).reason, 'GrowingVolumes');
      const decision = decide(healthy(3, { spec: { ...fast, replicas: 5 }, every: slow }));
      assert.partialDeepStrictEqual(decision, {
        action: { kind: 'prepare-members', inputs: { storage: { storageClassName: 'fast' } } },
      });
      assert.equal(decide(healthy(3, { spec: fast, every: slow })).reason, 'StorageClassRefused');
    });
  });

  test('a PVC template that no PVC can follow any more is refused by name', () => {
    const volumeClaimTemplate = { spec: { accessModes: ['ReadWriteOncePod'] } };
    const observation = healthy(3, { spec: { storage: { size: '1Gi', volumeClaimTemplate } } });
    assert.deepEqual(refusals(observation), ['ClaimTemplateRefused']);
    assert.equal(situate(observation).effective.inputs.storage.volumeClaimTemplate, undefined);
    const labelled = { metadata: { labels: { tier: 'gold' } } };
    assert.deepEqual(refusals(healthy(3, { spec: { storage: { size: '1Gi', volumeClaimTemplate: labelled } } })), []);
  });

  test('a pod that is only ever deleted by force is refused, unless the members have it already', () => {
    const podTemplate = { spec: { terminationGracePeriodSeconds: 0 } };
    const isNew = healthy(3, { spec: { podTemplate } });
    assert.deepEqual(refusals(isNew), ['TemplateRefused']);
    assert.equal(situate(isNew).effective.inputs.podTemplate, undefined);
    assert.equal(decide(unborn(3, { spec: { podTemplate } })).reason, 'TemplateRefused');
    assert.deepEqual(refusals(healthy(3, { spec: { podTemplate }, every: withInputs({ podTemplate }) })), []);
    const patient = { spec: { terminationGracePeriodSeconds: 5 } };
    assert.deepEqual(refusals(healthy(3, { spec: { podTemplate: patient } })), []);
  });

  test('a resource that is created again keeps the rest of such a pod template', () => {
    const nodeSelector = { disk: 'fast' };
    const podTemplate = { spec: { nodeSelector, terminationGracePeriodSeconds: 0 } };
    const again = healthy(3, { spec: { podTemplate }, every: without('peer', 'statefulSet', 'pod') });
    assert.deepEqual(refusals(again), ['TemplateRefused']);
    assert.deepEqual(situate(again).effective.inputs.podTemplate, { spec: { nodeSelector } });
  });

  test('a quota that leaves the log no room is refused, and members keep theirs', () => {
    const spec = (quotaBackendBytes: string) => ({ etcd: { quotaBackendBytes } });
    const grown = healthy(3, { spec: spec('600Mi'), every: withInputs(spec('64Mi')) });
    assert.deepEqual(refusals(grown), ['QuotaRefused']);
    assert.equal(situate(grown).effective.inputs.etcd?.quotaBackendBytes, '64Mi');
    assert.match(situate(grown).effective.refusals[0]?.cure ?? '', /to 512Mi or less/);
    assert.deepEqual(refusals(healthy(3, { spec: spec('512Mi') })), []);
    assert.deepEqual(refusals(healthy(3, { spec: spec('600Mi'), every: withInputs(spec('600Mi')) })), []);
    assert.equal(decide(unborn(3, { spec: spec('600Mi') })).reason, 'QuotaRefused');
  });

  test('a flag that is reserved by now is named, and members are made without it', () => {
    const spec = { etcd: { extraArgs: { 'pre-vote': 'false' } } };
    const observation = healthy(3, { spec });
    assert.deepEqual(refusals(observation), ['FlagReserved']);
    const { message } = situate(observation).effective.refusals[0] ?? {};
    assert.match(message ?? '', /--pre-vote \(a member that comes back must not depose the leader\)/);
    assert.equal(decide(healthy(3, { spec: { ...spec, replicas: 5 } })).kind, 'act');
  });

  test('every refusal is named, not only the first', () => {
    const observation = healthy(3, { spec: { version: '3.5.35', storage: { size: '1Mi' }, tls: { mode: 'Managed' } } });
    assert.deepEqual(refusals(observation), ['DowngradeRefused', 'TlsModeRefused', 'VolumeShrinkRefused']);
  });
});

describe('the number of members', () => {
  for (const [what, observation, expected] of [
    ['unborn: as the spec says', unborn(5), 5],
    ['in birth: as recorded, whatever the spec says', prepared(3, { spec: { replicas: 5 } }), 3],
    ['in birth with one volume: as recorded', prepared(3, { gone: [1, 2] }), 3],
    ['born: as the spec says', healthy(3, { spec: { replicas: 1 } }), 1],
    ['born, and none are wanted: none', healthy(3, { spec: { replicas: 0 } }), 0],
  ] as const) {
    test(what, () => assert.equal(situate(observation).effective.replicas, expected));
  }
});
