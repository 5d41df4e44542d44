import { HubError } from '../core/errors.ts';
import { type Env, readProcessEnv } from '../env/env.ts';
import { leftOfMcphub } from '../env/left-of-mcphub.ts';
import { createCleaner } from '../logs/clean.ts';
import { embeddingKeys, embeddingConfig } from '../hub/open-embeddings.ts';
import { createSecretFiles, type SecretFiles } from '../hub/secret-files.ts';
import type { Check } from './checks/check.ts';
import { checkCommands } from './checks/commands.ts';
import { checkAside, checkDataFolder, checkDiskSpace, checkPermissions } from './checks/data-folder.ts';
import { checkDatabase } from './checks/database.ts';
import { checkEmbeddingService } from './checks/embedding-service.ts';
import { checkExposure, isExposed } from './checks/exposure.ts';
import { checkNodeVersion } from './checks/node-version.ts';
import { checkPasswords } from './checks/passwords.ts';
import { checkPort } from './checks/port.ts';
import { checkSandboxes } from './checks/sandboxes.ts';
import { checkSecrets } from './checks/secrets.ts';
import { checkServers } from './checks/servers.ts';
import { checkSettings, type PreparedServer, settingsPlace } from './checks/settings.ts';
import { checkTelemetry } from './checks/telemetry.ts';
import { checkWorkers } from './checks/workers.ts';
import { checkVariables } from './checks/variables.ts';
import { noLog, openProbes } from './probe.ts';
import { readStoredSignIns, type StoredSignIns } from './stored-sign-ins.ts';

export interface Findings {
  readonly checks: readonly Check[];
  /** What the operator wrote is not accepted: the environment or the settings file. */
  readonly misconfigured: boolean;
}

/**
 * Runs every check that can be run; `overrides` are variables that win over the environment, `tell` is called with what
 * takes long.
 */
export async function examine(overrides: Record<string, string>, tell?: (line: string) => void): Promise<Findings> {
  const node = checkNodeVersion();
  let env: Env;
  try {
    env = readProcessEnv(overrides);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { checks: [node, { name: 'environment', status: 'fail', detail: error.message }], misconfigured: true };
  }
  const files = createSecretFiles(noLog, () => {});
  const settings = await checkSettings(await settingsPlace(env), env.variables, files.read);
  const path = env.variables['PATH'] ?? '';
  const machine = await Promise.all([
    checkPort(env.host, env.port),
    checkDataFolder(env.dataDir),
    checkDiskSpace(env.dataDir),
  ]);
  const commands = await checkCommands(settings.servers, path);
  const signIns = await readStoredSignIns(env.dataDir, noLog);
  const servers = await tryServers(settings.servers, env, { signIns, files, tell });
  const unread: Check[] = [];
  const embedding = embeddingConfig(settings.settings ?? { system: {} }, env, (path) => {
    try {
      return files.read(path);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      unread.push({ name: 'embedding service', status: 'fail', detail: error.message });
      return '';
    }
  });
  const search = settings.invalid && !settings.settings ? [] : [await checkEmbeddingService(embedding)];
  const secrets = [...settings.secrets, ...signIns.secrets, ...embeddingKeys(embedding), ...files.values()];
  const checks = [
    node,
    ...machine,
    ...checkWorkers(env.workers),
    ...(await checkDatabase({ ...env, log: noLog })),
    ...(await checkAside(env.dataDir)),
    ...checkPermissions(env.dataDir, env.settingsPath),
    ...settings.checks,
    ...checkPasswords(settings.settings, env.adminPassword, isExposed(env, settings.settings)),
    ...checkExposure(env, settings.settings),
    ...checkVariables(settings.servers),
    ...leftOfMcphub(env).map((detail): Check => ({ name: 'MCPHub', status: 'warn', detail })),
    ...checkSecrets(env.readable, settings.servers),
    ...checkSandboxes(settings.servers, path),
    ...commands,
    ...unread,
    ...(await checkTelemetry(env.telemetry)),
    ...[...search, ...servers].map(withoutSecrets(secrets)),
  ];
  return { checks, misconfigured: settings.invalid };
}

interface ServerNeeds {
  readonly signIns: StoredSignIns;
  readonly files: SecretFiles;
  /** Called with what takes long. */
  readonly tell: ((line: string) => void) | undefined;
}

async function tryServers(
  servers: readonly PreparedServer[],
  env: Env,
  { signIns, files, tell = () => undefined }: ServerNeeds,
): Promise<Check[]> {
  const probes = openProbes(env, servers, signIns, files.read, (server, { phase, isWaiting }) => {
    if (phase !== 'installing') return;
    if (isWaiting) tell(`server ${server}: its package has to be installed, maybe after other installations`);
    else tell(`server ${server}: its package is being installed, which may take minutes`);
  });
  try {
    return await checkServers(servers, probes.probe);
  } finally {
    await probes.close();
  }
}

/** What a dying server said last may hold a secret, and reports of this kind are pasted into issues. */
function withoutSecrets(secrets: readonly string[]): (check: Check) => Check {
  const { clean } = createCleaner(secrets);
  return (check) => ({ ...check, detail: check.detail.split('\n').map(clean).join('\n') });
}
