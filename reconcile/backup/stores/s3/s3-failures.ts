import { BackupFailure } from '../../../jobs/failure.ts';
import { networkFailure } from '../transfer.ts';

export interface S3Call {
  readonly place: string;
  readonly name: string;
  readonly call: 'put' | 'read' | 'list' | 'stat' | 'delete';
  readonly region: string;
}

/** Classified once, by S3's code where there is one. Without the client's error as cause: the request hangs on it. */
export function s3Failure(error: unknown, { place, name, call, region }: S3Call): unknown {
  if (error instanceof BackupFailure) return error;
  const at = `${place}/${name}`;
  const status = statusOf(error);
  const code = codeOf(error);
  const failed = (reason: BackupFailure['reason'], what: string, cure: string) =>
    new BackupFailure(reason, `${at}: ${what} (${[status, code].filter(Boolean).join(', ')}): ${cure}`, status);
  if (call === 'put' && (status === 412 || status === 409))
    return failed(
      'Exists',
      'it exists already, and a backup replaces nothing',
      'choose another name, as by {{timestamp}}',
    );
  if (status === 412) return failed('Changed', 'it was replaced meanwhile', 'look at what else writes there');
  if (code === 'NoSuchBucket')
    return failed('NoSuchBucket', `there is no bucket ${place}`, 'create it, or correct its name');
  if (code === 'NoSuchKey' || (status === 404 && call === 'read'))
    return failed('NotFound', 'it is not there', 'look for its name in the status of the backup');
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
  if (status === 401 || status === 403)
    return failed(
      'Forbidden',
      `the store refuses to ${call}`,
      'allow s3:PutObject, s3:GetObject, s3:ListBucket, s3:AbortMultipartUpload and s3:DeleteObject, and see that the key is right',
    );
  if (
    code === 'TimeoutError' ||
    (status !== undefined && (status === 408 || status === 429 || (status >= 500 && status !== 501)))
  )
    return failed('Unreachable', `the store fails to ${call}, again and again`, 'try again later');
  if (status !== undefined && status >= 300)
    return failed(
      'StoreRefused',
      `the store refuses to ${call}`,
      'see that it speaks S3 and that the bucket is as it should be',
    );
  return networkFailure(error, place) ?? failed('Unreachable', 'the transfer broke off', 'try again');
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
  'AccessDenied',
  'AccountProblem',
  'AllAccessDisabled',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
  'RequestTimeTooSkewed',
  'RequestExpired',
  'InvalidSecurity',
  'NoSuchBucket',
  'NoSuchKey',
  'NoSuchUpload',
  'NoSuchVersion',
  'NotFound',
  'InvalidBucketName',
  'InvalidObjectState',
  'PreconditionFailed',
  'ConditionalRequestConflict',
  'OperationAborted',
  'InvalidPart',
  'InvalidPartOrder',
  'EntityTooLarge',
  'EntityTooSmall',
  'InvalidRange',
  'InvalidArgument',
  'InvalidRequest',
  'MalformedXML',
  'BadDigest',
  'MethodNotAllowed',
  'NotImplemented',
  'MissingContentLength',
  'KeyTooLongError',
  'XAmzContentSHA256Mismatch',
  'InternalError',
  'ServiceUnavailable',
  'SlowDown',
  'RequestTimeout',
  'RequestTimeoutException',
  'BadGateway',
  'CredentialsProviderError',
  'TimeoutError',
  'AbortError',
  'NetworkingError',
  '400',
  '403',
  '404',
]);
