import { type Reason, withValues } from './reasons.ts';

/** What each kind of failure looks like outside: HTTP status and JSON-RPC code. The only such table. */
export const errorTable = {
  invalid_input: { status: 400, rpc: -32602 },
  unauthenticated: { status: 401, rpc: -32001 },
  forbidden: { status: 403, rpc: -32003 },
  /** The password has to be given again first (CONTRACT §7): `error` in the answer says so to programs. */
  reauthenticate: { status: 403, rpc: -32003 },
  /** The password was right, and the user has a second factor (`secondFactor`). */
  second_factor_required: { status: 401, rpc: -32001 },
  /** The settings demand a second factor, which the user has to set up before anything else. */
  second_factor_setup_required: { status: 403, rpc: -32003 },
  oauth_required: { status: 403, rpc: -32003 },
  /** A server that each user uses with credentials of their own (CONTRACT §8). */
  credentials_required: { status: 403, rpc: -32001 },
  /** A policy forbids the call (CONTRACT §9). `data` says which. */
  policy: { status: 403, rpc: -32001 },
  /** The call needs the yes of a person, who said no, or did not answer. `data` says which question it was. */
  approval: { status: 403, rpc: -32001 },
  /** A guard refuses the call or its result: a webhook, or what looks for secrets. `data` says which. */
  guard: { status: 403, rpc: -32001 },
  not_found: { status: 404, rpc: -32602 },
  /** Makes clients of MCP initialize again (2025-11-25, Session management). */
  session_gone: { status: 404, rpc: -32001 },
  conflict: { status: 409, rpc: -32602 },
  too_large: { status: 413, rpc: -32600 },
  wrong_type: { status: 415, rpc: -32600 },
  too_many: { status: 429, rpc: -32000 },
  /** More calls than `limits` allow (CONTRACT §9). */
  limit_exceeded: { status: 429, rpc: -32005 },
  upstream_failed: { status: 502, rpc: -32000 },
  upstream_unavailable: { status: 503, rpc: -32000 },
  not_ready: { status: 503, rpc: -32000 },
  timeout: { status: 504, rpc: -32000 },
  cancelled: { status: 499, rpc: -32000 },
  misconfigured: { status: 500, rpc: -32603 },
} as const satisfies Record<string, { status: number; rpc: number }>;

export type ErrorCode = keyof typeof errorTable;

/** One problem of an input, at its JSON path (`mcpServers.github.args[2]`). */
export interface Problem {
  path: string;
  message: string;
}

/** What a login has to show besides the password. */
export interface FactorAsked {
  /** Says that the password was right, for a few minutes: to be sent back in place of it. */
  readonly challenge: string;
  /** In which ways: `totp`, `passkey`, `recovery`. */
  readonly methods: readonly string[];
  /** What a browser is asked for a passkey (WebAuthn); undefined where there is none for it. */
  readonly passkey?: unknown;
  readonly username: string;
  /** A factor was shown, and was wrong. */
  readonly wrong: boolean;
}

export interface HubErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly Problem[];
  readonly retryAfterMs?: number;
  readonly authorizationUrl?: string;
  readonly credentialsUrl?: string;
  readonly secondFactor?: FactorAsked;
  readonly told?: string;
  readonly unreachable?: string;
  readonly isLost?: boolean;
  readonly reason?: Reason | undefined;
  readonly output?: string | undefined;
  readonly data?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly said?: { readonly code: string; readonly values: Readonly<Record<string, string>> } | undefined;
}

/**
 * A failure the hub expected. `message` may be shown to the caller; `cause` goes to the log only.
 * Anything thrown that is not a HubError is a bug and must never reach a caller in words.
 */
export class HubError extends Error {
  readonly code: ErrorCode;
  /** Each problem of the input by path, when the input is what is wrong. */
  readonly problems: readonly Problem[];
  /** When it is worth trying again, in milliseconds from now (`Retry-After`). */
  readonly retryAfterMs: number | undefined;
  /** With `oauth_required`: the page on which the one who asked can sign in to the server. */
  readonly authorizationUrl: string | undefined;
  /** With `credentials_required`: the page on which the one who asked can set them. */
  readonly credentialsUrl: string | undefined;
  /** With `second_factor_required`. */
  readonly secondFactor: FactorAsked | undefined;
  /**
   * Of a call to a server: what the caller is told, where that is more than that the call failed. It may be less than
   * `message` says.
   */
  readonly told: string | undefined;
  /**
   * Of a connection that did not come about: why, in whole sentences that name no address, so that every caller may
   * read them.
   */
  readonly unreachable: string | undefined;
  /**
   * Of a call to a server: it had left, and its connection ended before the answer came. The server may have carried it
   * out.
   */
  readonly isLost: boolean;
  /** Of a server that does not connect: why, by name. Its values may quote what the server said. */
  readonly reason: Reason | undefined;
  /** Of a server that does not connect: what it said last. For those who manage it. */
  readonly output: string | undefined;
  /** With `policy`, `approval` and `guard`: what refused the call, for programs. Every caller may read it. */
  readonly data: HubErrorOptions['data'];
  /** `message` by name, where it is one of the table of sentences (`core/sentences.ts`). */
  readonly said: HubErrorOptions['said'];

  constructor(code: ErrorCode, message: string, options: HubErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'HubError';
    this.code = code;
    this.problems = options.problems ?? [];
    this.retryAfterMs = options.retryAfterMs;
    this.authorizationUrl = options.authorizationUrl;
    this.credentialsUrl = options.credentialsUrl;
    this.secondFactor = options.secondFactor;
    this.told = options.told;
    this.unreachable = options.unreachable;
    this.isLost = options.isLost ?? false;
    this.reason = options.reason;
    this.output = options.output;
    this.data = options.data;
    this.said = options.said;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  get rpcCode(): number {
    return errorTable[this.code].rpc;
  }
}

/** The same failure in other words. */
export function reworded(
  error: HubError,
  message: string,
  { reason, output }: Pick<HubErrorOptions, 'reason' | 'output'> = error,
): HubError {
  if (message === error.message && reason === error.reason && output === error.output) return error;
  const said = message === error.message ? error.said : undefined;
  return new HubError(error.code, message, { ...optionsOf(error), reason, output, said });
}

/** The same failure, of a call whose connection ended after it had left; with `false`, of no such call. */
export function asLost(error: HubError, isLost = true): HubError {
  return error.isLost === isLost ? error : new HubError(error.code, error.message, { ...optionsOf(error), isLost });
}

function optionsOf(error: HubError): HubErrorOptions {
  const { retryAfterMs, authorizationUrl, credentialsUrl, secondFactor, told, unreachable } = error;
  const { cause, problems, isLost, reason, output, data, said } = error;
  return {
    cause,
    problems,
    isLost,
    reason,
    output,
    data,
    said,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(credentialsUrl !== undefined && { credentialsUrl }),
    ...(secondFactor && { secondFactor }),
    ...(told !== undefined && { told }),
    ...(unreachable !== undefined && { unreachable }),
  };
}

/** The same failure with everything it quotes passed through `clean`. */
export function cleaned(error: HubError, clean: (text: string) => string): HubError {
  const { message, reason, output } = error;
  const inLines = (text: string) => text.split('\n').map(clean).join('\n');
  return reworded(error, clean(message), {
    reason: reason && withValues(reason, clean),
    output: output === undefined ? undefined : inLines(output),
  });
}

/** The text of whatever was thrown, for logs. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Names for a message, the first few. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}
