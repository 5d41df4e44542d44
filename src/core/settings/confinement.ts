import type { SandboxSettings, UsableTransport } from './server.ts';

const closed: SandboxSettings = { network: 'none', read: [], write: [] };

/** What a program reaches that runs in a container or sandbox; undefined for one that runs as the hub does. */
export function confinementOf({
  sandbox,
  container,
}: UsableTransport & { readonly type: 'stdio' }): SandboxSettings | undefined {
  return sandbox ?? (container && closed);
}
