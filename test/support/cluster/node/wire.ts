import type * as k8s from '@kubernetes/client-node';

/** The generated types describe decoded objects; on the wire every time is a string. */
type Wire<T> = T extends Date
  ? string
  : T extends (infer E)[]
    ? Wire<E>[]
    : T extends object
      ? { -readonly [K in keyof T]: Wire<T[K]> }
      : T;

/** What every object that was read from the API server has. */
export type Metadata = Wire<k8s.V1ObjectMeta> & { name: string; uid: string; resourceVersion: string };
type Named = { metadata: Metadata };
type Namespaced = { metadata: Metadata & { namespace: string } };

export type KubeObject = Named;
export type Pod = Wire<k8s.V1Pod> & Namespaced & { spec: Wire<k8s.V1PodSpec> };
export type PodStatus = Wire<k8s.V1PodStatus>;
export type PodCondition = Wire<k8s.V1PodCondition>;
export type Container = Wire<k8s.V1Container>;
export type ContainerStatus = Wire<k8s.V1ContainerStatus>;
export type ContainerState = Wire<k8s.V1ContainerState>;
export type Terminated = Wire<k8s.V1ContainerStateTerminated>;
export type Probe = Wire<k8s.V1Probe>;
export type HttpGet = Wire<k8s.V1HTTPGetAction>;
export type EnvVar = Wire<k8s.V1EnvVar>;
export type Volume = Wire<k8s.V1Volume>;
export type VolumeMount = Wire<k8s.V1VolumeMount>;
export type VolumeProjection = Wire<k8s.V1VolumeProjection>;
export type KeyToPath = Wire<k8s.V1KeyToPath>;
export type DownwardFile = Wire<k8s.V1DownwardAPIVolumeFile>;
export type ConfigMap = Wire<k8s.V1ConfigMap> & Namespaced;
export type Secret = Wire<k8s.V1Secret> & Namespaced;
export type Service = Wire<k8s.V1Service> & Namespaced;
export type EndpointSlice = Wire<k8s.V1EndpointSlice> & Namespaced;
export type Claim = Wire<k8s.V1PersistentVolumeClaim> & Namespaced;
export type PersistentVolume = Wire<k8s.V1PersistentVolume> & Named;
export type StorageClass = Wire<k8s.V1StorageClass> & Named;
export type Node = Wire<k8s.V1Node> & Named;

/** An API path of a namespaced core object. */
export function corePath(namespace: string, resource: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/${resource}/${encodeURIComponent(name)}`;
}

export function keyOf(object: { metadata: { namespace?: string; name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
