import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Hostile, hostileStdio } from '../kit/hostile.ts';
import { rpc, stream, type Stream } from '../kit/raw.ts';
import { modern, session, type Session } from '../kit/sessions.ts';
import { type SettingsDocument, testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Clients of both eras, changes of the settings, servers that grow and die, hubs that start again, in any order, held
// against a model of a page: what each client sees is what the model says, streams are told of a change if and only if
// theirs is one, and sessions end when they are ended and not before.

type Name = 'a' | 'b';
const names: readonly Name[] = ['a', 'b'];
const scopes = ['', 'g', 'a', 'b'] as const;
type Scope = (typeof scopes)[number];
/** A caller without a credential, or with a key that opens server `a` alone. */
type Who = 'anyone' | 'key';

interface ServerModel {
  enabled: boolean;
  /** Tools that the operator switched off. */
  off: Set<string>;
  /** What the server has besides its own tools until it dies. */
  grown: string[];
}

interface World {
  servers: Record<Name, ServerModel>;
  /** Members of the group, and whether only `one` of each is selected. */
  members: Map<Name, 'all' | 'one'>;
  clients: ClientModel[];
  count: number;
}

interface ClientModel {
  readonly who: Who;
  readonly scope: Scope;
  readonly index: number;
  listens: boolean;
  ended: boolean;
}

const own = ['one', 'two', 'grow'];

function visible({ servers, members }: World, who: Who, scope: Scope): string[] {
  const of = (name: Name, picked: 'all' | 'one'): string[] => {
    const { enabled, off, grown } = servers[name];
    const tools = [...own, ...grown].filter((tool) => !off.has(tool) && (picked === 'all' || tool === 'one'));
    return enabled ? tools : [];
  };
  const prefixed = (name: Name, picked: 'all' | 'one'): string[] => of(name, picked).map((tool) => `${name}-${tool}`);
  if (scope === 'a' || scope === 'b') return who === 'key' && scope === 'b' ? [] : of(scope, 'all');
  if (scope === '') return who === 'key' ? [] : names.flatMap((name) => prefixed(name, 'all'));
  const contained = members.size > 0 && [...members.keys()].every((name) => name === 'a');
  if (who === 'key' && !contained) return [];
  return [...members].flatMap(([name, picked]) => prefixed(name, picked));
}

const token = `mcphub_${'e'.repeat(64)}`;
const headersOf = (who: Who): Record<string, string> => (who === 'key' ? { authorization: `Bearer ${token}` } : {});

interface Client {
  readonly session: Session;
  open: Stream | undefined;
  /** How often its stream was told that its tools changed, over all its connections. */
  told: number;
}

/** The real thing: one hub at a time, its two servers, and the clients in the order in which they came. */
class Reality {
  readonly hostile: Record<Name, Hostile> = {
    a: hostileStdio({ name: 'a', tools: own }),
    b: hostileStdio({ name: 'b', tools: own }),
  };
  readonly clients: Client[] = [];
  hub: TestHub | undefined;

  settings({ servers, members }: World): SettingsDocument {
    const server = (name: Name) => ({
      ...this.hostile[name].config,
      enabled: servers[name].enabled,
      tools: Object.fromEntries([...servers[name].off].map((tool) => [tool, { enabled: false }])),
    });
    return {
      mcpServers: { a: server('a'), b: server('b') },
      groups: [
        {
          id: '99999999-1111-4111-8111-111111111111',
          name: 'g',
          servers: [...members].map(([name, picked]) => ({ name, tools: picked === 'all' ? 'all' : ['one'] })),
        },
      ],
      bearerKeys: [
        {
          id: 'key',
          name: 'key',
          enabled: true,
          token,
          tokenHash: createHash('sha256').update(token).digest('hex'),
          accessType: 'servers',
          allowedGroups: [],
          allowedServers: ['a'],
        },
      ],
      systemConfig: { routing: { enableBearerAuth: false } },
    };
  }

  get url(): TestHub {
    if (!this.hub) throw new Error('no hub');
    return this.hub;
  }

  async start(world: World): Promise<void> {
    const before = this.hub;
    await before?.close();
    // On the same data and at the same address: clients come back to where they were.
    const again = before && { folder: before.folder, env: { PORT: new URL(before.url).port } };
    this.hub = await testHub({ ...this.settings(world), ...again });
    await this.hub.connected(names.filter((name) => world.servers[name].enabled).length);
  }

  /** Waits until all users see what the model says, and has been told if that is news. */
  async agrees(world: World, before: readonly string[][]): Promise<void> {
    const list = async (who: Who, scope: Scope): Promise<unknown> => {
      const answer = await modern(this.url.mcp(scope), 'tools/list', {}, { headers: headersOf(who) });
      return answer.result?.tools?.map(({ name }) => name);
    };
    for (const who of ['anyone', 'key'] as const) {
      for (const scope of scopes) {
        const wanted = JSON.stringify(visible(world, who, scope));
        await until(
          `${who} sees ${wanted} at "${scope}"`,
          async () => JSON.stringify(await list(who, scope)) === wanted,
        );
      }
    }
    for (const [i, client] of world.clients.entries()) {
      const real = this.clients[i];
      if (!real || client.ended) continue;
      const answer = await real.session.request('tools/list');
      expect(answer.result?.tools?.map(({ name }) => name)).toEqual(visible(world, client.who, client.scope));
      if (!client.listens) continue;
      const isNews =
        before[i] !== undefined &&
        JSON.stringify(before[i]) !== JSON.stringify(visible(world, client.who, client.scope));
      const heard = (): number =>
        real.open?.messages.filter(({ method }) => method?.endsWith('list_changed')).length ?? 0;
      if (isNews) await until(`client ${i} is told`, () => heard() > real.told);
      else expect(heard(), `client ${i} is told of nothing`).toBe(real.told);
      real.told = heard();
    }
  }
}

type Command = fc.AsyncCommand<World, Reality>;

/** A change of the world, followed by the question whether all agree on it. */
function change(
  name: string,
  apply: (world: World) => void,
  act: (reality: Reality, world: World) => Promise<void>,
  check: (world: World) => boolean = () => true,
): Command {
  return {
    check,
    async run(world, reality) {
      const before = world.clients.map(({ who, scope }) => visible(world, who, scope));
      apply(world);
      await act(reality, world);
      await reality.agrees(world, before);
    },
    toString: () => name,
  };
}

const write = async (reality: Reality, world: World): Promise<void> => reality.url.write(reality.settings(world));

/** What a server has grown is gone with its process. */
const restarted = (server: ServerModel): void => void (server.grown = []);

const anyName = fc.constantFrom(...names);
const commands = [
  fc
    .tuple(fc.constantFrom<Who>('anyone', 'key'), fc.constantFrom(...scopes), fc.boolean())
    .map(([who, scope, listens]) =>
      change(
        `${who} opens a session at "${scope}"${listens ? ' and listens' : ''}`,
        (world) => world.clients.push({ who, scope, index: world.clients.length, listens, ended: false }),
        async (reality) => {
          const one = await session(reality.url.mcp(scope), { headers: headersOf(who) });
          reality.clients.push({ session: one, open: listens ? await one.listen() : undefined, told: 0 });
        },
        ({ clients }) => clients.length < 6,
      ),
    ),
  anyName.map((name) =>
    change(
      `${name} is switched`,
      ({ servers }) => {
        servers[name].enabled = !servers[name].enabled;
        restarted(servers[name]);
      },
      write,
    ),
  ),
  fc.tuple(anyName, fc.constantFrom('one', 'two')).map(([name, tool]) =>
    change(
      `tool ${tool} of ${name} is switched`,
      ({ servers }) => {
        const { off } = servers[name];
        if (!off.delete(tool)) off.add(tool);
      },
      write,
    ),
  ),
  fc.tuple(anyName, fc.constantFrom<'all' | 'one' | undefined>('all', 'one', undefined)).map(([name, picked]) =>
    change(
      `${name} is ${picked ?? 'not'} in the group`,
      ({ members }) => {
        members.delete(name);
        if (picked) members.set(name, picked);
      },
      write,
    ),
  ),
  anyName.map((name) =>
    change(
      `${name} grows`,
      (world) => void world.servers[name].grown.push(`grown_${world.count++}`),
      async (reality, world) => {
        await rpc(reality.url.mcp(name), 'tools/call', {
          name: 'grow',
          arguments: { tool: world.servers[name].grown.at(-1) },
        });
      },
      ({ servers }) => servers[name].enabled && servers[name].grown.length < 3,
    ),
  ),
  anyName.map((name) =>
    change(
      `${name} dies`,
      ({ servers }) => restarted(servers[name]),
      async (reality, world) => {
        const enabled = names.filter((one) => world.servers[one].enabled).length;
        // Its lists are there again, from what is remembered, before the program of a server that was switched on.
        await reality.url.connected(enabled);
        const lives = () => reality.hostile[name].journal().filter(({ event }) => event === 'start').length;
        const before = lives();
        await reality.hostile[name].control({ exit: 1 });
        await until('it is alive again', () => lives() > before);
        await reality.url.connected(enabled);
      },
      ({ servers }) => servers[name].enabled,
    ),
  ),
  fc.constant(
    change(
      'the hub starts again',
      ({ servers }) => names.forEach((name) => restarted(servers[name])),
      async (reality, world) => {
        const last = reality.clients.map(({ open }) => open?.ids.at(-1));
        await reality.start(world);
        for (const [i, client] of reality.clients.entries()) {
          if (!client.open || world.clients[i]?.ended === true) continue;
          const headers = { ...client.session.headers, ...(last[i] !== undefined && { 'last-event-id': last[i] }) };
          client.open = await stream(reality.url.mcp(world.clients[i]?.scope), { headers });
          client.told = 0;
        }
      },
    ),
  ),
  fc.nat(5).map((at) =>
    change(
      `client ${at} ends its session`,
      ({ clients }) => {
        const client = clients[at];
        if (client) client.ended = true;
      },
      async ({ clients }) => {
        const client = clients[at];
        if (!client) throw new Error('no such client');
        expect((await client.session.end()).status).toBe(200);
        expect((await client.session.request('tools/list')).status).toBe(404);
        await until('its stream is ended', () => client.open?.ended() ?? true);
      },
      ({ clients }) => clients[at]?.ended === false,
    ),
  ),
];

test(
  'what each user sees and hears is what the model says, whatever happens in whatever order',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 14 }), async (plan) => {
        const reality = new Reality();
        const model: World = {
          servers: { a: { enabled: true, off: new Set(), grown: [] }, b: { enabled: true, off: new Set(), grown: [] } },
          members: new Map([['a', 'all']]),
          clients: [],
          count: 0,
        };
        await reality.start(model);
        try {
          await fc.asyncModelRun(() => ({ model, real: reality }), plan);
        } finally {
          await reality.hub?.close();
        }
      }),
      // A hub and two processes are started for each; shrinking would start dozens more.
      { numRuns: 8, interruptAfterTimeLimit: 60_000, endOnFailure: true },
    );
  },
);
