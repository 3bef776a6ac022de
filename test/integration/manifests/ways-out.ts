/** Pods by which the token of a tick could become more than that, and how each is refused. */

export type Fields = Record<string, unknown>;

export const pod = (fields: Fields = {}, container: Fields = {}): Fields => {
  const rights = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'a', image: 'registry.example.com/own', securityContext: rights, ...container }],
    ...fields,
  };
};
export const context = (fields: Fields) =>
  pod({}, { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, ...fields } });
export const job = (spec: Fields, where = 'payments', more: Fields = {}): Fields => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'own', namespace: where },
  spec: { template: { spec }, ...more },
});

export const volume = (source: Fields) => pod({ volumes: [{ name: 'v', ...source }] });
const mebibyte = { requests: { storage: '1Mi' } };
const claim = { accessModes: ['ReadWriteOnce'], resources: mebibyte };
const copied = { ...claim, dataSource: { kind: 'PersistentVolumeClaim', name: 'data' } };
const token = { serviceAccountToken: { path: 'token' } };
export const ofHost = /^403 .*with anything of its node/;
export const restricted = /^403 .*that Pod Security calls restricted/;
export const volumes = /^403 .*no pod with such a volume/;
export const noToken = /^403 .*with the token of a service account/;

/** Ways out by a pod, each in a Job and in a StatefulSet. */
export const pods: Readonly<Record<string, readonly [spec: Fields, says: RegExp]>> = {
  'a privileged container': [context({ privileged: true, allowPrivilegeEscalation: true }), restricted],
  'a privileged init container': [
    pod({ initContainers: [{ name: 'b', image: 'i', securityContext: { privileged: true } }] }),
    restricted,
  ],
  escalation: [context({ allowPrivilegeEscalation: true }), restricted],
  'escalation that is not denied': [pod({}, { securityContext: { capabilities: { drop: ['ALL'] } } }), restricted],
  'usual capabilities': [context({ capabilities: { drop: ['NET_RAW'] } }), restricted],
  'a capability': [context({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } }), restricted],
  'a capability that Pod Security allows': [
    context({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
    restricted,
  ],
  'an open /proc': [{ ...(context({ procMount: 'Unmasked' }) as Fields), hostUsers: false }, restricted],
  root: [context({ runAsUser: 0 }), restricted],
  'a user that may be root': [context({ runAsNonRoot: false }), restricted],
  'no word on users': [pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }), restricted],
  'root as the user of the pod': [
    pod({ securityContext: { runAsNonRoot: true, runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } } }),
    restricted,
  ],
  'no filter of system calls': [pod({ securityContext: { runAsNonRoot: true } }), restricted],
  'a filter that is lifted': [context({ seccompProfile: { type: 'Unconfined' } }), restricted],
  'AppArmor that is lifted': [context({ appArmorProfile: { type: 'Unconfined' } }), restricted],
  'a label of SELinux': [context({ seLinuxOptions: { type: 'spc_t' } }), restricted],
  sysctls: [
    pod({
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
        sysctls: [{ name: 'kernel.msgmax', value: '1' }],
      },
    }),
    restricted,
  ],
  'the network of its node': [pod({ hostNetwork: true }), ofHost],
  'the processes of its node': [pod({ hostPID: true }), ofHost],
  'the memory of its node': [pod({ hostIPC: true }), ofHost],
  'a port of its node': [pod({}, { ports: [{ containerPort: 80, hostPort: 80 }] }), ofHost],
  'a node by name': [pod({ nodeName: 'control-plane-1' }), ofHost],
  'a probe of another host': [pod({}, { lifecycle: { preStop: { httpGet: { port: 80, host: '10.0.0.1' } } } }), ofHost],
  'a path of its node': [volume({ hostPath: { path: '/' } }), volumes],
  'a driver of volumes': [volume({ csi: { driver: 'files.example.com' } }), volumes],
  'a network file system': [volume({ nfs: { server: 's', path: '/' } }), volumes],
  'a copy of a volume': [volume({ ephemeral: { volumeClaimTemplate: { spec: copied } } }), volumes],
  'a token as a volume': [volume({ projected: { sources: [token] } }), volumes],
  'the account of another': [pod({ serviceAccountName: 'admin', automountServiceAccountToken: true }), noToken],
  'the account of another, as it is by default': [
    (({ automountServiceAccountToken: _, ...rest }) => ({ ...rest, serviceAccountName: 'admin' }))(pod()),
    noToken,
  ],
  'a class of the system': [pod({ priorityClassName: 'system-node-critical' }), noToken],
};

const selector = { matchLabels: { a: 'b' } };
export const set = (spec: Fields): Fields => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'own', namespace: 'payments' },
  spec: {
    selector,
    serviceName: 'x',
    template: { metadata: { labels: selector.matchLabels }, spec: { ...spec, restartPolicy: 'Always' } },
  },
});
