export interface Successor {
  readonly clusterId: string;
  readonly name: string;
  readonly memberId: string;
}
