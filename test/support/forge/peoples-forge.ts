import type { ForgeClient } from './client.ts';

/** A Git server and a forge with one private repository, `platform/etcd`, and one user, `ada`, who may do all. */
export interface PeoplesForge extends ForgeClient, AsyncDisposable {
  /** For people: `Gitea 1.26.0`, or what serves in its place, and why. */
  readonly title: string;
  /** Without credentials. */
  readonly gitUrl: string;
  /** Of the API, without the path of a repository. */
  readonly apiUrl: string;
  /** Of `ada`, for Git and the API. */
  readonly token: string;
  /** Of `ada`, for the forge's pages, which begin where its repositories do; absent: it has none. */
  readonly password?: string;
  /** From now on every push is told to this address, signed with the secret. */
  hook(url: string, secret: string): Promise<void>;
  /** Tells the hooks of a push, where the forge does not do that by itself. */
  announce(push: { readonly before: string; readonly after: string }): Promise<void>;
}

export interface ForgeAddress {
  readonly host: string;
  /** Where people and pods reach it; the stand-in's API is one port above. */
  readonly port: number;
}
