/**
 * The core Kubernetes kinds that we build or read, narrowed to the fields that we use. A client library's are classes,
 * slow to import, and mutable. Objects from the API server carry more than is declared here: code that writes them back
 * must keep the rest.
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** What every object has. Items of a list may come without `apiVersion` and `kind`. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

/** `True`, `False` or `Unknown`, as Kubernetes writes it. */
export interface KubeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ResourceRequirements {
  readonly limits?: Readonly<Record<string, string | number>>;
  readonly requests?: Readonly<Record<string, string | number>>;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string };
    readonly resourceFieldRef?: { readonly resource: string; readonly containerName?: string };
  };
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number | string; readonly scheme?: 'HTTP' | 'HTTPS' };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
  readonly successThreshold?: number;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMount[];
  /** Of an init container: `Always` makes it a sidecar, which the next ones do not wait for. */
  readonly restartPolicy?: 'Always';
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

interface VolumeProjection {
  readonly secret?: { readonly name: string; readonly items: readonly KeyToPath[]; readonly optional?: boolean };
}

export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly configMap?: { readonly name?: string };
  readonly secret?: {
    readonly secretName?: string;
    readonly defaultMode?: number;
    readonly items?: readonly KeyToPath[];
  };
  readonly projected?: { readonly defaultMode?: number; readonly sources: readonly VolumeProjection[] };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly ephemeral?: Readonly<Record<string, unknown>>;
  readonly emptyDir?: Readonly<Record<string, unknown>>;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly runtimeClassName?: string;
  readonly schedulerName?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly priorityClassName?: string;
  readonly hostPID?: boolean;
  readonly hostNetwork?: boolean;
  /** Of the whole pod, as some Kubernetes clusters have it. */
  readonly resources?: ResourceRequirements;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly affinity?: Readonly<Record<string, unknown>>;
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
}

export interface PodTemplateSpec {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: ContainerStateTerminated;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** The one of the cluster's primary family. */
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly hostIP?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: string;
  readonly conditions?: readonly KubeCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly serviceName: string;
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly updateStrategy: { readonly type: 'OnDelete' | 'RollingUpdate' };
    readonly revisionHistoryLimit?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    /** Never ours. */
    readonly volumeClaimTemplates?: readonly unknown[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    /** With `OnDelete` the only one that moves: compare it with the pod's `controller-revision-hash`. */
    readonly updateRevision?: string;
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[];
    readonly resources: ResourceRequirements;
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
  readonly status?: {
    readonly phase?: 'Pending' | 'Bound' | 'Lost';
    readonly capacity?: Readonly<Record<string, string | number>>;
    /** Of a growth that is under way, or that can't be, like `NodeResizeInfeasible`. */
    readonly allocatedResourceStatuses?: Readonly<Record<string, string>>;
    readonly conditions?: readonly KubeCondition[];
  };
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly protocol?: string;
  readonly nodePort?: number;
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
    readonly publishNotReadyAddresses?: boolean;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly loadBalancerClass?: string;
    readonly loadBalancerSourceRanges?: readonly string[];
    readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  };
}

interface NetworkSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

/** As far as we write them: where pods connect to is not limited. */
export interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector: NetworkSelector;
    readonly policyTypes: readonly ['Ingress'];
    readonly ingress: readonly {
      readonly ports: readonly { readonly protocol: 'TCP'; readonly port: number | string }[];
      /** Absent: from everywhere. */
      readonly from?: readonly {
        readonly podSelector?: NetworkSelector;
        readonly namespaceSelector?: NetworkSelector;
        readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
      }[];
    }[];
  };
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly disruptionsAllowed?: number;
  };
}

interface JobSpec {
  readonly backoffLimit?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly suspend?: boolean;
  readonly template: {
    readonly metadata?: {
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec: PodSpec;
  };
}

export interface Job extends KubeObject {
  readonly spec: JobSpec;
  readonly status?: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly KubeCondition[];
  };
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly KubeCondition[];
    readonly nodeInfo?: { readonly bootID?: string };
  };
}

export interface NodeSelectorRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`; a later Kubernetes may know more. */
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface PersistentVolume extends KubeObject {
  readonly spec?: {
    readonly csi?: { readonly driver?: string; readonly volumeHandle?: string };
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } };
  };
}

/** `events.k8s.io/v1`. */
export interface Event extends KubeObject {
  readonly eventTime?: string;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly type?: 'Normal' | 'Warning';
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  /** kubelet and most controllers still record by the older API, which is shown here so. */
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly regarding?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}
