import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseDuration } from '../../../manifests/api/duration.ts';
import { type EtcdClusterSpec, etcdClusterSpecSchema } from '../../../manifests/api/etcd-cluster.ts';
import { etcdPeerSpecSchema } from '../../../manifests/api/etcd-peer.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import {
  defragmentationDefaults,
  healingDefaults,
  imageDefaults,
  replacedDefaults,
  retentionDefaults,
  tlsDefaults,
} from '../../../manifests/api/spec-defaults.ts';
import { tlsSchema } from '../../../manifests/api/tls-settings.ts';
import { type ConfigurationInputs, inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { ofTheCertificates, ofTheCluster, peerInputs } from '../../../manifests/render/peer.ts';
import { clusterOf, peerOf } from './build-fixtures.ts';

const { spec: peer } = peerOf();
type ClusterTls = NonNullable<EtcdClusterSpec['tls']>;

/** Total, like the hash itself: a new field that is not tried here does not compile. */
const others: { readonly [K in keyof Required<ConfigurationInputs>]: ConfigurationInputs[K] } = {
  version: '3.6.99',
  image: { repository: 'registry.example.com/etcd' },
  etcd: { snapshotCount: 12_345 },
  tls: { mode: 'Disabled', trust: 'another' },
  resources: { limits: { memory: '3Gi' } },
  podTemplate: { metadata: { labels: { team: 'a' } } },
};

describe('what a member is made from', () => {
  for (const [field, value] of Object.entries(others)) {
    test(`another ${field} is another hash`, () => {
      assert.notEqual(inputsHash({ ...peer, [field]: value }), inputsHash(peer));
    });
  }

  test('the hash of the same wish is what it was: another release starts no member anew', () => {
    const {
      image,
      resources: _,
      ...spec
    } = { ...peer, etcd: { quotaBackendBytes: '2Gi' }, podTemplate: { metadata: {} } };
    assert.equal(inputsHash({ ...spec, image: { ...image } }), 'b563f2da87965cc1a200c788e6e94d9e');
  });

  test('every field of a peer is hashed, or changes under a running member, or never', () => {
    const notHashed = Object.keys(etcdPeerSpecSchema.properties).filter((field) => !Object.hasOwn(others, field));
    assert.deepEqual(notHashed, ['clusterName', 'ordinal', 'bootstrap', 'storage']);
  });

  test('every field of a cluster goes to its peers, or is read by a part of the reconciler', () => {
    const { spec } = clusterOf({ etcd: {}, resources: {}, podTemplate: {} });
    const known = { ...peerInputs(spec), ...ofTheCluster };
    assert.deepEqual(Object.keys(known).toSorted(), Object.keys(etcdClusterSpecSchema.properties).toSorted());
  });

  test('what only decides about certificates starts no member anew', () => {
    const ofMembers = ['mode', 'peerSourceAddress', 'revocations'];
    const fields = Object.keys(tlsSchema.properties).filter((field) => !ofMembers.includes(field));
    assert.deepEqual(Object.keys(ofTheCertificates).toSorted(), fields.toSorted());
    const longer = peerInputs(clusterOf({ tls: { mode: 'Managed', certificateLifetime: '4320h' } }).spec);
    assert.deepEqual(longer.tls, { mode: 'Managed' });
  });

  test('from where peers are taken is said to a member only where it is from everywhere', () => {
    const said = (tls: ClusterTls) => peerInputs(clusterOf({ tls }).spec).tls;
    assert.deepEqual(said({ peerSourceAddress: 'Verified' }), { mode: 'Managed' });
    assert.deepEqual(said({ peerSourceAddress: 'Any' }), { mode: 'Managed', peerSourceAddress: 'Any' });
    assert.deepEqual(said({ mode: 'Disabled', peerSourceAddress: 'Any' }), { mode: 'Disabled' });
  });

  test('a member is told the names that it lets in, whatever their order, where its mode has such', () => {
    const issuerRef = { name: 'company' };
    const said = (names: object, mode: 'CertManager' | 'Managed' = 'CertManager') =>
      peerInputs(clusterOf({ tls: { mode, certManager: { issuerRef, ...names } } }).spec).tls;
    const mode = 'CertManager';
    assert.deepEqual(said({ allowedNames: 'Any' }), { mode });
    assert.deepEqual(said({ allowedNames: 'Own' }), { mode, allowedNames: 'Own' });
    assert.deepEqual(said({ allowedNames: 'Own', clientNames: [] }), { mode, allowedNames: 'Own' });
    const two = { mode, allowedNames: 'Own', clientNames: ['a', 'b'] };
    assert.deepEqual(said({ allowedNames: 'Own', clientNames: ['b', 'a', 'b'] }), two);
    assert.deepEqual(said({ allowedNames: 'Own' }, 'Managed'), { mode: 'Managed' });
  });

  test('a member is told that there is a list of refused clients, and not what is in it', () => {
    const said = (tls: ClusterTls) => peerInputs(clusterOf({ tls }).spec).tls;
    assert.deepEqual(said({ revokedClientSerials: [] }), { mode: 'Managed', revocations: 'Listed' });
    assert.deepEqual(said({ revokedClientSerials: ['0A'] }), { mode: 'Managed', revocations: 'Listed' });
    assert.deepEqual(said({ mode: 'Disabled', revokedClientSerials: ['0A'] }), { mode: 'Disabled' });
  });
});

describe('a default is said once', () => {
  test('the API has the defaults that hold where no API server filled them in', () => {
    const defaultsOf = (...path: readonly string[]) => {
      let schema = definitions.EtcdCluster.spec;
      for (const name of path) schema = schema.properties?.[name] ?? assert.fail(name);
      const fields = Object.entries(schema.properties ?? {});
      return Object.fromEntries(
        fields.flatMap(([name, { default: value }]) => (typeof value === 'object' ? [] : [[name, value]])),
      );
    };
    assert.partialDeepStrictEqual(defaultsOf('volumeRetention'), retentionDefaults);
    assert.partialDeepStrictEqual(defaultsOf('volumeRetention', 'whenReplaced'), replacedDefaults);
    assert.partialDeepStrictEqual(defaultsOf('image'), imageDefaults);
    assert.partialDeepStrictEqual(defaultsOf('healing'), healingDefaults);
    assert.partialDeepStrictEqual(defaultsOf('defragmentation'), defragmentationDefaults);
  });

  test('the documents tell these defaults', () => {
    const pages = globSync(join(import.meta.dirname, '../../../docs/how-to/*.md'));
    const written = pages.map((page) => readFileSync(page, 'utf8')).join('\n');
    const minutes = (duration: string) => `${parseDuration(duration) / 60_000} minutes`;
    for (const told of [
      `\`spec.healing.memberGracePeriod\` (${minutes(healingDefaults.memberGracePeriod)})`,
      `\`podGracePeriod\` (${minutes(healingDefaults.podGracePeriod)})`,
      `\`rotationOverlap\` (${minutes(tlsDefaults.rotationOverlap)})`,
      `\`spec.defragmentation.minReclaim\` (${defragmentationDefaults.minReclaim})`,
      `\`maxUsedPercent\` (${defragmentationDefaults.maxUsedPercent})`,
    ]) {
      assert.ok(written.replaceAll(/\s+/g, ' ').includes(told), told);
    }
  });
});
