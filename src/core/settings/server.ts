import type { Problem } from '../errors.ts';
import type { CallLimits, PinMode, SecretsInCalls } from './governance.ts';

export type Visibility = 'private' | 'group' | 'public';

export interface ServerSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly description: string | undefined;
  readonly owner: string;
  /**
   * Undefined when the file does not say: reached by the lists of users and groups, and by anonymous where that is
   * welcome.
   */
  readonly visibility: Visibility | undefined;
  /** The admin who made the server of a user public; undefined for one that no admin did. */
  readonly publishedBy?: string | undefined;
  readonly sharedWithUsers: readonly string[];
  readonly transport: TransportSettings;
  /** Per item, keyed by the upstream's own name (URI for resources). */
  readonly tools: ReadonlyMap<string, ItemSettings>;
  readonly prompts: ReadonlyMap<string, ItemSettings>;
  readonly resources: ReadonlyMap<string, ItemSettings>;
  /** How long one call may take; undefined = `REQUEST_TIMEOUT_MS`. */
  readonly timeoutMs: number | undefined;
  /** Progress starts that time again. */
  readonly resetTimeoutOnProgress: boolean;
  /** The longest a call may take however much progress it reports; undefined = `upstreamLimits.callTotalMs`. */
  readonly maxTotalTimeoutMs: number | undefined;
  /** Undefined = on for remote servers, off for stdio. */
  readonly keepAlive: boolean | undefined;
  readonly keepAliveMs: number;
  readonly maxMessageBytes: number;
  readonly perSessionClient: boolean;
  /** A program that runs while it is used, and is stopped when it was idle for so long; undefined = it runs always. */
  readonly onDemand?: { readonly idleMs: number } | undefined;
  /** What each user sets for themselves, and calls take along; undefined = nothing (CONTRACT §8). */
  readonly credentialTemplate?: readonly CredentialSlot[] | undefined;
  /** How the server is spoken to: with sessions, or without (since 2026-07-28); undefined = it is found out. */
  readonly era?: 'session' | 'stateless' | undefined;
  /** Of all its callers together. */
  readonly limits?: CallLimits | undefined;
  /** Until then arguments and results of its calls are kept: milliseconds, as of `Date.now()`. */
  readonly keepPayloadsUntil?: number | undefined;
  /** Of its tools, as in `SystemSettings`. */
  readonly maxResultTokens?: number | undefined;
  /** What becomes of what it changes (`pins.mode`); undefined = as the hub has it. */
  readonly pinMode?: PinMode | undefined;
  /** What becomes of secrets in its calls; what is undefined is as the hub has it. */
  readonly secretsInCalls?: SecretsInCalls | undefined;
}

/** A value that each user sets: a variable or header of that name, or the place `${credential:<name>}` in `args`. */
export interface CredentialSlot {
  readonly target: 'env' | 'headers' | 'args';
  readonly name: string;
  readonly label?: string | undefined;
}

/** Strings as written in the file: `${VAR}` is expanded when the server is connected, never before. */
export type TransportSettings = UsableTransport | InvalidTransport;

/** The entry of the server cannot be used; `problems` says why. It is never connected. */
export interface InvalidTransport {
  readonly type: 'invalid';
  readonly problems: readonly Problem[];
}

export type UsableTransport =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
      /** Undefined: it runs as the hub does. */
      readonly sandbox?: SandboxSettings | undefined;
      /** It runs in a container, which its `sandbox` opens; `command` may then be empty. */
      readonly container?: ContainerSettings | undefined;
    }
  | RemoteTransport
  | {
      readonly type: 'openapi';
      readonly openapi: Readonly<Record<string, unknown>>;
      readonly headers: Readonly<Record<string, string>>;
      readonly env: Readonly<Record<string, string>>;
      readonly passthroughHeaders?: readonly string[] | undefined;
    };

export interface ContainerSettings {
  readonly image: string;
}

/** What a program in a sandbox may take, with all that it starts. Undefined: as much as there is. */
export interface SandboxBounds {
  /** 1 048 576 bytes each */
  readonly memoryMb?: number | undefined;
  /** Processor cores, in parts of one too. */
  readonly cpus?: number | undefined;
  /** Processes and threads. */
  readonly processes?: number | undefined;
}

/** What a program in a sandbox reaches (CONTRACT §10). Paths are absolute once their variables are filled in. */
export interface SandboxSettings extends SandboxBounds {
  readonly network: 'none' | 'host';
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** `auto`: a URL without a type. Streamable HTTP is tried first, then legacy SSE. */
export interface RemoteTransport {
  readonly type: 'streamable-http' | 'sse' | 'auto';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /**
   * The headers of the client's request that the server gets, by name in lower case; undefined = none (CONTRACT §8).
   */
  readonly passthroughHeaders?: readonly string[] | undefined;
  readonly oauth?: OAuthSettings | undefined;
}

/**
 * What the operator says about signing in to a remote server (`oauth`, reference: MCPHub §4.1); whatever is missing is
 * found out.
 */
export interface OAuthSettings {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** In place of the hub's own `/oauth/callback`. */
  readonly redirectUri?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Tokens that the operator got elsewhere. The hub starts with them and keeps the renewed ones. */
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
  /** The resource indicator (RFC 8707), where the server does not name its own. */
  readonly resource?: string | undefined;
  readonly authorizationEndpoint?: string | undefined;
  readonly tokenEndpoint?: string | undefined;
  readonly revocationEndpoint?: string | undefined;
  /** Vouches for an authorization server that does PKCE and does not say so. */
  readonly codeChallengeMethod?: 'S256' | undefined;
  /** The authorization server to use. */
  readonly issuer?: string | undefined;
  readonly registrationEndpoint?: string | undefined;
  readonly initialAccessToken?: string | undefined;
  /** Whether the hub may register itself (RFC 7591); undefined = yes. */
  readonly dynamicRegistration?: boolean | undefined;
  /** Each user signs in alone, and uses the server as who they are there; undefined = one sign-in for all users. */
  readonly perUser?: boolean | undefined;
}

export interface ItemSettings {
  readonly enabled: boolean;
  readonly description: string | undefined;
  /** Of a tool: as in `SystemSettings`. */
  readonly maxResultTokens?: number | undefined;
  /** Of a tool: what else is shown, and what is put in, in place of what the server says. */
  readonly override?: ToolOverride | undefined;
}

/** What clients see of a tool, and what becomes of its arguments (CONTRACT §11); undefined = as the server has it. */
export interface ToolOverride {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations?: Readonly<Record<string, string | boolean>> | undefined;
  readonly arguments?: readonly (readonly [name: string, rule: ArgumentOverride])[] | undefined;
}

export interface ArgumentOverride {
  /** JSON text of what the server always gets. */
  readonly value?: string | undefined;
  /** JSON text of what it gets when the client gives nothing. */
  readonly default?: string | undefined;
  /** Clients neither see it nor may send it. */
  readonly hidden: boolean;
  readonly description?: string | undefined;
}
