import { join, resolve } from 'node:path';
import type { Catalogue } from '../core/catalogue.ts';
import { errorText, HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings/settings.ts';
import { view } from '../core/access/view.ts';
import type { Env } from '../env/env.ts';
import { type AskedSearch, searchReport, type SearchReport } from '../mcp/search-report.ts';
import { settingsFile } from '../settings/file.ts';
import { parseSettings } from '../settings/document/parse-settings.ts';
import { loadLocalEmbedder } from '../smart/embedder-local.ts';
import { createSmartIndex, toolKey } from '../smart/routing.ts';
import { createSearchEngine } from '../smart/search-engine.ts';
import { loadCatalogue } from '../upstream/connections/saved-catalogue.ts';

/**
 * Searches without a hub: the settings file, and what its servers offered when a hub last ran. A user who can read
 * these files sees all of it. Throws HubError `misconfigured` when either is missing or cannot be used.
 */
export async function searchSaved(asked: AskedSearch, env: Env): Promise<SearchReport> {
  const settings = asOperator(await savedSettings(env));
  const catalogue = await savedCatalogue(env);
  const index = createSmartIndex(createSearchEngine(await loadLocalEmbedder()));
  index.sync(settings, catalogue);
  await index.ready();
  return searchReport(
    asked,
    { settings, view: (scope) => view(settings, catalogue, { kind: 'user', username: operator }, scope) },
    {
      search: async (request) => ({ ...index.search(request), degraded: undefined }),
      key: ({ server, key }) => toolKey(server, key),
      available: () => true,
    },
  );
}

const operator = '$operator';

/** The settings with one admin, who asks. */
function asOperator(settings: Settings): Settings {
  const admin = {
    username: operator,
    passwordHash: '',
    role: 'admin',
    email: undefined,
    servers: [],
    groups: [],
    createdAt: undefined,
  } as const;
  return { ...settings, users: [admin] };
}

async function savedSettings(env: Env): Promise<Settings> {
  const path = resolve(env.settingsPath);
  if (env.database.kind === 'postgres')
    throw new HubError(
      'misconfigured',
      'Cannot search without a hub: the settings are in the database (DB_URL). Start the hub, or name one with --url.',
    );
  const loaded = await settingsFile(path).load();
  if (loaded.kind === 'broken') throw new HubError('misconfigured', loaded.error.message, { cause: loaded.error });
  if (loaded.kind === 'missing')
    throw new HubError(
      'misconfigured',
      `Cannot search: no hub runs here and there is no settings file ${path}. Start a hub with "toolhub serve", or name one with --url.`,
    );
  return parseSettings(loaded.document).settings;
}

async function savedCatalogue(env: Env): Promise<Catalogue> {
  const path = resolve(join(env.dataDir, 'catalogue.json'));
  const saved = await loadCatalogue(path, warnings);
  if (saved.length === 0)
    throw new HubError(
      'misconfigured',
      `Cannot search: ${path} holds no tools. A hub writes it once its servers are connected: start one with "toolhub serve".`,
    );
  return { version: 1, offers: new Map(saved.map(({ offer }) => [offer.server, offer])) };
}

const silent = (): void => {};
const warnings: Logger = {
  debug: silent,
  info: silent,
  warn: (message, fields) => void process.stderr.write(`toolhub: ${message}: ${errorText(fields?.['error'])}\n`),
  error: silent,
};
