import protobuf from 'protobufjs';

/** What etcd can be asked, and what it takes to say that. */
export interface Service {
  /** Like `etcdserverpb.KV`. */
  readonly name: string;
  readonly calls: readonly Call[];
  /** Its messages, and what they are made of. */
  readonly messages: protobuf.INamespace;
}

export interface Call {
  readonly name: string;
  /** As gRPC's clients name their methods. */
  readonly method: string;
  readonly request: string;
  readonly response: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** Reads a file of Protocol Buffers. @throws when it is none. */
export function servicesIn(file: string): readonly Service[] {
  const root = new protobuf.Root().loadSync(file, { keepCase: true }).resolveAll();
  const whole = root.toJSON();
  return servicesOf(root).map((service) => ({
    name: nameOf(service),
    calls: service.methodsArray.map((method) => ({
      name: method.name,
      method: camelCase(method.name),
      request: nameOf(method.resolvedRequestType),
      response: nameOf(method.resolvedResponseType),
      requestStream: method.requestStream === true,
      responseStream: method.responseStream === true,
    })),
    messages: { nested: kept(whole.nested ?? {}, '', neededBy(service)) },
  }));
}

/** `HashKV` is `hashKv`. */
function camelCase(name: string): string {
  const words = name.replace(/(?<=[A-Z])[A-Z]+(?![a-z])/g, (letters) => letters.toLowerCase());
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

function nameOf(one: protobuf.ReflectionObject | null): string {
  if (one === null) throw new Error('a message of the protocol is not declared');
  return one.fullName.slice(1);
}

function servicesOf(space: protobuf.NamespaceBase): readonly protobuf.Service[] {
  return space.nestedArray.flatMap((one) => {
    if (one instanceof protobuf.Service) return [one];
    return one instanceof protobuf.Namespace ? servicesOf(one) : [];
  });
}

function neededBy(service: protobuf.Service): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (one: protobuf.ReflectionObject | null): void => {
    if (!one || found.has(nameOf(one))) return;
    found.add(nameOf(one));
    if (!(one instanceof protobuf.Type)) return;
    for (const field of one.fieldsArray) add(field.resolvedType);
    for (const inner of one.nestedArray) add(inner);
  };
  for (const { resolvedRequestType, resolvedResponseType } of service.methodsArray) {
    add(resolvedRequestType);
    add(resolvedResponseType);
  }
  return found;
}

/** Of what is declared under a prefix, that which has a name among these, or holds something that has. */
function kept(
  nested: Readonly<Record<string, protobuf.AnyNestedObject>>,
  prefix: string,
  names: ReadonlySet<string>,
): Record<string, protobuf.AnyNestedObject> {
  return Object.fromEntries(
    Object.entries(nested).flatMap(([name, one]) => {
      const full = `${prefix}${name}`;
      if (names.has(full)) return [[name, one]];
      if (!('nested' in one) || !one.nested || 'fields' in one) return [];
      const inner = kept(one.nested, `${full}.`, names);
      return Object.keys(inner).length === 0 ? [] : [[name, { ...one, nested: inner }]];
    }),
  );
}
