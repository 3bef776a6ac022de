import { BackupFailure } from '../../../jobs/failure.ts';
import { networkFailure } from '../transfer.ts';

export type Call = 'put' | 'read' | 'list' | 'stat' | 'delete';

export interface AzureCall {
  readonly place: string;
  readonly name: string;
  readonly call: Call;
}

/** Classified once. Without the client's error as cause: the request with its credentials hangs on it. */
export function azureFailure(error: unknown, { place, name, call }: AzureCall): unknown {
  if (error instanceof BackupFailure) return error;
  const at = `${place}/${name}`;
  const status = statusOf(error);
  const code = codeOf(error);
  const failed = (reason: BackupFailure['reason'], what: string, cure: string) =>
    new BackupFailure(reason, `${at}: ${what} (${[status, code].filter(Boolean).join(', ')}): ${cure}`);
  if (code === 'ContainerNotFound' || code === 'ContainerBeingDeleted' || (status === 404 && call === 'list'))
    return failed('NoSuchBucket', `there is no container ${place}`, 'create it, or correct its name');
  if (call === 'put' && taken.has(code))
    return failed(
      'Exists',
      'it exists already, and a backup replaces nothing',
      'choose another name, as by {{timestamp}}',
    );
  if (status === 412) return failed('Changed', 'it was replaced meanwhile', 'look at what else writes there');
  if (status === 404) return failed('NotFound', 'it is not there', 'look for its name in the status of the backup');
  if (status === 401 || status === 403)
    return failed(
      'Forbidden',
      `the store refuses to ${call}`,
      'see that the key is right, that a shared access signature has not expired and may read, create, write, delete and list, and that the firewall of the account lets this pod in',
    );
  if (status !== undefined && (status === 408 || status === 429 || status >= 500))
    return failed('Unreachable', `the store fails to ${call}, again and again`, 'try again later');
  if (status !== undefined && status >= 300)
    return failed(
      'StoreRefused',
      `the store refuses to ${call}`,
      'see that the endpoint is one of Azure Blob Storage, and that no policy of the container forbids it',
    );
  return networkFailure(error, place) ?? failed('Unreachable', 'the transfer broke off', 'try again');
}

/** Of a put. The last: another upload of the name was committed first, which drops the blocks of this one. */
const taken = new Set(['BlobAlreadyExists', 'ConditionNotMet', 'UnauthorizedBlobOverwrite', 'InvalidBlockList']);

/** Only the blob: without its container, an object that exists would count as deleted. */
export function isMissingBlob(error: unknown): boolean {
  return statusOf(error) === 404 && codeOf(error) !== 'ContainerNotFound';
}

function statusOf(error: unknown): number | undefined {
  const { statusCode } = Object(error) as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : undefined;
}

/** The header is there also where an answer has no body. */
function codeOf(error: unknown): string {
  const { code, response } = Object(error) as {
    readonly code?: unknown;
    readonly response?: { readonly headers?: { get(name: string): string | undefined } };
  };
  const found = response?.headers?.get('x-ms-error-code') ?? code;
  return typeof found === 'string' && known.has(found) ? found : '';
}

/** What Azure documents. No other word of an answer is repeated: the endpoint is the author's choice. */
const known = new Set([
  ...taken,
  'AccountBeingCreated',
  'AccountIsDisabled',
  'AuthenticationFailed',
  'AuthorizationFailure',
  'AuthorizationPermissionMismatch',
  'AuthorizationProtocolMismatch',
  'AuthorizationResourceTypeMismatch',
  'AuthorizationServiceMismatch',
  'AuthorizationSourceIPMismatch',
  'BlobArchived',
  'BlobBeingRehydrated',
  'BlobImmutableDueToPolicy',
  'BlobNotFound',
  'BlockCountExceedsLimit',
  'BlockListTooLong',
  'ContainerBeingDeleted',
  'ContainerDisabled',
  'ContainerNotFound',
  'FeatureVersionMismatch',
  'InsufficientAccountPermissions',
  'InternalError',
  'InvalidAuthenticationInfo',
  'InvalidBlobOrBlock',
  'InvalidBlobType',
  'InvalidHeaderValue',
  'InvalidInput',
  'InvalidQueryParameterValue',
  'InvalidRange',
  'InvalidResourceName',
  'InvalidUri',
  'KeyBasedAuthenticationNotPermitted',
  'LeaseIdMissing',
  'MissingRequiredHeader',
  'OperationTimedOut',
  'OutOfRangeInput',
  'PublicAccessNotPermitted',
  'RequestBodyTooLarge',
  'ResourceNotFound',
  'ServerBusy',
  'SnapshotsPresent',
  'UnsupportedHeader',
  'UnsupportedHttpVerb',
]);
