import { readFile } from 'node:fs/promises';
import {
  AuthClient,
  Compute,
  type gaxios,
  IdentityPoolClient,
  type IdentityPoolClientOptions,
  JWT,
  UserRefreshClient,
} from 'google-auth-library';
import { isPlainObject } from '../../../../manifests/api/plain-data.ts';
import { type Egress, refusalOf } from '../../../../manifests/egress/egress.ts';
import { jsonIn } from '../../../../manifests/json.ts';
import { isListed } from '../../../../manifests/render/listed-hosts.ts';
import { BackupFailure } from '../../../jobs/failure.ts';
import { ignoreMissing } from '../../agent/files.ts';
import { forToken } from '../guard.ts';

/**
 * Google's credentials by their type. The library's own loader would read files, the environment and the metadata
 * server as a key tells it to; here a key is data, and says no more than its type has.
 */

export interface GoogleAccess {
  /** Of `key.json`. Without it: the pod's own identity, by the metadata server. */
  readonly keyFile?: string | undefined;
  readonly readOnly: boolean;
  readonly egress: Egress;
}

const scopes = {
  read: 'https://www.googleapis.com/auth/devstorage.read_only',
  write: 'https://www.googleapis.com/auth/devstorage.read_write',
};

/** Opens what it opens only once it is asked for a token. Its failures are BackupFailures, or of the network. */
export class GoogleCredentials extends AuthClient {
  readonly #access: GoogleAccess;
  #opened: Promise<AuthClient> | undefined;

  constructor(access: GoogleAccess) {
    super();
    this.#access = access;
  }

  async getAccessToken(): ReturnType<AuthClient['getAccessToken']> {
    const opened = await this.#open();
    return forToken(() => opened.getAccessToken());
  }

  async getRequestHeaders(): Promise<Headers> {
    const { token } = await this.getAccessToken();
    return new Headers({ authorization: `Bearer ${token}` });
  }

  async request<T>(options: Parameters<AuthClient['request']>[0]): Promise<gaxios.GaxiosResponse<T>> {
    const headers = this.addUserProjectAndAuthHeaders(new Headers(options.headers), await this.getRequestHeaders());
    return this.transporter.request<T>({ ...options, headers });
  }

  #open(): Promise<AuthClient> {
    this.#opened ??= clientOf(this.#access);
    return this.#opened;
  }
}

async function clientOf({ keyFile, readOnly, egress }: GoogleAccess): Promise<AuthClient> {
  const asked = [readOnly ? scopes.read : scopes.write];
  if (keyFile === undefined) return new Compute({ scopes: asked });
  const key = jsonIn((await readFile(keyFile, 'utf8').catch(ignoreMissing)) ?? '');
  if (!isPlainObject(key)) throw wrongKey(keyFile, 'it is no JSON');
  if (key.universe_domain !== undefined && key.universe_domain !== 'googleapis.com')
    throw wrongKey(keyFile, 'its universe_domain is not googleapis.com');
  switch (key.type) {
    case 'service_account': {
      const [email, privateKey] = textsOf(key, ['client_email', 'private_key'], keyFile);
      return new JWT({ email, key: privateKey, scopes: asked });
    }
    case 'authorized_user': {
      const [clientId, clientSecret, refreshToken] = textsOf(
        key,
        ['client_id', 'client_secret', 'refresh_token'],
        keyFile,
      );
      return new UserRefreshClient({ clientId, clientSecret, refreshToken });
    }
    case 'external_account':
      return externalClient(key, asked, { keyFile, egress });
    default:
      throw wrongKey(keyFile, 'its type is neither service_account nor authorized_user nor external_account');
  }
}

interface External {
  readonly keyFile: string;
  readonly egress: Egress;
}

/** Its author names hosts that get a token: the installation lists each of them, or none is asked. */
function externalClient(key: Record<string, unknown>, asked: string[], { keyFile, egress }: External): AuthClient {
  const [audience, tokenType, tokenUrl] = textsOf(key, ['audience', 'subject_token_type', 'token_url'], keyFile);
  const source = key.credential_source;
  // A file, a program or a certificate would be of this pod.
  if (!isPlainObject(source) || Object.keys(source).some((field) => !sourceFields.has(field)))
    throw wrongKey(keyFile, 'its credential_source has something else than url, headers and format');
  const [sourceUrl] = textsOf(source, ['url'], keyFile);
  const impersonated = key.service_account_impersonation_url;
  const impersonation = impersonated === undefined ? [] : textsOf(key, ['service_account_impersonation_url'], keyFile);
  for (const url of [tokenUrl, sourceUrl, ...impersonation]) assertListed(url, keyFile, egress);
  return new IdentityPoolClient({
    type: 'external_account',
    audience,
    subject_token_type: tokenType,
    token_url: tokenUrl,
    scopes: asked,
    credential_source: { url: sourceUrl, ...formatOf(source) },
    ...(impersonation[0] !== undefined && { service_account_impersonation_url: impersonation[0] }),
  });
}

const sourceFields = new Set(['url', 'headers', 'format']);

function formatOf({ headers, format }: Record<string, unknown>): Source {
  const given = isPlainObject(headers) ? Object.entries(headers).filter(([, value]) => typeof value === 'string') : [];
  const { type, subject_token_field_name: field } = isPlainObject(format) ? format : {};
  return {
    headers: Object.fromEntries(given) as Record<string, string>,
    ...(type === 'json' && { format: { type, subject_token_field_name: String(field) } }),
  };
}

type Source = NonNullable<IdentityPoolClientOptions['credential_source']>;

/** @throws {BackupFailure} HostRefused */
function assertListed(text: string, keyFile: string, egress: Egress): void {
  const url = URL.parse(text);
  if (!url) throw wrongKey(keyFile, 'one of its addresses is no URL');
  if (!egress.hosts || !isListed(egress.hosts, url))
    throw new BackupFailure(
      'HostRefused',
      `the key of type external_account names ${url.origin}, which gets a token then: use a service account's key, or have that host listed in RATCHET_HOSTS of this installation (docs/how-to/limit-tenants.md)`,
    );
  const refused = refusalOf(url, true, egress);
  if (refused) throw new BackupFailure(refused.reason, refused.message);
}

/** Of a key, these fields, each with a text. @throws {BackupFailure} */
function textsOf<const F extends readonly string[]>(
  key: Record<string, unknown>,
  fields: F,
  keyFile: string,
): { readonly [N in keyof F]: string } {
  const found = fields.map((field) => {
    const value = key[field];
    if (typeof value !== 'string' || value === '') throw wrongKey(keyFile, `its ${field} is missing`);
    return value;
  });
  return found as unknown as { readonly [N in keyof F]: string };
}

function wrongKey(keyFile: string, why: string): BackupFailure {
  return new BackupFailure(
    'Forbidden',
    `${keyFile} is no key that is used here: ${why}; see that the Secret holds the JSON key of a service account that exists`,
  );
}
