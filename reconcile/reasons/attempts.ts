import { type Meaning, step } from './meaning.ts';

/** How an attempt ended: reasons of the API server, of etcd, and of etcd-ratchet. */

const triedAgain =
  'nothing: a step failed for a cause that may pass, and is retried; if it lasts, see the message ([runbook](docs/runbooks/kubernetes-refuses.md#a-step-is-retried))';
const refusedForGood =
  'the API server refused an action: the message names it, and the cure. Steps that do not depend on it continue ([runbook](docs/runbooks/kubernetes-refuses.md#the-api-server-refuses-an-action))';
const mayPass = (means: string): Meaning => ({ means, cure: triedAgain });
const forGood = (means: string): Meaning => ({ means, cure: refusedForGood });

/** What an API server answers (metav1.StatusReason), and what stands for no answer. */
export const ofTheApiServer = {
  Forbidden: forGood('The API server forbids the request: RBAC, a quota or an admission policy.'),
  NotFound: forGood('The API server does not have the object, or does not serve its kind.'),
  Invalid: forGood('The API server rejects the object as invalid.'),
  BadRequest: forGood('The API server cannot parse the request.'),
  MethodNotAllowed: forGood('The API server does not allow this verb on that kind.'),
  NotAcceptable: forGood('The API server cannot answer in the requested format.'),
  UnsupportedMediaType: forGood('The API server does not accept the format that was sent.'),
  RequestEntityTooLarge: forGood('The object is too large for the API server.'),
  Unauthorized: forGood('The API server does not accept the token.'),
  NoCredentials: {
    means: 'There is no token for the API server.',
    cure: 'give etcd-ratchet a kubeconfig, or run it in a pod whose service account token is mounted ([runbook](docs/runbooks/kubernetes-refuses.md#the-api-server-refuses-an-action))',
  },
  AlreadyExists: mayPass('An object of that name exists already.'),
  Conflict: mayPass('Another writer changed the object first.'),
  Gone: mayPass('The requested resource version is no longer kept.'),
  TooManyRequests: mayPass('The API server or etcd limits requests, or a disruption budget refuses the eviction.'),
  ServerTimeout: mayPass('The API server did not finish in time.'),
  Timeout: mayPass('No answer came in time.'),
  InternalError: mayPass('The API server reports an internal error.'),
  ServiceUnavailable: mayPass('The API server is unavailable.'),
  StorageReadError: mayPass('The API server cannot read its storage.'),
  Unreachable: mayPass('The API server cannot be reached.'),
  BadAnswer: mayPass('The answer cannot be used.'),
  TooLarge: mayPass('The answer is larger than a pass has memory for.'),
  ApiServerRefused: forGood('The API server refused, with a reason that Kubernetes does not define.'),
} as const satisfies Record<string, Meaning>;

/** Refusals of etcd (rpctypes), and calls that are not even sent. */
const ofEtcd = {
  TooManyLearners: mayPass('etcd has a learner already.'),
  UnhealthyCluster: mayPass('etcd does not change the member list while some members do not answer.'),
  PeerUrlExists: mayPass('A member has that peer URL already.'),
  MemberIdExists: mayPass('A member has that ID already.'),
  BadUrls: mayPass('etcd does not accept the peer URL.'),
  NotEnoughStarted: mayPass('Too few members have started for etcd to change the member list.'),
  NotInSync: mayPass('The learner is not in sync with the leader yet.'),
  NotALearner: mayPass('The member is a voter already.'),
  MemberNotFound: mayPass('The member is not on the member list any more.'),
  NotLeader: mayPass('The member that was asked is no longer the leader.'),
  BadTransferee: mayPass('The chosen member cannot become leader.'),
  NotSupportedByLearner: mayPass('The call needs a voter, and a learner was asked.'),
  ClusterIdMismatch: mayPass('Another etcd cluster answered than the one that was meant.'),
  Compacted: mayPass('The revision is compacted away already.'),
  FutureRevision: mayPass('The member does not have that revision yet.'),
  CorruptCluster: mayPass('etcd has raised the alarm CORRUPT.'),
  PermissionDenied: mayPass('etcd denies permission.'),
  UserNeeded: mayPass('etcd authentication is on, and etcd-ratchet has no user.'),
  UserExists: mayPass('etcd has a user of that name already.'),
  NoSuchUser: mayPass('etcd has no user of that name.'),
  RoleExists: mayPass('etcd has a role of that name already.'),
  NoSuchRole: mayPass('etcd has no role of that name.'),
  NotGranted: mayPass('The user does not have the role, or the role not the right, that is to be revoked.'),
  RootNeeded: mayPass('etcd authentication needs a user root with the role root.'),
  IsLeader: mayPass('Not sent: the member to be removed is the leader.'),
  AnotherMember: mayPass('Not sent: another member answers at that address.'),
  EtcdRefused: mayPass('etcd refused the call.'),
  EtcdDidNotAnswer: mayPass('etcd did not answer; the call may have taken effect.'),
  EtcdUnreachable: mayPass('etcd could not be reached; the call was not sent.'),
} as const satisfies Record<string, Meaning>;

export const attempts = {
  ...ofTheApiServer,
  ...ofEtcd,
  NoEtcdCredentials: {
    means: 'The Secret with the client certificate for etcd is missing, incomplete, or may not be read.',
    cure: 'the message names the Secret: put it back, or grant the service account of etcd-ratchet `get` on it ([runbook](docs/runbooks/certificates.md#the-secrets-cant-be-read))',
  },
  ProgressingWithRetry: mayPass('A step failed, and is retried.'),
  StepFailed: mayPass('The cluster could not be observed.'),
  NamespaceLeftOut: {
    means: 'The objects of its namespace take more memory than a pass has for them beside those of other namespaces.',
    cure: 'delete what etcd-ratchet did not make there and that bears its label, or give the CronJob more memory ([runbook](docs/runbooks/kubernetes-refuses.md#a-namespace-is-left-out))',
  },
  AskedAlone: {
    means:
      'A pass ended without a word, as for want of memory, while its members were asked: it is asked last, and alone.',
    cure: 'see what its members run and answer, and the logs of the pod that ended ([runbook](docs/runbooks/kubernetes-refuses.md#a-pass-ends-without-a-word))',
  },
  Unexpected: mayPass('A step failed with an error that has no reason of its own yet.'),
  ClaimEnded: mayPass('The time of the step ended before the step was done.'),
  WorldMoved: step('The object changed since it was observed: the next step observes it again.'),
  OfAnotherRelease: step('Another release of etcd-ratchet wrote this reason; the message says what it means.'),
} as const satisfies Record<string, Meaning>;
