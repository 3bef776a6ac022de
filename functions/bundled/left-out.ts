/**
 * What stands in the bundle for parts of packages that nothing here calls: the fetch of client-node and its generated
 * class of each kind (1.4 MB, and 100 ms of each invocation outside of a pod), and gRPC's channelz.
 */

export const Agent = leftOut('undici');
export const ProxyAgent = leftOut('undici');
export const ServerConfiguration = leftOut('the generated classes of @kubernetes/client-node');
export const createConfiguration = leftOut('the generated classes of @kubernetes/client-node');
export const loadSync = leftOut('channelz of @grpc/grpc-js');

function leftOut(what: string): new () => never {
  return class {
    constructor() {
      throw new Error(`${what}: left out of the bundle (functions/bundled/left-out.ts)`);
    }
  } as new () => never;
}
