export interface OnlyHere {
  /** What only real parts can show: a kubelet, an API server, etcd, a forge, or two processes at once. */
  readonly onlyHere: string;
  /**
   * 1: `npm test`. `turns`: a long life, of which `npm test` runs three by turns. 2: `npm test -- --all`, and by slices
   * in CI.
   */
  readonly ring: 1 | 2 | 'turns';
}

/** Why each story is told end to end, by the name of its file. A promise that no row needs belongs into a unit test. */
export const onlyHere = {
  adopt: {
    onlyHere: 'members of others hand over to ours under a writer, in plaintext and with TLS',
    ring: 2,
  },
  backup: {
    onlyHere: 'Jobs with the rights of an installation back up a live etcd to real stores, and prove it',
    ring: 1,
  },
  'backup-schedule': {
    onlyHere: 'files on a real disk are what an upgrade, a sleep, an end and a retention go by',
    ring: 2,
  },
  bootstrap: { onlyHere: 'a push becomes members of etcd that agree, and that survive the death of all pods', ring: 1 },
  bystanders: { onlyHere: 'kubelets and controllers keep the work of others as it is, beside all that we do', ring: 2 },
  'cert-manager': { onlyHere: 'etcd serves what an issuer renews, and follows another CA under load', ring: 2 },
  'cert-manager-controllers': { onlyHere: "cert-manager's own controllers understand what we ask of them", ring: 2 },
  chain: { onlyHere: 'Jobs that Kubernetes starts go on where an earlier Job ended', ring: 2 },
  'chain-recovery': { onlyHere: 'follow-up Jobs alone end a recovery, and outlive the loss of their network', ring: 2 },
  chart: { onlyHere: 'Helm installs, tests, upgrades and uninstalls a release beside live members', ring: 2 },
  checks: { onlyHere: 'what the API server says to a dry run is told at its line, and the plan comes true', ring: 2 },
  claims: { onlyHere: 'of two processes one gets the lease from the API server, also when one froze', ring: 2 },
  clients: {
    onlyHere: "etcd's own clients, Traefik's and Vitess' keep leases and watches while everything changes",
    ring: 2,
  },
  coredns: { onlyHere: 'CoreDNS answers from its etcd while everything about that changes', ring: 2 },
  corruption: { onlyHere: 'etcd finds bytes that changed on its disk, and raises its own alarm', ring: 2 },
  cures: { onlyHere: 'what scheduler, kubelet and provisioner say of a wrong spec is understood, and cured', ring: 2 },
  deaths: { onlyHere: 'a killed process leaves real objects half-made, and the next one finishes them', ring: 2 },
  'dedicated-nodes': { onlyHere: 'the scheduler places what we start for a cluster, past its taint', ring: 2 },
  drains: { onlyHere: 'the Eviction API answers by the disruption budget that we made', ring: 2 },
  events: { onlyHere: "the server's process lives on events alone, without a Job", ring: 2 },
  'external-clients': { onlyHere: 'a client outside connects by a node port, and verifies TLS in full', ring: 2 },
  families: { onlyHere: 'etcd connects and verifies its peers over IPv6', ring: 2 },
  faults: { onlyHere: 'a process ends in time, with its exit code, whatever Git, forge or API server do', ring: 2 },
  fleets: { onlyHere: 'real service accounts bound what a fleet may touch, and a stale writer is refused', ring: 2 },
  forge: {
    onlyHere: 'a forge of other people signs webhooks, takes statuses and shows a plan until its merge',
    ring: 1,
  },
  heal: { onlyHere: 'etcd replaces a member whose dead node never ends its pod, under a writer', ring: 1 },
  'held-up': { onlyHere: 'kubelet and admission say why pods do not start, and the birth goes on later', ring: 2 },
  'knative-real': {
    onlyHere: "Knative's own programs deliver, repeat, scale to zero and wake, with our manifests as they are",
    ring: 2,
  },
  'kube-apiserver': {
    onlyHere: 'the watch caches of an API server go on through whatever happens to its etcd',
    ring: 2,
  },
  'hostile-repositories': {
    onlyHere: "a container's memory limit holds while a tick reads what strangers committed",
    ring: 2,
  },
  injected: { onlyHere: 'admission puts containers into pods, and Jobs with them must end all the same', ring: 2 },
  labels: { onlyHere: 'controllers let go of objects whose labels a tool removed, and take them back', ring: 2 },
  'other-hands': {
    onlyHere: 'kubectl changes what the real controller makes pods from, and the API server defaults it',
    ring: 2,
  },
  'life-both': {
    onlyHere: 'members of three minors serve while a commit shrinks, upgrades and takes back',
    ring: 'turns',
  },
  'life-certificates': {
    onlyHere: 'peers of the old and the new CA join, leave and restart under a writer',
    ring: 'turns',
  },
  'life-losses': { onlyHere: 'etcd goes on through a lost disk and a removal by hand, and is upgraded', ring: 'turns' },
  'life-recovered': { onlyHere: 'what a forced recovery left behind grows and is upgraded', ring: 'turns' },
  'life-restored': { onlyHere: 'etcd lives on from a snapshot through every size and minor', ring: 'turns' },
  'life-rolled-back': {
    onlyHere: 'a cluster that went back grows, shrinks and is upgraded as any other does',
    ring: 'turns',
  },
  'life-sizes': { onlyHere: 'clients bear every change of size, and a sleep loses nothing', ring: 'turns' },
  'life-space': { onlyHere: 'alarms that etcd raised are gone for good, and it is upgraded after them', ring: 'turns' },
  'life-versions': {
    onlyHere: 'etcd of three minors and other options, each once, within the gap that clients bear',
    ring: 'turns',
  },
  memory: { onlyHere: 'the garbage collector takes what it should, and volumes bring a cluster back', ring: 2 },
  migrate: { onlyHere: 'the page leads from an etcd of others, with its users and alarms, to a cluster', ring: 2 },
  neighbours: {
    onlyHere: 'Jobs of one installation carry a birth and a healing to their end beside what another tenant does',
    ring: 2,
  },
  'node-policies': { onlyHere: 'RBAC lets a fleet write node policies only where it was let in', ring: 2 },
  'node-reboots': { onlyHere: 'machines restart one by one, and no client of three clusters notices', ring: 2 },
  'node-trouble': { onlyHere: 'a machine restarts once although every invocation about it dies', ring: 2 },
  'older-disk': { onlyHere: 'kubelet starts no etcd on a disk that came back older', ring: 2 },
  'out-of-memory': { onlyHere: 'the kernel kills etcd, and its volume is kept', ring: 2 },
  page: { onlyHere: "the page's own container serves what is live, and nothing else reaches it", ring: 2 },
  plugin: { onlyHere: 'the plugin foresees what then happens, from here and from a Job in the cluster', ring: 2 },
  playground: { onlyHere: 'a browser gets to the page and to the forge from outside the sandbox', ring: 2 },
  priority: { onlyHere: 'the admission of the API server makes a priority of our class', ring: 2 },
  prune: { onlyHere: 'a real repository breaks off in the middle, and the commands of the page confirm', ring: 2 },
  readme: { onlyHere: 'what the demo prints, and what its reader types, is as the page shows it', ring: 2 },
  recipes: { onlyHere: 'etcd lets in what the settings of other programs lead to, and nothing else', ring: 2 },
  receipts: { onlyHere: 'losses, commits and hands come between real steps, and the commit says which', ring: 2 },
  recover: { onlyHere: 'etcd forms a new cluster of what a survivor holds, and those left behind stay out', ring: 1 },
  restore: { onlyHere: 'etcdutl makes a cluster of a snapshot, also of one that another tool saved', ring: 2 },
  rollback: { onlyHere: 'clients keep Service, certificates and rising revisions when data go back', ring: 2 },
  rolling: { onlyHere: 'etcd restarts on other flags, leader last, within the gap that clients bear', ring: 2 },
  runbooks: { onlyHere: 'the commands of the runbooks end what they are about', ring: 2 },
  'runbooks-data': { onlyHere: 'the commands of the runbooks about disks and certificates end their reasons', ring: 2 },
  'runbooks-kinds': { onlyHere: 'the runbook of backups ends what keeps a real Job or store from working', ring: 2 },
  'runbooks-recovery': { onlyHere: 'the runbook of a lost quorum ends what gets in the way of a recovery', ring: 2 },
  scale: { onlyHere: 'members join and leave within the gap that clients bear', ring: 2 },
  seal: { onlyHere: 'etcd itself exits on a wiped disk, again and again, while the others serve', ring: 1 },
  'set-aside': { onlyHere: 'a storage class refuses to grow, and a member is healed beside that', ring: 2 },
  soak: { onlyHere: 'an etcd of the minor before joins under a leader of the next, and all members go back', ring: 2 },
  space: { onlyHere: 'files of etcd shrink when it is defragmented, within the gap that clients bear', ring: 2 },
  'storage-class': { onlyHere: 'a provisioner makes volumes of another class, one member after the other', ring: 2 },
  sweep: { onlyHere: 'a birth that a killed process left is finished under another spec', ring: 2 },
  'take-back': { onlyHere: 'the scheduler finds no room, and members that run go on when fewer are asked', ring: 2 },
  'tls-managed': { onlyHere: 'etcd lets in who has a certificate, and private keys are in Secrets alone', ring: 1 },
  'tls-provided': { onlyHere: 'etcd serves what a person wrote, as the page says, and is led to another CA', ring: 2 },
  'tls-rotation': { onlyHere: 'clients of the old and the new CA get in, on the wire, until all has expired', ring: 2 },
  trigger: { onlyHere: 'Jobs with the rights of an installation carry a push to its end, within a budget', ring: 1 },
  tutorials: { onlyHere: 'the commands of every tutorial do what the page says', ring: 2 },
  uninstall: { onlyHere: 'members go on without etcd-ratchet, and the page leaves nothing behind', ring: 2 },
  unkind: { onlyHere: 'nothing is lost on a kubelet that is as slow and late as real ones', ring: 2 },
  update: { onlyHere: 'another release of etcd-ratchet changes no pod of what it finds', ring: 2 },
  upgrade: { onlyHere: 'a quiet etcd of one takes the snapshot without which the next minor loses it', ring: 2 },
  webhook: { onlyHere: 'the installed server takes a delivery, and makes a Job with its own rights', ring: 2 },
} as const satisfies Readonly<Record<string, OnlyHere>>;
