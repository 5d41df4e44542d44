import type { ServerSettings } from '../../src/core/settings/server.ts';
import type { Channel, ChannelEvents } from '../../src/upstream/channels/channel.ts';
import { Connection } from '../../src/upstream/connections/connection.ts';
import type { ConnectionOptions } from '../../src/upstream/connections/options.ts';
import { createStartSemaphore } from '../../src/upstream/connections/start-semaphore.ts';
import { atEnd } from './at-end.ts';
import { logLines } from './channel-log.ts';
import { until } from './until.ts';

export interface Asked {
  readonly id: number;
  readonly method: string;
}

/** A server in memory. `answers` says what it does with a request; by default it is honest and offers one tool. */
export class Scripted implements Channel {
  readonly sent: string[] = [];
  readonly events: ChannelEvents;
  readonly #answers: NonNullable<Script['answers']>;
  readonly #closing: () => Promise<void>;

  constructor(events: ChannelEvents, script: Script) {
    this.events = events;
    this.#answers = script.answers ?? (() => undefined);
    this.#closing = script.closing ?? (async () => undefined);
  }

  send(text: string): void {
    this.sent.push(text);
    const { id, method } = JSON.parse(text) as Partial<Asked>;
    if (id === undefined || method === undefined) return;
    // Never from inside `send`.
    setImmediate(() => {
      const result = this.#answers({ id, method }, this) ?? honest(method);
      if (result !== silent) this.say({ id, ...result });
    });
  }

  say(message: Record<string, unknown>): boolean {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    return this.events.message(JSON.parse(text) as object, text);
  }

  methods(): unknown[] {
    return this.sent.map((text) => (JSON.parse(text) as Asked).method);
  }

  abandon(): void {}
  ready(): void {}
  forgetSession(): void {}
  close(): Promise<void> {
    return this.#closing();
  }
}

export const silent: unique symbol = Symbol('no answer');

export function honest(method: string): object {
  if (method === 'initialize')
    return {
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } },
        serverInfo: {},
      },
    };
  const member = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' }[method];
  if (method === 'resources/templates/list') return { result: { resourceTemplates: [] } };
  return { result: member === undefined ? {} : { [member]: [{ name: 'one', uri: 'x://one' }] } };
}

export interface Script {
  answers?: (asked: Asked, server: Scripted) => object | typeof silent | undefined;
  closing?: () => Promise<void>;
}

/** A started connection to such servers, one for each start. */
export function connectionTo(script: Script, options: Partial<ConnectionOptions> = {}) {
  const lives: Scripted[] = [];
  const log = logLines();
  let changes = 0;
  const connection = new Connection({
    server: { name: 's', transport: { type: 'stdio' }, keepAliveMs: 60_000 } as unknown as ServerSettings,
    open: (_, events) => {
      const life = new Scripted(events, script);
      lives.push(life);
      return life;
    },
    version: '1',
    connectTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    slots: createStartSemaphore(1),
    log,
    changed: () => void changes++,
    ...options,
  });
  atEnd(() => connection.stop());
  connection.start();
  const kind = (wanted: string) => until(`it is ${wanted}`, () => connection.status.kind === wanted);
  return { connection, lives, log, changes: () => changes, kind };
}
