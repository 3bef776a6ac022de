import {
  type Answered,
  type Failed,
  failing,
  isTaken,
  notThere,
  type StoreCall,
  storeFailure,
  words,
} from '../failures.ts';

export interface S3Call extends StoreCall {
  readonly region: string;
}

const forbidden =
  'allow s3:PutObject, s3:GetObject, s3:ListBucket, s3:AbortMultipartUpload and s3:DeleteObject, and see that the key is right';
const forbiddenToDelete =
  'allow s3:DeleteObject; where Object Lock protects the bucket, allow s3:GetObjectRetention and s3:GetObjectLegalHold, so that retention sees what is locked, and waits';
const refused = 'see that it speaks S3 and that the bucket is as it should be';

/** By S3's code where there is one. */
export function s3Failure(error: unknown, asked: S3Call): unknown {
  const status = statusOf(error);
  const code = codeOf(error);
  const own = (failed: Failed) => ownFailure({ ...asked, status, code }, failed);
  return storeFailure(
    error,
    { ...asked, status, code },
    { own, refused, forbidden: asked.call === 'delete' ? forbiddenToDelete : forbidden },
  );
}

function ownFailure({ place, call, region, status, code }: S3Call & Answered, failed: Failed) {
  if (call === 'put' && (status === 412 || status === 409)) return isTaken(failed);
  // The general words for 412 come before the codes below.
  if (status === 412) return undefined;
  if (code === 'NoSuchBucket')
    return failed('NoSuchBucket', `there is no bucket ${place}`, 'create it, or correct its name');
  if (code === 'NoSuchKey' || (status === 404 && call === 'read')) return notThere(failed);
  if (wrongRegion.has(code) || status === 301 || status === 307)
    return failed('WrongRegion', `the bucket is not in region ${region}`, "give the bucket's own region");
  if (code === 'CredentialsProviderError')
    return failed(
      'Forbidden',
      'there are no credentials',
      "give the pod's service account a role, or mount a Secret with a key",
    );
  if (code === 'RequestTimeTooSkewed')
    return failed(
      'Forbidden',
      'the clocks of this node and of the store differ by more than a quarter of an hour',
      'set the clock of the node',
    );
  if (full.has(code) || status === 507)
    return failed('Full', 'there is no room', 'raise the quota, or delete old backups');
  if (code === 'TimeoutError' && status !== 401 && status !== 403) return failing(failed, call);
  return status === 501 ? failed('StoreRefused', `the store refuses to ${call}`, refused) : undefined;
}

const wrongRegion = new Set([
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'IncorrectEndpoint',
]);
const full = new Set(['QuotaExceeded', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'InsufficientStorage']);

export function statusOf(error: unknown): number | undefined {
  const { $metadata } = Object(error) as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Of a put: what it lacks, or has, is wrong. Of Object Lock, S3 answers so where there is no digest. */
export function wantsDigest(error: unknown): boolean {
  return statusOf(error) === 400 && codeOf(error) === 'InvalidRequest';
}

function codeOf(error: unknown): string {
  const { name } = Object(error) as { readonly name?: unknown };
  return typeof name === 'string' && known.has(name) ? name : '';
}

/**
 * Codes that S3, its imitators and the client document. Any other word of an answer is not repeated: the endpoint is
 * the author's choice, and others read the message.
 */
const known = new Set([
  ...wrongRegion,
  ...full,
  ...words(`
  AccessDenied AccountProblem AllAccessDisabled InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken InvalidToken
  TokenRefreshRequired RequestTimeTooSkewed RequestExpired InvalidSecurity NoSuchBucket NoSuchKey NoSuchUpload
  NoSuchVersion NotFound InvalidBucketName InvalidObjectState PreconditionFailed ConditionalRequestConflict
  OperationAborted InvalidPart InvalidPartOrder EntityTooLarge EntityTooSmall InvalidRange InvalidArgument
  InvalidRequest MalformedXML BadDigest MethodNotAllowed NotImplemented MissingContentLength KeyTooLongError
  XAmzContentSHA256Mismatch InternalError ServiceUnavailable SlowDown RequestTimeout RequestTimeoutException
  BadGateway CredentialsProviderError TimeoutError AbortError NetworkingError 400 403 404
`),
]);
