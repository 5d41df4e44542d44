import type { Problem } from '../errors.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';

/**
 * The operator's settings as the hub uses them: one immutable snapshot, defaults filled in, trusted. The document they
 * come from (`mcp_settings.json`, unknown keys and all) belongs to `settings/`. Shapes follow MCPHub's file.
 */
export interface Settings {
  /** In the order of the file: where two servers offer the same resource URI, the first wins. */
  readonly servers: ReadonlyMap<string, ServerSettings>;
  readonly groups: readonly GroupSettings[];
  readonly users: readonly UserSettings[];
  readonly keys: readonly KeySettings[];
  readonly system: SystemSettings;
  /** Prompts and resources of the hub itself (CONTRACT §11); absent where there are none. */
  readonly own?: OwnItems | undefined;
}

/** What the hub itself offers on every endpoint, in the order of the file. */
export interface OwnItems {
  readonly prompts: readonly OwnPrompt[];
  readonly resources: readonly OwnResource[];
  /** Of the folder that the settings name; absent where there are none. */
  readonly skills?: readonly OwnSkill[] | undefined;
}

/** A skill in the folder of skills (`systemConfig.skills`). */
export interface OwnSkill {
  readonly name: string;
  readonly description: string;
  /** Of its `SKILL.md`. */
  readonly uri: string;
  /** What `skills/get` says of it, as JSON text. */
  readonly entry: string;
  readonly files: readonly OwnSkillFile[];
}

export interface OwnSkillFile {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  /** `sha256:` and the hash of its bytes. */
  readonly digest: string;
  readonly size: number;
  /** As `resources/read` has it. */
  readonly content: { readonly text: string } | { readonly blob: string };
}

export interface OwnPrompt {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** `{{name}}` stands for the argument of that name. */
  readonly template: string;
  readonly arguments: readonly OwnArgument[];
}

export interface OwnArgument {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
}

export interface OwnResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly mimeType: string;
  readonly content: string;
}

export type Visibility = 'private' | 'group' | 'public';

/** `"all"`, or exactly the upstream's own names listed. */
export type Selection = 'all' | readonly string[];

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

/** `mask`: `••••` stands in place of each; `refuse`: the call is refused, or its result withheld. */
export type SecretsMode = 'allow' | 'mask' | 'refuse';

/** Secrets that show by their form what they are (`core/secrets`). */
export interface SecretsInCalls {
  readonly arguments?: SecretsMode | undefined;
  readonly results?: SecretsMode | undefined;
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

/** What a program in a sandbox reaches (CONTRACT §10). Paths are absolute once their variables are filled in. */
export interface SandboxSettings {
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

/** How much may be called (CONTRACT §9, Limits); what is undefined is not limited. */
export interface CallLimits {
  /** In any 60 seconds. */
  readonly callsPerMinute?: number | undefined;
  /** At the same time. */
  readonly concurrentCalls?: number | undefined;
  /** From midnight to midnight, UTC. */
  readonly callsPerDay?: number | undefined;
}

/** `hold`: what a server changes answers as what does not exist until it is approved; `warn`: it is told. */
export type PinMode = 'off' | 'warn' | 'hold';

/** A text of Cedar policies (CONTRACT §9, Policies). */
export interface PolicySettings {
  /** What callers are told: the id in the settings, or the name of the file. */
  readonly id: string;
  readonly text: string;
  readonly enabled: boolean;
  /** True for one of a file in `policyFolder`. */
  readonly isFile: boolean;
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

export interface GroupSettings {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly owner: string;
  readonly visibility: Visibility | undefined;
  readonly sharedWithUsers: readonly string[];
  readonly servers: readonly GroupServer[];
  /** Of each caller on the group's own endpoints. */
  readonly limits?: CallLimits | undefined;
  /** On the group's own endpoints, as in `SystemSettings`. */
  readonly maxResultTokens?: number | undefined;
}

export interface GroupServer {
  readonly name: string;
  /** The prefix its names get in this group, in place of the server's name. */
  readonly alias: string | undefined;
  readonly tools: Selection;
  readonly prompts: Selection;
  readonly resources: Selection;
  readonly pinnedTools: readonly string[];
  /** By the server's own names of tools; they hold on the group's endpoints. */
  readonly overrides?: ReadonlyMap<string, ToolOverride> | undefined;
}

export interface UserSettings {
  readonly username: string;
  /** argon2id or bcrypt. */
  readonly passwordHash: string;
  readonly role: 'admin' | 'user';
  readonly email: string | undefined;
  readonly servers: readonly string[];
  /** Group ids (names are accepted too). */
  readonly groups: readonly string[];
  readonly createdAt: string | undefined;
  /** Who the user is at providers and trusted issuers (CONTRACT §8). */
  readonly identities?: readonly IssuedIdentity[] | undefined;
  /** The random one that the hub made for its first admin. */
  readonly passwordIsInitial?: boolean | undefined;
  /**
   * Programs that guess passwords would find it soon. Known only of passwords that were set, or used for a login, since
   * hubs look at them.
   */
  readonly passwordIsWeak?: boolean | undefined;
  readonly limits?: CallLimits | undefined;
}

/** A person as an issuer of tokens knows them; a subject means something only together with its issuer. */
export interface IssuedIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** An access key (CONTRACT §2). `token` is how MCPHub files keep it, `tokenHash` (SHA-256, hex) is how we do. */
export interface KeySettings {
  readonly id: string;
  readonly name: string;
  readonly tokenHash: string;
  readonly enabled: boolean;
  readonly kind: 'system' | 'user';
  readonly owner: string | undefined;
  readonly accessType: 'all' | 'groups' | 'servers' | 'custom';
  readonly allowedGroups: readonly string[];
  readonly allowedServers: readonly string[];
  /** Milliseconds since the epoch, from which on the key is refused; undefined = never. */
  readonly expiresAt?: number | undefined;
  /** IP addresses and ranges that its requests may come from; undefined = any. */
  readonly allowedAddresses?: readonly string[] | undefined;
  /** The token before the last rotation (SHA-256, hex), accepted until then (milliseconds since the epoch). */
  readonly previous?: { readonly tokenHash: string; readonly until: number } | undefined;
  /** Reaches only tools that their server annotates `readOnlyHint: true`. */
  readonly readOnly?: boolean | undefined;
  readonly limits?: CallLimits | undefined;
}

export type ServerDescriptionMode = 'names' | 'full';

/** What passwords may be set (`systemConfig.auth.passwordPolicy`). */
export interface PasswordPolicy {
  readonly minLength: number;
  /** Refuses what is tried first: common passwords, the user's name, rows of keys. */
  readonly refuseCommon: boolean;
}

/** An issuer whose JWTs are credentials at MCP endpoints (`systemConfig.auth.trustedIssuers`, CONTRACT §8). */
export interface TrustedIssuer {
  /** Exactly as tokens have it. */
  readonly issuer: string;
  /** A token has to be for one of these. */
  readonly audiences: readonly string[];
  /** Where its keys are; undefined: where its metadata say. */
  readonly jwksUri: string | undefined;
  /** The claim by which records call the holder of a token; undefined: its subject. */
  readonly usernameClaim: string | undefined;
  readonly groupsClaim: string;
  /** Value of that claim → names or ids of groups. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/** The tokens by which a proxy says who sends a request (`systemConfig.auth.forwardAuth`, CONTRACT §8). */
export interface ForwardAuth {
  /** The header they come in, in lower case. */
  readonly header: string;
  /** Exactly as tokens have it. */
  readonly issuer: string;
  readonly jwksUri: string;
  /** A token has to be for one of these. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** The claim by which a new account is called. */
  readonly usernameClaim: string;
  readonly emailClaim: string;
  /** Whether a person without an account gets one. */
  readonly autoCreate: boolean;
}

/** A provider where people log in with OpenID Connect (`systemConfig.auth.oidc`, CONTRACT §8). */
export interface OidcProvider {
  /** In its addresses: `/api/auth/oidc/<id>/start`. */
  readonly id: string;
  /** What login pages call it. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** As written: `${VAR}` is expanded when it is used. Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  /** Value of that claim → names or ids of groups. Undefined: logins change no groups. */
  readonly groups: ReadonlyMap<string, readonly string[]> | undefined;
  /** Values of that claim that make an admin. Undefined: logins change no role. */
  readonly adminGroups: readonly string[] | undefined;
  /** `auto`: who logs in there gets an account; `invited`: an admin has made it beforehand. */
  readonly signUp: 'auto' | 'invited';
}

/** Where packages of servers are taken from; undefined: as the environment of the hub says. */
export interface InstallSettings {
  readonly npmRegistry?: string | undefined;
  readonly pythonIndexUrl?: string | undefined;
}

export interface SystemSettings {
  /** Bounds of the code that clients send to `/mcp/$code` (CONTRACT §11). */
  readonly codeMode?:
    | {
        readonly timeoutSeconds?: number | undefined;
        readonly memoryMb?: number | undefined;
        readonly calls?: number | undefined;
      }
    | undefined;
  /** Where skills of the hub itself are. */
  readonly skillFolder?: string | undefined;
  /** Longer results reach clients in parts (CONTRACT §11); undefined and 0: whole. */
  readonly maxResultTokens?: number | undefined;
  readonly nameSeparator: string;
  readonly install?: InstallSettings | undefined;
  readonly routing: {
    readonly enableGlobalRoute: boolean;
    /** False: endpoints name groups by id alone. */
    readonly enableGroupNameRoute: boolean;
    /** Undefined: off while the hub listens on loopback only, on anywhere else (CONTRACT §2). */
    readonly enableBearerAuth: boolean | undefined;
    readonly openApiAccess: 'open' | 'authenticated' | 'off';
    /**
     * Of the largest JSON body, of REST and MCP alike; undefined = `httpLimits.apiBodyBytes` and
     * `mcpLimits.requestBodyBytes`.
     */
    readonly jsonBodyBytes?: number | undefined;
    /** A header that carries the credential besides `Authorization`, in lower case. */
    readonly bearerAuthHeaderName?: string | undefined;
  };
  /** The hub as authorization server (`oauthServer`); `registration`: clients may register themselves. */
  readonly oauthServer: { readonly enabled: boolean; readonly registration: boolean };
  /** Items per page of the lists clients get; 0 = everything in one page. */
  readonly listPageSize: number;
  /** Private ranges that servers may be in whose owner is no admin (`network.allowedCidrs`). */
  readonly allowedCidrs?: readonly string[] | undefined;
  readonly progressiveDisclosure: boolean | undefined;
  /**
   * What the search tool's text says of the servers it searches: their names, or what each is for too; names when
   * undefined.
   */
  readonly serverDescriptionMode?: ServerDescriptionMode | undefined;
  /** Whether the queries of tool searches are kept in the activity log; they are when undefined. */
  readonly storeSearchQueries?: boolean | undefined;
  /** The embedding service that is wanted for the search; undefined = none. */
  readonly embedding?: EmbeddingSettings | undefined;
  /** The address of the hub as browsers reach it (`install.baseUrl`), without a slash at the end. */
  readonly baseUrl?: string | undefined;
  /** Undefined = `coreLimits.passwordMinChars`, and common ones are accepted. */
  readonly passwordPolicy?: PasswordPolicy | undefined;
  readonly trustedIssuers?: readonly TrustedIssuer[] | undefined;
  /** Undefined: what a proxy says of who sends a request counts for nothing. */
  readonly forwardAuth?: ForwardAuth | undefined;
  readonly oidc?: readonly OidcProvider[] | undefined;
  /** MCPHub's `auth.betterAuth`, which has the client in the environment (`OIDC_CLIENT_ID`). */
  readonly betterAuth?: Omit<OidcProvider, 'clientId' | 'clientSecret'> | undefined;
  /** False: no user logs in with a password, but for the one that `breakGlass` names. Undefined: all do. */
  readonly passwordLogin?: boolean | undefined;
  readonly breakGlass?: string | undefined;
  /** Who has to show a second factor at a login with a password. Undefined: who has set one up. */
  readonly requireSecondFactor?: 'no' | 'admins' | 'everyone' | undefined;
  /** Whether arguments and results of calls are kept in the activity log. */
  readonly storeToolPayload: boolean;
  /** In the order of the settings, those of files after them. Undefined: none. */
  readonly policies?: readonly PolicySettings[] | undefined;
  /** Of users, keys and callers without a credential that have none of their own (`limits.default`). */
  readonly defaultLimits?: CallLimits | undefined;
  /** What becomes of what servers change (`pins.mode`); undefined = `warn`. */
  readonly pinMode?: PinMode | undefined;
  /** What becomes of secrets in calls of servers that say nothing of it; undefined = they are not looked for. */
  readonly secretsInCalls?: SecretsInCalls | undefined;
  /** Of programs that say nothing of it themselves (`sandbox.default`). Undefined: they run as the hub does. */
  readonly sandbox?: SandboxSettings | undefined;
  /** How long an approval waits, and is good for (`approvals.expireSeconds`). Undefined = 10 minutes. */
  readonly approvalMs?: number | undefined;
  /** Who is told of questions to people (`approvals.webhook`). Its texts may name variables. */
  readonly approvalWebhook?: WebhookTarget | undefined;
  /** In the order in which they are asked. Undefined: none. */
  readonly guards?: readonly GuardSettings[] | undefined;
  /** Where records of the audit log go besides. Secrets may name variables. */
  readonly audit?: AuditOutputs | undefined;
}

/** An address that is sent messages; they are signed where there is a secret. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret?: string | undefined;
}

/** A webhook that looks at calls, or at their results (`systemConfig.guards`, CONTRACT §9). */
export interface GuardSettings {
  /** What messages call it: its id, or its place in the list, from 1. */
  readonly name: string;
  /** As written: `${VAR}` is filled in when it is asked. */
  readonly url: string;
  readonly on: readonly GuardedMoment[];
  /** Undefined: all. */
  readonly servers: readonly string[] | undefined;
  readonly timeoutMs: number;
  /** What becomes of what it does not answer for. */
  readonly onFailure: 'allow' | 'refuse';
  /** Signs what it is sent; as written. */
  readonly secret: string | undefined;
}

/** `call`: before it is sent to its server. `result`: before it is given to its caller. */
export type GuardedMoment = 'call' | 'result';

/** `systemConfig.audit`. */
export interface AuditOutputs {
  readonly webhook?: WebhookTarget | undefined;
  readonly syslog?: { readonly host: string; readonly port: number; readonly protocol: 'udp' | 'tcp' } | undefined;
}
