import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { confinementOf } from '../../core/settings/confinement.ts';
import { reasonWords } from '../../core/reasons.ts';
import type { SandboxSettings } from '../../core/settings/server.ts';
import type { Check } from './check.ts';
import type { PreparedServer } from './settings.ts';

/** How each program is held (CONTRACT §10). Whether the sandboxes can be made, the trial connections show. */
export function checkSandboxes(servers: readonly Pick<PreparedServer, 'name' | 'transport'>[], path: string): Check[] {
  const programs = servers.flatMap(({ name, transport }) =>
    transport.type === 'stdio' ? [{ name, sandbox: confinementOf(transport), container: transport.container }] : [],
  );
  if (programs.length === 0) return [];
  const held = programs.flatMap(({ name, sandbox, container }) =>
    sandbox ? [`${name} (${container ? `container of ${container.image}; ` : ''}${wordsOf(sandbox)})`] : [],
  );
  const needsBubblewrap = programs.some(({ sandbox, container }) => sandbox && !container);
  const free = programs.flatMap(({ name, sandbox }) => (sandbox ? [] : [name]));
  const detail = [
    ...(held.length > 0 ? [`in a sandbox: ${held.join(', ')}`] : []),
    ...(free.length > 0 ? [`without one, as the hub itself: ${free.join(', ')}`] : []),
  ].join('; ');
  if (!needsBubblewrap || hasBubblewrap(path)) return [{ name: 'sandboxes', status: 'ok', detail }];
  const { text, advice } = reasonWords({ code: 'sandbox_missing', values: {} });
  return [{ name: 'sandboxes', status: 'fail', detail: `${detail}. ${text}`, fix: advice }];
}

function wordsOf({ network, read, write, memoryMb, cpus, processes }: SandboxSettings): string {
  return [
    network === 'host' ? 'network of the hub' : 'no network',
    ...(read.length > 0 ? [`reads ${read.join(' ')}`] : []),
    ...(write.length > 0 ? [`writes ${write.join(' ')}`] : []),
    ...(memoryMb === undefined ? [] : [`${memoryMb} MB of memory`]),
    ...(cpus === undefined ? [] : [`${cpus} processors`]),
    ...(processes === undefined ? [] : [`${processes} processes`]),
  ].join('; ');
}

function hasBubblewrap(path: string): boolean {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .some((folder) => {
      try {
        accessSync(join(folder, 'bwrap'), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
