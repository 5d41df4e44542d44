import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import type { Settings } from '../core/settings/settings.ts';
import { errnoOf } from '../disk/disk-error.ts';
import type { SettingsDocument } from './backend.ts';

/** Gives the path of a module of a package that is installed; throws when it is not. */
export type ResolveModule = (module: string) => string;

/** The version that is tested here, which is that of package.json. */
export const sampleVersion = '2026.8.31';

/**
 * The settings of a first start: three servers, so that a client has something to call at once. They work below
 * `<dataDir>/sample`, which is made here. In a clone of the repository their packages are installed; where they are
 * not, `npx` installs them at the first start.
 */
export function sampleSettings(
  dataDir: string,
  cwd: string,
  resolve: ResolveModule = createRequire(import.meta.url).resolve,
): SettingsDocument {
  const sample = join(dataDir, 'sample');
  const files = join(sample, 'files');
  makeSampleFiles(files);
  const place = (path: string): string => near(path, cwd);
  const server = (name: string, ...args: string[]) => {
    const packageName = `@modelcontextprotocol/server-${name}`;
    const installed = pathOf(`${packageName}/dist/index.js`, resolve);
    return installed === undefined
      ? { type: 'stdio', command: 'npx', args: ['-y', `${packageName}@${sampleVersion}`, ...args] }
      : { type: 'stdio', command: 'node', args: [place(installed), ...args] };
  };
  return {
    mcpServers: {
      everything: {
        description: 'Shows every feature of MCP (sample)',
        ...server('everything', 'stdio'),
      },
      filesystem: {
        description: 'Reads and writes files in one folder (sample)',
        ...server('filesystem', place(files)),
      },
      memory: {
        description: 'A knowledge graph that remembers (sample)',
        ...server('memory'),
        env: { MEMORY_FILE_PATH: join(sample, 'memory.jsonl') },
      },
    },
    groups: [],
    users: [],
    systemConfig: {},
  };
}

/**
 * Makes the folder of the sample servers where another hub has written them into the settings: hubs that share those
 * have each a data folder of its own.
 */
export function makeSampleFolder(settings: Settings, dataDir: string, cwd: string): void {
  const sample = join(dataDir, 'sample');
  const places = [sample, near(sample, cwd)];
  const isUsed = [...settings.servers.values()].some(
    ({ transport }) =>
      transport.type === 'stdio' &&
      [...transport.args, ...Object.values(transport.env)].some((text) =>
        places.some((place) => text.startsWith(`${place}/`)),
      ),
  );
  if (!isUsed) return;
  makeSampleFiles(join(sample, 'files'));
}

function pathOf(module: string, resolve: ResolveModule): string | undefined {
  try {
    return resolve(module);
  } catch {
    return undefined;
  }
}

/** As far as it can: what cannot be made the servers themselves complain of. */
function makeSampleFiles(files: string): void {
  try {
    mkdirSync(files, { recursive: true, mode: 0o700 });
    writeOnce(
      join(files, 'welcome.txt'),
      'This folder is what the "filesystem" sample server can see. Put files here, or point it elsewhere.\n',
    );
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** A path below the working folder is written relative to it, so that the folder can be moved. */
function near(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way.startsWith('..') || way === '' ? path : `./${way}`;
}

function writeOnce(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}
