import type { Catalogue, Item, Offer } from '../../src/core/catalogue.ts';
import type { GroupServer, GroupSettings } from '../../src/core/settings/group.ts';
import type { KeySettings } from '../../src/core/settings/key.ts';
import type { ServerSettings } from '../../src/core/settings/server.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import type { UserSettings } from '../../src/core/settings/user.ts';

/** Settings, and what servers offer, as the hub has them in memory, with defaults, for tests of pure rules. */

export const server = (name: string, more: Partial<ServerSettings> = {}): ServerSettings => ({
  name,
  enabled: true,
  description: undefined,
  owner: 'admin',
  visibility: undefined,
  sharedWithUsers: [],
  transport: { type: 'stdio', command: 'x', args: [], env: {}, cwd: undefined },
  tools: new Map(),
  prompts: new Map(),
  resources: new Map(),
  timeoutMs: undefined,
  resetTimeoutOnProgress: true,
  maxTotalTimeoutMs: undefined,
  keepAlive: undefined,
  keepAliveMs: 60_000,
  maxMessageBytes: 1_000,
  perSessionClient: false,
  ...more,
});

export const entry = (name: string, more: Partial<GroupServer> = {}): GroupServer => ({
  name,
  alias: undefined,
  tools: 'all',
  prompts: 'all',
  resources: 'all',
  pinnedTools: [],
  ...more,
});

export const group = (name: string, servers: GroupServer[], more: Partial<GroupSettings> = {}): GroupSettings => ({
  id: `id-${name}`,
  name,
  description: undefined,
  owner: 'admin',
  visibility: undefined,
  sharedWithUsers: [],
  servers,
  ...more,
});

export const user = (username: string, more: Partial<UserSettings> = {}): UserSettings => ({
  username,
  passwordHash: '',
  role: 'user',
  email: undefined,
  servers: [],
  groups: [],
  createdAt: undefined,
  ...more,
});

export const key = (id: string, more: Partial<KeySettings> = {}): KeySettings => ({
  id,
  name: id,
  tokenHash: '',
  enabled: true,
  kind: 'system',
  owner: undefined,
  accessType: 'all',
  allowedGroups: [],
  allowedServers: [],
  ...more,
});

export interface Parts {
  servers?: ServerSettings[];
  groups?: GroupSettings[];
  users?: UserSettings[];
  keys?: KeySettings[];
}

export const settings = ({ servers = [], groups = [], users = [], keys = [] }: Parts): Settings => ({
  servers: new Map(servers.map((one) => [one.name, one])),
  groups,
  users,
  keys,
  system: {
    nameSeparator: '-',
    routing: {
      enableGlobalRoute: true,
      enableGroupNameRoute: true,
      enableBearerAuth: undefined,
      openApiAccess: 'open',
    },
    oauthServer: { enabled: true, registration: true },
    listPageSize: 0,
    progressiveDisclosure: undefined,
    storeToolPayload: false,
  },
});

/** What a server offers, with a name, a URI or a URI template as the member that it is known by. */
export const item = (key: string, member = 'name', more: object = { description: 'own' }): Item => ({
  key,
  text: JSON.stringify({ [member]: key, ...more }),
});

export const offer = (server: string, tools: readonly string[], more: Partial<Offer> = {}): Offer => ({
  server,
  about: {
    info: '{"name":"x"}',
    instructions: undefined,
    capabilities: ['tools', 'resources'],
    protocolVersion: '2025-11-25',
  },
  tools: tools.map((name) => item(name)),
  prompts: [],
  resources: [],
  templates: [],
  ...more,
});

export const catalogue = (...offers: Offer[]): Catalogue => ({
  version: 1,
  offers: new Map(offers.map((one) => [one.server, one])),
});
