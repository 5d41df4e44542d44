import type { Env } from '../env/env.ts';
import { resolve } from 'node:path';
import type { Hub, ServerState } from '../core/hub.ts';
import { createCleaner } from '../logs/clean.ts';
import { createLog } from '../logs/log.ts';
import { standardOutput, usualFormat } from '../logs/output.ts';
import { allSnippets } from '../snippets/all.ts';
import { version } from '../version.ts';
import { cliLimits } from './limits.ts';

/** Tells the operator that the hub is up, where, and what becomes of each server. */
export interface StartReport {
  ready(hub: Hub): void;
  /** Until every server has connected or failed once, or `stop` is aborted. Never rejects. */
  followServers(hub: Hub, stop: AbortSignal): Promise<void>;
}

/**
 * Plain text for people, log lines with `LOG_FORMAT=json`. Both go past the log's memory: the first password is shown
 * on a terminal once and must not be found in the logs of the hub afterwards; a log only names the file that has it.
 */
export function createStartReport(env: Pick<Env, 'database' | 'dataDir' | 'disableWeb' | 'logFormat'>): StartReport {
  const output = standardOutput();
  const format = env.logFormat ?? usualFormat();
  return format === 'json' ? jsonReport(env) : plainReport(env, (line) => output.write(line));
}

const othersCan = 'Others can reach this address. Without a key they can:';

function plainReport(env: Pick<Env, 'database' | 'dataDir' | 'disableWeb'>, say: (line: string) => void): StartReport {
  return {
    ready: (hub) => bannerLines(hub, { ...env, web: !env.disableWeb }).forEach(say),
    async followServers(hub, stop) {
      for await (const state of connectingServers(hub, stop)) say(serverLine(state));
    },
  };
}

function jsonReport(env: Pick<Env, 'database' | 'dataDir'>): StartReport {
  const log = createLog({ level: 'info', format: 'json' }).for('hub');
  return {
    ready(hub) {
      const { url, mcpUrl, adminPasswordFile, exposure = [] } = hub;
      const settings = settingsIn(hub, env);
      log.info(`Tool Hub ${version} is ready`, { url, mcpUrl, settings, data: resolve(env.dataDir) });
      if (adminPasswordFile !== undefined)
        log.warn(
          `First admin made: username admin, password in ${adminPasswordFile}. The file goes once it is changed`,
        );
      if (exposure.length > 0) log.warn(`${othersCan} ${exposure.join('; ')}`);
    },
    async followServers(hub, stop) {
      for await (const { name, status, tools, error, phase, phaseSince } of connectingServers(hub, stop)) {
        if (status !== 'connecting') log.info(`Server ${name}: ${status}`, { tools, error });
        else if (phase === 'installing') log.info(`Server ${name}: installing`, { since: phaseSince });
      }
    },
  };
}

/** What the terminal shows once the hub is up; the servers follow below, one line each. */
export function bannerLines(hub: Hub, place: Pick<Env, 'database' | 'dataDir'> & { web: boolean }): string[] {
  const { url, mcpUrl, firstStart, adminPassword, keyRequired, exposure = [] } = hub;
  const servers = hub.servers();
  const token = keyRequired ? 'YOUR_ACCESS_KEY' : undefined;
  const [snippet] = allSnippets({ name: 'toolhub', url: mcpUrl, token });
  const keyPlace = place.web ? `${url}/` : `POST ${url}/api/auth/keys`;
  const others = place.web ? `open ${url}/` : 'see docs/connect-clients.md';
  return [
    '',
    `  Tool Hub ${version}`,
    '',
    `  MCP        ${mcpUrl}   (one group or server: ${mcpUrl}/<name>)`,
    ...(place.web ? [`  Dashboard  ${url}/`] : []),
    `  Settings   ${settingsIn(hub, place)}${firstStart ? '   (new)' : ''}`,
    `  Data       ${resolve(place.dataDir)}`,
    ...(adminPassword === undefined
      ? []
      : ['', `  First admin: username admin, password ${adminPassword}`, '  Keep it: it is shown only this once.']),
    ...(exposure.length === 0 ? [] : ['', `  ${othersCan}`, ...exposure.map((line) => `  ! ${line}`)]),
    '',
    `  ${snippet?.title ?? ''}:  ${snippet?.text ?? ''}`,
    ...(keyRequired ? [`  YOUR_ACCESS_KEY is one that you make at ${keyPlace} as a user who logged in`] : []),
    `  Cursor, VS Code, Codex, Claude Desktop and others:  ${others}`,
    '',
    servers.length > 0
      ? '  Servers'
      : place.database.kind === 'postgres'
        ? '  No servers yet: add some in the dashboard, or over the API.'
        : '  No servers yet: add some to the settings file, the hub sees it by itself.',
  ];
}

/** A user who edits the file has to know when the hub does not read it. */
function settingsIn({ settingsPath }: Hub, { database }: Pick<Env, 'database'>): string {
  return database.kind === 'postgres' ? `in the database (DB_URL), no longer in ${settingsPath}` : settingsPath;
}

const { clean } = createCleaner();

/** `  ✓ memory        9 tools  (0.4 s)` */
export function serverLine({ name, status, tools, ms, error, phase, phaseSince, waiting }: ServerState): string {
  const line = (sign: string, text: string) => `  ${sign} ${clean(name).padEnd(16)}  ${text}`;
  switch (status) {
    case 'connected':
      return line(
        '✓',
        `${tools} ${tools === 1 ? 'tool' : 'tools'}${ms === undefined ? '' : `  (${(ms / 1000).toFixed(1)} s)`}`,
      );
    case 'asleep':
      return line('z', `${tools} ${tools === 1 ? 'tool' : 'tools'}  (starts when it is called)`);
    case 'connecting':
      return line('…', connectingText(phase, phaseSince, waiting));
    case 'oauth_required':
      return line('!', `sign-in needed${error === undefined ? '' : `: ${clean(error)}`}`);
    case 'disabled':
      return line('-', 'disabled');
    case 'disconnected':
      return line('✗', clean(error ?? 'not connected'));
  }
}

/** `installing (34 s)`: what a server that is not there yet is doing, and for how long. */
export function connectingText(phase: ServerState['phase'], since = '', waiting = false): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1_000));
  if (phase !== 'installing') return 'connecting';
  return `${waiting ? 'waiting to be installed' : 'installing'}${Number.isNaN(seconds) ? '' : ` (${seconds} s)`}`;
}

/**
 * Each server once it is no longer `connecting`, in the order in which that happens. One that takes long is given as
 * `connecting` before, and each `cliLimits.announceInstallMs` while it is being installed. Disabled servers are left
 * out.
 */
export async function* connectingServers(hub: Hub, stop: AbortSignal): AsyncGenerator<ServerState> {
  const told = new Map<string, Told>();
  const startedAt = Date.now();
  while (!stop.aborted) {
    const slow = Date.now() - startedAt >= cliLimits.announceSlowMs;
    const states = hub.servers().filter(({ status }) => status !== 'disabled');
    for (const state of states) {
      if (!isNews(state, told.get(state.name), slow)) continue;
      told.set(state.name, { status: state.status, isInstalling: isInstalling(state), at: Date.now() });
      yield state;
    }
    if (states.every(({ status }) => status !== 'connecting')) return;
    await hub.settled(cliLimits.announcePollMs);
  }
}

/** What was last said of a server. */
interface Told {
  readonly status: ServerState['status'];
  readonly isInstalling: boolean;
  readonly at: number;
}

function isNews(state: ServerState, before: Told | undefined, slow: boolean): boolean {
  if (!before) return state.status !== 'connecting' || slow;
  if (before.status !== 'connecting') return false;
  if (state.status !== 'connecting') return true;
  const isLong = Date.now() - before.at >= cliLimits.announceInstallMs;
  return isInstalling(state) && (!before.isInstalling || isLong);
}

function isInstalling({ phase, waiting }: ServerState): boolean {
  return phase === 'installing' && waiting !== true;
}
