import { vi } from 'vitest';
import type { Principal } from '../../src/core/access/principal.ts';
import { HubError } from '../../src/core/errors.ts';
import type { ServerRequest } from '../../src/core/protocol/server-requests.ts';
import type { ServerSettings } from '../../src/core/settings/server.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import type { Channel, ChannelEvents } from '../../src/upstream/channels/channel.ts';
import { Connection } from '../../src/upstream/connections/connection.ts';
import {
  createDedicatedConnections,
  type DedicatedConnectionsOptions,
} from '../../src/upstream/connections/dedicated-connections.ts';
import type { OpenedFor } from '../../src/upstream/connections/owner.ts';
import { createStartSemaphore } from '../../src/upstream/connections/start-semaphore.ts';
import { logLines } from './channel-log.ts';

// A server over a pipe, its processes and the clients that call it; what is done, and when, a test says. The clock is
// the test's own.

interface Running {
  readonly id: number;
  readonly by: string;
}

/** One process of the server. What it does, and when, the test decides; a cancelled call goes on. */
export class Process implements Channel {
  readonly running: Running[] = [];
  readonly #events: ChannelEvents;
  readonly #isSilent: boolean;
  /** What it was opened with besides the settings of its server. */
  readonly opened: OpenedFor;
  #lastAsk = 0;
  isOver = false;

  constructor(events: ChannelEvents, opened: OpenedFor = {}, start: Start = 'usual') {
    this.#events = events;
    this.opened = opened;
    this.#isSilent = start === 'silent';
    if (start === 'fails') setImmediate(() => this.#fail());
  }

  #fail(): void {
    if (!this.isOver) this.#events.closed(new HubError('upstream_unavailable', 'It has ended.'));
    this.isOver = true;
  }

  send(text: string): void {
    const { id, method, params } = JSON.parse(text) as { id?: number; method?: string; params?: Sent };
    if (id === undefined || method === undefined || this.isOver || this.#isSilent) return;
    if (method === 'tools/call') this.running.push({ id, by: params?.arguments?.by ?? '' });
    else setImmediate(() => this.#say({ id, result: method === 'initialize' ? handshake : { tools: [] } }));
  }

  /** Asks something for a call. */
  ask({ by }: Running): void {
    this.#say({ id: ++this.#lastAsk, method: 'elicitation/create', params: { message: by } });
  }

  answer(call: Running): void {
    this.running.splice(this.running.indexOf(call), 1);
    this.#say({ id: call.id, result: { content: [] } });
  }

  #say(message: Record<string, unknown>): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#events.message(JSON.parse(text) as object, text);
  }

  abandon(): void {}
  ready(): void {}
  forgetSession(): void {}
  async close(): Promise<void> {
    this.isOver = true;
  }
}

/** How a process starts: it answers the handshake, ends before that, or says nothing. */
type Start = 'usual' | 'fails' | 'silent';

interface Sent {
  readonly arguments?: { readonly by: string };
}

const handshake = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} };
const principal: Principal = { kind: 'anonymous' };

/** A caller who is known, other than most of these. */
export const ann = { kind: 'user', username: 'ann' } as unknown as Principal;

/** Clients whose names begin with a question mark make each call for itself; those with two never answer. */
const hasSession = (client: string): boolean => !client.startsWith('?');
const isLeft = (client: string): boolean => client.startsWith('??');

interface SetUp {
  readonly perSessionClient?: boolean;
  /** Users set credentials of their own at the server. */
  readonly ownCredentials?: boolean;
  readonly bounds?: DedicatedConnectionsOptions['bounds'];
}

function setUp({ perSessionClient = false, ownCredentials = false, bounds }: SetUp = {}) {
  const server = {
    name: 'own',
    transport: { type: 'stdio' },
    keepAliveMs: 60_000,
    perSessionClient,
    ...(ownCredentials && { credentialTemplate: [{}] }),
  } as unknown as ServerSettings;
  const settings = {
    servers: new Map([['own', server]]),
    users: [{ username: 'ann' }],
    keys: [],
  } as unknown as Settings;
  const processes: Process[] = [];
  /** Who was asked, and for whom it was meant. */
  const asked: { readonly who: string; readonly meant: unknown }[] = [];
  const hear = (who: string, ask: ServerRequest): void => {
    asked.push({ who, meant: ask.params['message'] });
    if (!isLeft(who)) ask.answer('result', '{"action":"decline"}');
  };
  const next = { start: 'usual' as Start, secret: 'first' };
  const options = {
    open: (_: ServerSettings, events: ChannelEvents, opened?: OpenedFor) => {
      const process = new Process(events, opened, next.start);
      processes.push(process);
      return process;
    },
    version: '1',
    connectTimeoutMs: 20_000,
    requestTimeoutMs: 300_000,
  };
  const log = logLines();
  const connect = (): Connection => {
    const slots = createStartSemaphore(8);
    const connection = new Connection({ ...options, server, slots, log, changed: () => undefined });
    connection.start();
    return connection;
  };
  let shared = connect();
  const old: Connection[] = [];
  const dedicated = createDedicatedConnections({
    ...options,
    startsAtOnce: 8,
    log: () => log,
    settings: () => settings,
    withoutCredentials: (_, value) => value,
    shared: () => shared,
    abilitiesOf: () => 'f',
    asked: ({ session }, ask) => hear(session, ask),
    ...(bounds && { bounds }),
    ...(ownCredentials && {
      credentials: {
        of: () => ({ env: { TOKEN: next.secret }, headers: {}, args: {}, hash: next.secret }),
        refusal: () => undefined,
      },
    }),
  });
  const calls: { readonly by: string; readonly cancel: () => void; failure: string | undefined }[] = [];
  /**
   * `caller`: whose it is, where callers are told apart besides by their sessions. `waits`: what happens between the
   * call's arrival and its admission. `chosen` hears of the connection of its own.
   */
  const call = async (client: string, options: CallOptions = {}): Promise<string> => {
    const { called = 'ask', caller = principal, waits, chosen = () => undefined } = options;
    const asker = hasSession(client) ? client : undefined;
    const by = asker ?? `${client} ${calls.length}`;
    const owner = { principal: caller, session: asker ?? '' };
    const usual = dedicated.connection('own', owner);
    if (!usual) throw new Error('no connection');
    const isContestable = waits || usual.hasGivenUp || (asker === undefined && usual.isCrowded);
    const request = { waits: waits !== undefined, chosen };
    const connection = isContestable ? dedicated.forAsking(usual, owner, { called, asker }, request) : usual;
    await waits?.();
    // As the relay does: a connected one is used at once.
    if (connection.status.kind !== 'connected') {
      const start = { isOver: false };
      const began = connection.available(5_000).finally(() => (start.isOver = true));
      began.catch(() => undefined);
      while (!start.isOver) await pass(100);
      await began;
    }
    const id = connection.takeId();
    const one = { by, cancel: () => connection.cancel(id, 'not needed'), failure: undefined as string | undefined };
    const exchange = {
      notified: () => undefined,
      answered: () => undefined,
      failed: (error: Error) => void (one.failure = error.message),
      asked: (ask: ServerRequest) => hear(by, ask),
      asker,
      called,
    };
    connection.send(id, 'tools/call', JSON.stringify({ name: called, arguments: { by } }), exchange);
    calls.push(one);
    return by;
  };
  return {
    /** How the next processes start, and what a user's credential is from now on. */
    next,
    /** What happens when the settings of the server change: another connection takes the place of the shared one. */
    async replace({ stops = true } = {}): Promise<void> {
      const before = shared;
      shared = connect();
      dedicated.reconcile();
      if (stops) await before.stop();
      else old.push(before);
      await pass(200);
    },
    asked,
    calls,
    call,
    processes,
    dedicated,
    /** All that runs in any process. */
    running: () =>
      processes
        .filter(({ isOver }) => !isOver)
        .flatMap((process) => process.running.map((call) => ({ process, call }))),
    close: () => Promise.all([dedicated.close(), ...[shared, ...old].map((one) => one.stop())]),
  };
}

interface CallOptions {
  readonly called?: string;
  readonly caller?: Principal;
  readonly waits?: () => Promise<unknown>;
  readonly chosen?: (connection: Connection) => void;
}

/** Lets time pass, and whatever is due happen. */
export async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= 100) {
    vi.advanceTimersByTime(Math.min(left, 100));
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

export async function withClock(
  act: (set: ReturnType<typeof setUp>) => Promise<void>,
  settings?: Parameters<typeof setUp>[0],
): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  const set = setUp(settings);
  try {
    await pass(200);
    await act(set);
  } finally {
    const closed = set.close();
    await pass(500);
    await closed;
    vi.useRealTimers();
  }
}
