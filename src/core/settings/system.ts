import type { EmbeddingSettings } from './embedding-settings.ts';
import type {
  AuditOutputs,
  CallLimits,
  GuardSettings,
  PinMode,
  PolicySettings,
  SecretsInCalls,
  WebhookTarget,
} from './governance.ts';
import type { ForwardAuth, OidcProvider, PasswordPolicy, TrustedIssuer } from './login.ts';
import type { SandboxSettings } from './server.ts';

export type ServerDescriptionMode = 'names' | 'full';

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
