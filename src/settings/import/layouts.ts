import { problemTable } from '../../core/problems.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import type { Found } from './command-line.ts';
import { at, type Inputs, type Sink } from './sink.ts';

/** Where a parsed document has its servers. */
export interface Layout {
  readonly format: 'mcpServers' | 'mcphub' | 'vscode' | 'codex' | 'zed' | 'opencode' | 'server';
  readonly found: readonly Found[];
  readonly inputs: Inputs;
  readonly groups?: readonly Record<string, unknown>[];
}

const noInputs: Inputs = new Map();

/** Members that only a hub's own settings file has beside `mcpServers`. */
const hubMembers = ['users', 'groups', 'systemConfig', 'userConfigs', 'bearerKeys', 'oauthClients'];

/** Finds the servers in a document, whichever client wrote it; undefined when there are none. */
export function findServers(document: unknown, sink: Sink): Layout | undefined {
  if (Array.isArray(document)) return listed(document, '');
  if (!isObject(document)) return undefined;
  const { mcpServers, servers, mcp, inputs } = document;
  if (isObject(mcpServers) && hubMembers.some((key) => key in document)) return hub(document, mcpServers, sink);
  if (isObject(mcpServers)) return mapped('mcpServers', mcpServers, 'mcpServers');
  if (Array.isArray(mcpServers)) return listed(mcpServers, 'mcpServers');
  if (isObject(document['context_servers'])) return mapped('zed', document['context_servers'], 'context_servers');
  if (isObject(document['mcp_servers'])) return mapped('codex', document['mcp_servers'], 'mcp_servers');
  if (Array.isArray(servers)) return listed(servers, 'servers');
  if (isObject(servers)) return { ...mapped('vscode', servers, 'servers'), inputs: readInputs(inputs) };
  if (isObject(mcp) && isObject(mcp['servers'])) {
    return { ...mapped('vscode', mcp['servers'], 'mcp.servers'), inputs: readInputs(mcp['inputs'] ?? inputs) };
  }
  if (isObject(mcp)) return mapped('opencode', mcp, 'mcp');
  if (isServer(document))
    return { format: 'server', found: [{ ...named(document), path: 'server' }], inputs: readInputs(inputs) };
  // The answer of a hub's API, and the inside of `mcpServers` alone.
  if (isObject(document['data']) && 'mcpServers' in document['data']) return findServers(document['data'], sink);
  const values = Object.values(document);
  return values.length > 0 && values.every(isServer) ? mapped('mcpServers', document, '') : undefined;
}

function mapped(format: Layout['format'], servers: Readonly<Record<string, unknown>>, path: string): Layout {
  const found = Object.entries(servers).map(([name, raw]): Found => ({ name, raw, path: at(path, name) }));
  return { format, found, inputs: noInputs };
}

/** `[{name, config}]`, as our API takes it, or `[{name, command, …}]`. */
function listed(servers: readonly unknown[], path: string): Layout | undefined {
  const found = servers.map((raw, i): Found => ({ ...named(raw), path: at(path, i) }));
  return found.some(({ raw }) => isServer(raw)) ? { format: 'mcpServers', found, inputs: noInputs } : undefined;
}

function named(raw: unknown): { name: string | undefined; raw: unknown } {
  if (!isObject(raw)) return { name: undefined, raw };
  const { name, config } = raw;
  return { name: typeof name === 'string' && name !== '' ? name : undefined, raw: isObject(config) ? config : raw };
}

function isServer(value: unknown): boolean {
  return isObject(value) && ['command', 'url', 'httpUrl', 'serverUrl', 'openapi'].some((key) => key in value);
}

function hub(document: Record<string, unknown>, servers: Record<string, unknown>, sink: Sink): Layout {
  const { groups = [] } = document;
  if (!Array.isArray(groups)) sink.problem('groups', problemTable.pasted_array);
  for (const key of Object.keys(document)) {
    if (!['mcpServers', 'groups', '$schema'].includes(key)) sink.note(key, problemTable.pasted_member);
  }
  const usable = (Array.isArray(groups) ? groups : []).filter((group, i): group is Record<string, unknown> => {
    if (isObject(group)) return true;
    sink.problem(at('groups', i), problemTable.pasted_object);
    return false;
  });
  return { ...mapped('mcphub', servers, 'mcpServers'), groups: usable };
}

/** VS Code: what its user is asked for, once. */
function readInputs(value: unknown): Inputs {
  const inputs = new Map<string, Omit<RequiredConfig, 'key'>>();
  for (const input of Array.isArray(value) ? value : []) {
    if (!isObject(input) || typeof input['id'] !== 'string') continue;
    const { id, description, password, default: given } = input;
    const text = typeof description === 'string' ? description : '';
    inputs.set(id, {
      title: text === '' ? id : text,
      type: 'string',
      description: text,
      sensitive: password === true,
      ...(typeof given === 'string' && { default: given }),
    });
  }
  return inputs;
}
