import type { EtcdCluster } from '../api/etcd-cluster.ts';
import type { ConfigMap } from '../kube-types.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labelsOf, revocationsKey, revocationsName } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/**
 * What members refuse as clients, in the form in which etcd reads it at each connection. One for all members, and none
 * of their Secrets: another list is no other certificate.
 * @param leftOut serial numbers that are in use (`plainSerial`): it says which
 */
export function revocations(cluster: EtcdCluster, leftOut: readonly string[] = []): ConfigMap {
  const { name, namespace, uid } = cluster.metadata;
  const listed = revokedSerials(cluster);
  const list = revocationList(
    name,
    listed.filter((serial) => !leftOut.includes(serial)),
  ).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: revocationsName(name),
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(name),
      annotations: {
        [annotations.inputsHash]: hashOf({ name, owner: uid, list }),
        [annotations.notRevoked]: leftOut.filter((serial) => listed.includes(serial)).join(' '),
      },
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    },
    binaryData: { [revocationsKey]: list },
  };
}

/** What a list says that it leaves out. */
export function leftOutOf({ metadata }: Pick<ConfigMap, 'metadata'>): readonly string[] {
  return (metadata.annotations?.[annotations.notRevoked] ?? '').split(' ').filter((serial) => serial !== '');
}

/** In the form of `CertificateFacts.serial`, each once. */
export function revokedSerials({ spec }: Pick<EtcdCluster, 'spec'>): readonly string[] {
  return [...new Set((spec.tls?.revokedClientSerials ?? []).map(plainSerial))].sort();
}

/** One spelling for each number: lower-case hexadecimal, in whole octets, and none that is zero before the others. */
export function plainSerial(serial: string): string {
  const digits = serial.replaceAll(':', '').toLowerCase();
  return digits.padStart(digits.length + (digits.length % 2), '0').replace(/^(?:00)+(?=..)/, '');
}

/**
 * A CertificateList of RFC 5280, in DER, which is all that etcd 3.6 and later read. Of it etcd takes the serial numbers
 * alone, and compares them with every certificate that a client shows: neither issuer nor times nor signature count
 * (client/pkg/transport, checkCRL). So it is not signed, and says so (RFC 9925); the API server guards it.
 */
function revocationList(cluster: string, serials: readonly string[]): Buffer {
  const unsigned = sequence(objectId);
  const entries = serials.map((serial) => sequence(integer(serial), someTime));
  const list = sequence(
    integer('01'),
    unsigned,
    nameOf(cluster),
    someTime,
    noEnd,
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  );
  return sequence(list, unsigned, tagged(0x03, Buffer.from([0])));
}

/** id-alg-unsigned, 1.3.6.1.5.5.7.6.36. */
const objectId = tagged(0x06, Buffer.from('2b0601050507', 'hex'), Buffer.from([6, 36]));
/** The same bytes for the same list. */
const someTime = tagged(0x17, Buffer.from('000101000000Z'));
/** A list must name its next one (RFC 5280, 5.1.2.5). */
const noEnd = tagged(0x18, Buffer.from('99991231235959Z'));

/** One CN. */
function nameOf(text: string): Buffer {
  const commonName = tagged(0x06, Buffer.from('550403', 'hex'));
  return sequence(tagged(0x31, sequence(commonName, tagged(0x0c, Buffer.from(text)))));
}

/** Positive, whatever its first bit. */
function integer(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex');
  return tagged(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 + bytes.length, ...bytes];
  return Buffer.concat([Buffer.from(head), content]);
}
