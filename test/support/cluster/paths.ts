export interface Paths {
  readonly directory: string;
  readonly logs: string;
  readonly etcdData: string;
  readonly certificates: string;
  /** Self-signed by the API server at its start; clients trust it as their CA. */
  readonly certificate: string;
  readonly certificateKey: string;
  readonly tokens: string;
}
