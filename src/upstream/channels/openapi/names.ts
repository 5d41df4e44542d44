import { createHash } from 'node:crypto';

const allowed = /^[A-Za-z0-9_./-]{1,128}$/;

/** What an operation could be called by. */
export interface Nameable {
  readonly operationId: string | undefined;
  readonly method: string;
  readonly path: string;
}

/**
 * A tool name for each operation, in their order: the `operationId` where there is one (made to fit the names MCP
 * allows), else MCPHub's form: method and path without its parameters (`GET /users/{id}/posts` is `get_users_posts`). A
 * name that is taken gets the next number. An `operationId` always goes before generated names, so that it means the
 * same tool however many others there are.
 */
export function toolNames(operations: readonly Nameable[]): string[] {
  const taken = new Set<string>();
  const counters = new Map<string, number>();
  const names = operations.map(({ operationId }) => {
    const name = operationId === undefined || operationId.trim() === '' ? '' : fitting(operationId.trim());
    if (name === '' || taken.has(name)) return '';
    taken.add(name);
    return name;
  });
  return operations.map((operation, index) => {
    const found = names[index] ?? '';
    if (found !== '') return found;
    const { operationId } = operation;
    const name = free(
      operationId === undefined || operationId.trim() === '' ? generated(operation) : fitting(operationId.trim()),
      taken,
      counters,
    );
    taken.add(name);
    return name;
  });
}

/**
 * The names under which the arguments of one tool are offered: the parameter's own name where model services accept it
 * as the key of a property, else a form of it that they do. Where two have the same name, the one with the later place
 * gets another name: `query_id`.
 */
export function argumentNames(
  parameters: readonly { readonly name: string; readonly in: string }[],
  hasBody: boolean,
): string[] {
  const taken = new Set(hasBody ? ['body'] : []);
  const counters = new Map<string, number>();
  return parameters.map((parameter) => {
    const plain = acceptable(parameter.name);
    const name = taken.has(plain) ? free(`${parameter.in}_${plain}`.slice(0, 64), taken, counters) : plain;
    taken.add(name);
    return name;
  });
}

function acceptable(name: string): string {
  if (/^[A-Za-z0-9_.-]{1,64}$/.test(name) && name !== '__proto__') return name;
  const plain = name.replace(/[^A-Za-z0-9.-]+/g, '_').replace(/^_+|_+$/g, '');
  if (plain === '') return `p_${hash(name, 8)}`;
  return plain.length <= 64 ? plain : `${plain.slice(0, 55)}_${hash(name, 8)}`;
}

function fitting(operationId: string): string {
  if (allowed.test(operationId)) return operationId;
  const plain = operationId.replace(/[^A-Za-z0-9_./-]+/g, '_').replace(/^_+|_+$/g, '');
  if (plain === '') return `operation_${hash(operationId, 8)}`;
  return plain.length <= 128 ? plain : `${plain.slice(0, 119)}_${hash(operationId, 8)}`;
}

function generated({ method, path }: Nameable): string {
  const segments = path
    .replace(/\{[^}]*\}/g, '')
    .replace(/[^\w/]/g, '')
    .split('/')
    .filter((segment) => segment !== '');
  return fitting(`${method}_${segments.join('_').toLowerCase() || 'root'}`);
}

function free(name: string, taken: ReadonlySet<string>, counters: Map<string, number>): string {
  if (!taken.has(name)) return name;
  for (let number = counters.get(name) ?? 1; ; number++) {
    const candidate = `${name}${number}`;
    if (taken.has(candidate)) continue;
    counters.set(name, number + 1);
    return candidate;
  }
}

function hash(text: string, chars: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, chars);
}
