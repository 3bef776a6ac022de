import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { PodTemplate } from '../../../../manifests/api/member-settings.ts';
import { imageDefaults } from '../../../../manifests/api/spec-defaults.ts';
import { type AllowLists, listRefusal, listVariables } from '../../../../manifests/egress/allow-lists.ts';
import { isRecord } from '../../../../manifests/json.ts';
import { records } from '../../../../manifests/render/pod-template-limits.ts';
import type { Refusal } from './refusal.ts';

/** What the admin of the installation allows authors of clusters: what members have, they keep. */

export interface Allowing {
  readonly lists: AllowLists | undefined;
  readonly namespace: string;
}

/** Whatever its version: that may be none, which is refused elsewhere. */
export function imageNotAllowed({ image }: EtcdClusterSpec, allowing: Allowing): Refusal | undefined {
  const { repository = imageDefaults.repository } = image ?? {};
  return notAllowed('images', repository, 'spec.image.repository', allowing);
}

/** The first of containers, and of volumes that are images. */
export function templateNotAllowed({ spec = {} }: PodTemplate, allowing: Allowing): Refusal | undefined {
  const ofContainers = ['containers', 'initContainers'].flatMap((field) =>
    records(spec, field).map(([{ image }, path]) => [image, `${path}.image`] as const),
  );
  const ofVolumes = records(spec, 'volumes').flatMap(([{ image }, path]) =>
    isRecord(image) ? [[image.reference, `${path}.image.reference`] as const] : [],
  );
  return [...ofContainers, ...ofVolumes].flatMap(([image, path]) =>
    typeof image === 'string' ? (notAllowed('images', image, `spec.podTemplate.${path}`, allowing) ?? []) : [],
  )[0];
}

/** A Service of type ClusterIP opens nothing outside, and needs no word. */
export function serviceNotAllowed({ service }: EtcdClusterSpec, allowing: Allowing): Refusal | undefined {
  if (!service) return undefined;
  const { type, annotations = {} } = service;
  const ofType = type === 'ClusterIP' ? undefined : notAllowed('serviceTypes', type, 'spec.service.type', allowing);
  const field = 'spec.service.annotations';
  return (
    ofType ?? Object.keys(annotations).flatMap((key) => notAllowed('serviceAnnotations', key, field, allowing) ?? [])[0]
  );
}

function notAllowed(
  list: keyof AllowLists,
  name: string,
  field: string,
  { lists, namespace }: Allowing,
): Refusal | undefined {
  const problem = listRefusal(lists, list, name, namespace);
  if (problem === undefined) return undefined;
  return {
    reason: 'NotAllowed',
    message: `${field}: ${problem}: what this cluster has already stays as it is`,
    cure: `name another one, or have the admin of the installation list it in ${listVariables[list]}`,
    field,
  };
}
