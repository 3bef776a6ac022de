import { type Failed, isTaken, locked, notThere, type StoreCall, storeFailure, words } from '../failures.ts';

const forbidden =
  'see that the key is right, that a shared access signature has not expired and may read, create, write, delete and list, and that the firewall of the account lets this pod in';
const refused = 'see that the endpoint is one of Azure Blob Storage, and that no policy of the container forbids it';

export function azureFailure(error: unknown, asked: StoreCall): unknown {
  const { place, call } = asked;
  const status = statusOf(error);
  const code = codeOf(error);
  const own = (failed: Failed) => {
    if (code === 'ContainerNotFound' || code === 'ContainerBeingDeleted' || (status === 404 && call === 'list'))
      return failed('NoSuchBucket', `there is no container ${place}`, 'create it, or correct its name');
    if (call === 'put' && taken.has(code)) return isTaken(failed);
    if (call === 'delete' && code === 'BlobImmutableDueToPolicy') return locked(`${place}/${asked.name}`);
    return status === 404 ? notThere(failed) : undefined;
  };
  return storeFailure(error, { ...asked, status, code }, { own, forbidden, refused });
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
  ...words(`
  AccountBeingCreated AccountIsDisabled AuthenticationFailed AuthorizationFailure AuthorizationPermissionMismatch
  AuthorizationProtocolMismatch AuthorizationResourceTypeMismatch AuthorizationServiceMismatch
  AuthorizationSourceIPMismatch BlobArchived BlobBeingRehydrated BlobImmutableDueToPolicy BlobNotFound
  BlockCountExceedsLimit BlockListTooLong ContainerBeingDeleted ContainerDisabled ContainerNotFound
  FeatureVersionMismatch InsufficientAccountPermissions InternalError InvalidAuthenticationInfo InvalidBlobOrBlock
  InvalidBlobType InvalidHeaderValue InvalidInput InvalidQueryParameterValue InvalidRange InvalidResourceName
  InvalidUri KeyBasedAuthenticationNotPermitted LeaseIdMissing MissingRequiredHeader OperationTimedOut
  OutOfRangeInput PublicAccessNotPermitted RequestBodyTooLarge ResourceNotFound ServerBusy SnapshotsPresent
  UnsupportedHeader UnsupportedHttpVerb
`),
]);
