import type { Hono } from 'hono';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';

export interface ServeContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly namespace?: string | undefined;
  /** Aborts when the process is asked to leave; requests under way are finished. */
  readonly stop: AbortSignal;
}

export interface RouteGroup {
  readonly app: Hono;
  /** Names what this group still lacks, for `/readyz`; absent: it is always ready. */
  readonly ready?: () => Promise<string | undefined>;
}
