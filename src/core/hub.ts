import type { Reason } from './reasons.ts';

/**
 * What a server is doing right now, for the start-up banner, `toolhub doctor` and the dashboard (CONTRACT §4, Servers).
 */
export interface ServerState {
  readonly name: string;
  readonly status: ServerStatus;
  /** While it is connecting: how far that is. */
  readonly phase?: 'installing' | 'starting' | 'handshake';
  /** ISO time since when it is in this phase. */
  readonly phaseSince?: string;
  /** While it is connecting: other starts come first. */
  readonly waiting?: true;
  /** Why it is not connected, with what to do about it; while it is connecting, why the last attempt failed. */
  readonly error?: string;
  /** The same by name, and what the server said last; for those who manage it. */
  readonly reason?: Reason;
  readonly output?: string;
  /** Why no connection comes about, in words that name no address. */
  readonly unreachable?: string;
  /** The address to open to sign in to the server; only for those who may manage it. */
  readonly oauth?: { readonly authorizationUrl: string };
  /** ISO time of the next attempt to connect. */
  readonly nextRetryAt?: string;
  /** Failures to connect since the connection last held. */
  readonly attempts?: number;
  /** ISO time since when it is connected, or when it last was; absent when it was not since the hub started. */
  readonly lastConnectedAt?: string;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** How long the connection took, once there is one. */
  readonly ms?: number;
}

/** `asleep`: it starts on demand, and was not used for a while. Its lists stand, and the next call starts it. */
export type ServerStatus = 'connecting' | 'connected' | 'asleep' | 'disconnected' | 'oauth_required' | 'disabled';

/** A running hub. The code that started it closes it. */
export interface Hub {
  /** Address without a trailing slash, `BASE_PATH` included: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The endpoint with all servers: `http://127.0.0.1:3000/mcp`. */
  readonly mcpUrl: string;
  readonly settingsPath: string;
  /** No settings file was there before. */
  readonly firstStart: boolean;
  /** Present only when this start made the first admin; it cannot be read again later. */
  readonly adminPassword?: string;
  /**
   * The file that contains it, where it must not be written to a log. The file is removed once the password is changed.
   */
  readonly adminPasswordFile?: string;
  /** MCP clients need an access key. */
  readonly keyRequired: boolean;
  /**
   * One line per thing an anonymous caller from elsewhere can do; present only when the hub listens beyond loopback.
   */
  readonly exposure?: readonly string[];
  servers(): readonly ServerState[];
  /** Resolves when no server is `connecting` any more, or after `timeoutMs`. */
  settled(timeoutMs: number): Promise<void>;
  /** Stops accepting, lets running calls finish (`hubLimits.drainMs`), ends every child process. */
  close(): Promise<void>;
}
