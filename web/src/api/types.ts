/** What the hub answers, as far as the pages use it (`/api/docs` has the whole of it). Times are ISO 8601. */

export interface Me {
  readonly username: string;
  readonly role: 'admin' | 'user';
  readonly isAdmin: boolean;
  readonly servers: readonly string[];
  readonly groups: readonly string[];
  /** The password is the one that the hub made up. */
  readonly passwordIsInitial?: boolean;
  readonly passwordIsWeak?: boolean;
}

export type ServerStatus = 'connecting' | 'connected' | 'disconnected' | 'oauth_required' | 'disabled';

export type Visibility = 'private' | 'group' | 'public';

/** Of one kind of item; `tokens` is an estimate of what the enabled ones cost a client that lists them. */
export interface ItemCount {
  readonly total: number;
  readonly enabled: number;
  readonly tokens: number;
}

interface ServerBase {
  readonly name: string;
  readonly description?: string;
  readonly type: 'stdio' | 'auto' | 'streamable-http' | 'sse' | 'openapi' | 'invalid';
  readonly owner: string;
  readonly visibility?: Visibility;
  readonly sharedWithUsers?: readonly string[];
  readonly enabled: boolean;
  readonly version?: string;
  readonly protocolVersion?: string;
  readonly instructions?: string;
  readonly status: ServerStatus;
  readonly error: string | null;
  /** While it is connecting. */
  readonly phase?: 'installing' | 'starting' | 'handshake';
  readonly phaseSince?: string;
  /** Other starts come first. */
  readonly waiting?: boolean;
  readonly nextRetryAt?: string;
  readonly attempts: number;
  readonly lastConnectedAt?: string;
  /** `perUser`: each user signs in alone, also who may not manage it. */
  readonly oauth?: { readonly authorizationUrl?: string; readonly perUser?: boolean; readonly signedIn?: boolean };
}

/** An element of `GET /servers?items=count`. */
export interface ServerSummary extends ServerBase {
  readonly managed: boolean;
  readonly tools: ItemCount;
  readonly prompts: ItemCount;
  readonly resources: ItemCount;
}

export type JsonObject = Readonly<Record<string, unknown>>;

interface Item {
  readonly title?: string;
  readonly description: string;
  readonly defaultDescription: string;
  readonly hasDescriptionOverride: boolean;
  readonly enabled: boolean;
}

export interface Tool extends Item {
  /** As clients see it. */
  readonly name: string;
  /** The server's own name. */
  readonly originalName: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

export interface Prompt extends Item {
  readonly name: string;
  readonly originalName: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

export interface Resource extends Item {
  readonly name?: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly mimeType?: string;
}

export interface ServerDetails extends ServerBase {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly Resource[];
  readonly config: JsonObject;
  /** The caller sees it, but may not change it. */
  readonly configRestricted?: boolean;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly servers: readonly string[];
  readonly owner: string;
  readonly visibility?: Visibility;
  readonly sharedWithUsers?: readonly string[];
}

export type Selection = 'all' | readonly string[];

export interface GroupServer {
  readonly name: string;
  readonly tools: Selection;
  readonly prompts?: Selection;
  readonly resources?: Selection;
  readonly alias?: string;
}

export interface User {
  readonly username: string;
  readonly role: 'admin' | 'user';
  readonly isAdmin: boolean;
  readonly servers: readonly string[];
  readonly groups: readonly string[];
  readonly email?: string;
  readonly createdAt?: string;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  /** Masked, except in the answer that makes it. */
  readonly token: string;
  readonly enabled: boolean;
  readonly kind: 'system' | 'user';
  readonly owner?: string;
  readonly accessType: 'all' | 'groups' | 'servers' | 'custom';
  readonly allowedGroups: readonly string[];
  readonly allowedServers: readonly string[];
  /** ISO 8601; without it the key does not expire. */
  readonly expiresAt?: string;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogEntry {
  readonly id: number;
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly service: string;
  readonly message: string;
}

export type ActivityStatus = 'success' | 'error' | 'cancelled' | 'timeout' | 'refused';

export interface Activity {
  readonly id: string;
  readonly timestamp: string;
  readonly server: string;
  readonly tool: string;
  /** A tool was called; or one was searched for, or described, on `$smart`. */
  readonly kind: 'call' | 'search' | 'describe';
  readonly query?: string;
  /** The same in a search and in what was done with its results. */
  readonly searchId?: string;
  /** Where what was called or described stood among the results; from 1. */
  readonly searchRank?: number;
  readonly results?: readonly { readonly server: string; readonly tool: string; readonly score: number }[];
  readonly uses?: readonly SearchUse[];
  readonly durationMs: number;
  readonly status: ActivityStatus;
  readonly errorMessage?: string;
  readonly principal: 'anonymous' | 'user' | 'key';
  readonly username?: string;
  readonly keyName?: string;
  readonly group?: string;
  readonly scope?: string;
  readonly sourceIp?: string;
  readonly resultBytes: number;
  readonly traceId?: string;
  readonly input?: string;
  readonly output?: string;
}

export interface SearchUse extends Pick<Activity, 'kind' | 'server' | 'tool' | 'status' | 'timestamp'> {
  readonly rank: number;
}

export interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
  readonly hasNextPage: boolean;
  readonly hasPrevPage: boolean;
}

/** How one client is connected to one endpoint (`GET /connect`). */
export interface Snippet {
  readonly client: string;
  readonly title: string;
  readonly where: string;
  readonly language: 'shell' | 'json' | 'toml';
  readonly text: string;
  readonly installUrl?: string;
}

export interface Connect {
  readonly url: string;
  /** Clients need an access key; the texts say YOUR_ACCESS_KEY in its place. */
  readonly keyRequired: boolean;
  readonly clients: readonly Snippet[];
  /** What a client is told before it asks anything: with all tools listed, and with searching. */
  readonly cost: { readonly all: Cost; readonly smart: Cost };
}

export interface Cost {
  readonly tools: number;
  readonly tokens: number;
}

/** What an import would do, or has done. */
export interface ImportAnswer {
  readonly format: string;
  readonly servers: readonly ImportedServer[];
  readonly notes: readonly { readonly path: string; readonly message: string }[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

export interface ImportedServer {
  readonly name: string;
  readonly status: 'created' | 'ready' | 'exists' | 'invalid';
  readonly message: string;
  readonly config: JsonObject;
  readonly requiredConfig: readonly RequiredConfig[];
}

export interface RequiredConfig {
  readonly key: string;
  readonly title: string;
  readonly type: 'string' | 'number' | 'boolean' | 'directory' | 'file';
  readonly description: string;
  readonly sensitive: boolean;
  readonly default?: string | number | boolean | readonly string[];
}

/** What can be called without a credential; null where that is closed. */
export interface Exposure {
  readonly loopback: boolean;
  readonly http: Callable | null;
  readonly mcp: Callable | null;
}

export interface Callable {
  readonly servers: readonly string[];
  readonly tools: number;
}

export interface ActivityStats {
  readonly totalCalls: number;
  readonly successCount: number;
  readonly errorCount: number;
  readonly avgDuration: number;
  readonly search: SearchStats;
}

export interface SearchStats {
  readonly searches: number;
  readonly empty: number;
  readonly used: number;
  readonly meanRank: number;
  readonly firstShare: number;
}

export interface ActivityBucket {
  readonly start: string;
  readonly calls: number;
  readonly errors: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}
