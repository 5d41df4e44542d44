import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { checked, flag, list, oneOf, timeMs, webUrl, whole, word } from './fields.ts';
import { HubError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { isProviderAddress } from '../core/provider.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import type { DatabaseChoice, TrustProxy } from './values.ts';
import { type TelemetryEnv, telemetryOf, telemetrySecrets, telemetryVariables } from './telemetry.ts';
import { type ReadableSecrets, withdrawSecrets } from './withdraw.ts';
import { basePath, database, host, hostAndPort, origin, trustProxy } from './values.ts';

/**
 * The values of the environment (CONTRACT §1), checked and with defaults. Undefined = not set; the code that uses it
 * knows its default.
 */
export interface Env {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** `''` or `/x`, never with a slash at the end. */
  readonly basePath: string;
  readonly settingsPath: string;
  readonly dataDir: string;
  readonly database: DatabaseChoice;
  readonly adminPassword: string | undefined;
  readonly jwtSecret: string | undefined;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Undefined = `pretty` on a terminal, else `json`. */
  readonly logFormat: 'pretty' | 'json' | undefined;
  readonly readonly: boolean;
  readonly disableWeb: boolean;
  readonly trustProxy: TrustProxy;
  /** As browsers send them: scheme, host, port; lower case, no slash at the end. */
  readonly allowedOrigins: readonly string[];
  /** Host names, with a port where only that one is meant; lower case. */
  readonly allowedHosts: readonly string[];
  /** The address clients should use, when it is not the one listened on. No slash at the end. */
  readonly installBaseUrl: string | undefined;
  /** Where other hubs on the same database reach this one, when it is not where it listens. No path. */
  readonly internalUrl: string | undefined;
  /** Processes that share the port; above 1 only with PostgreSQL. */
  readonly workers: number;
  /** Where the dashboard's choice of servers comes from. No slash at the end. */
  readonly registryUrl: string;
  readonly smart: SmartEnv;
  /** The provider with the id `oidc` (`OIDC_*`, CONTRACT §8). */
  readonly oidc: OidcEnv;
  /** Undefined where nothing is exported. */
  readonly telemetry: TelemetryEnv | undefined;
  /**
   * Everything, for `${VAR}` and child processes, without the hub's own secrets (`JWT_SECRET`, `ADMIN_PASSWORD`,
   * `DB_URL`, `OIDC_CLIENT_SECRET`, the headers of exporters).
   */
  readonly variables: Readonly<Record<string, string>>;
  /** Secrets that came in the environment, and where programs of the hub's user can still read them. */
  readonly readable: readonly ReadableSecrets[];
}

/**
 * The embedding service, as far as the environment sets it (reference §3.5); it has precedence over
 * `systemConfig.smartRouting`.
 */
export interface SmartEnv {
  readonly enabled: boolean | undefined;
  readonly provider: 'openai' | 'azure_openai' | 'builtin' | undefined;
  readonly encodingFormat: 'auto' | 'float' | 'base64' | undefined;
  readonly basePacingDelayMs: number | undefined;
  readonly progressiveDisclosure: boolean | undefined;
  readonly serverDescriptionMode: 'names' | 'full' | undefined;
  readonly model: string | undefined;
  readonly maxTokens: number | undefined;
  readonly openai: { readonly apiKey: string | undefined; readonly baseUrl: string | undefined };
  readonly azure: {
    readonly endpoint: string | undefined;
    readonly apiKey: string | undefined;
    readonly apiVersion: string | undefined;
    readonly deployment: string | undefined;
    readonly model: string | undefined;
  };
}

/** A provider where people log in, as far as the environment says. */
export interface OidcEnv {
  readonly issuer: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly name: string | undefined;
  readonly signUp: 'auto' | 'invited' | undefined;
}

/** One schema per variable. Each message says what is allowed; the rest of the sentence is added by `readEnv`. */
const schema = z.object({
  HOST: checked('a host name or address, without scheme or port', word, host).default('127.0.0.1'),
  PORT: whole(0, 65_535, '(0 = any free port)').default(3000),
  BASE_PATH: checked(
    'a path like /hub of letters, digits, ".", "_", "~" and "-", not /health, /health/live, /health/ready or /metrics, nor /oauth, /.well-known or a path below these two, which are the hub\'s own at every BASE_PATH',
    word,
    basePath,
  ).default(''),
  SETTINGS_PATH: word.default('./mcp_settings.json'),
  DATA_DIR: word.default('./data'),
  DB_URL: checked('postgres://user:password@host:5432/name, or off', word, database).default({ kind: 'embedded' }),
  ADMIN_PASSWORD: checked(
    `${coreLimits.passwordMinChars} to ${coreLimits.passwordChars} characters`,
    z.string(),
    (text) => {
      // Secrets mounted as files often end in a line break that is not a part of the secret.
      const password = text.replace(/[\r\n]+$/, '');
      return password.length >= coreLimits.passwordMinChars && password.length <= coreLimits.passwordChars
        ? password
        : undefined;
    },
  ).optional(),
  // RFC 7518 §3.2: a key for HS256 has 256 bits or more.
  JWT_SECRET: checked('at least 32 bytes, for example the output of `openssl rand -hex 32`', word, (text) =>
    Buffer.byteLength(text) >= 32 ? text : undefined,
  ).optional(),
  REQUEST_TIMEOUT_MS: timeMs.default(60_000),
  CONNECT_TIMEOUT_MS: timeMs.default(30_000),
  LOG_LEVEL: oneOf('debug, info, warn or error', {
    debug: 'debug',
    info: 'info',
    warn: 'warn',
    warning: 'warn',
    error: 'error',
  } as const).default('info'),
  LOG_FORMAT: oneOf('pretty or json', { pretty: 'pretty', json: 'json' } as const).optional(),
  READONLY: flag.default(false),
  DISABLE_WEB: flag.default(false),
  TRUST_PROXY: checked(
    'true, false, auto, a number of hops, or addresses like 10.0.0.0/8, loopback',
    word,
    trustProxy,
  ).default({ kind: 'auto' }),
  ALLOWED_ORIGINS: list(
    'origins like https://app.example.com, separated by commas ("*" is not accepted: it would let every web page in)',
    origin,
  ),
  ALLOWED_HOSTS: list('host names like hub.example.com or hub.example.com:3000, separated by commas', hostAndPort),
  INSTALL_BASE_URL: webUrl.optional(),
  INTERNAL_URL: checked('an http:// or https:// address of this hub, without a path', word, (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url !== undefined && url.pathname === '/' && url.search === '' && url.username === '';
    return isPlain && /^https?:$/.test(url.protocol) ? url.origin : undefined;
  }).optional(),
  WORKERS: whole(1, 64, 'processes').default(1),
  MCP_REGISTRY_URL: webUrl.default('https://registry.modelcontextprotocol.io'),
  OIDC_ISSUER: checked('an https:// address, as the provider spells it', word, (text) => {
    const issuer = text.replace(/\/\.well-known\/openid-configuration\/?$/, '');
    return isProviderAddress(issuer) ? issuer : undefined;
  }).optional(),
  OIDC_CLIENT_ID: word.optional(),
  OIDC_CLIENT_SECRET: word.optional(),
  OIDC_NAME: word.optional(),
  OIDC_SIGN_UP: oneOf('auto or invited', { auto: 'auto', invited: 'invited' } as const).optional(),
  SMART_ROUTING_ENABLED: flag.optional(),
  SMART_ROUTING_EMBEDDING_PROVIDER: oneOf('openai, azure_openai or builtin', {
    openai: 'openai',
    azure_openai: 'azure_openai',
    azure: 'azure_openai',
    builtin: 'builtin',
  } as const).optional(),
  SMART_ROUTING_EMBEDDING_ENCODING_FORMAT: oneOf('auto, float or base64', {
    auto: 'auto',
    float: 'float',
    base64: 'base64',
  } as const).optional(),
  SMART_ROUTING_BASE_PACING_DELAY_MS: whole(0, coreLimits.timerMs, 'milliseconds').optional(),
  SMART_ROUTING_PROGRESSIVE_DISCLOSURE: flag.optional(),
  SMART_ROUTING_SERVER_DESCRIPTION_MODE: oneOf('names or full', { names: 'names', full: 'full' } as const).optional(),
  EMBEDDING_MODEL: word.optional(),
  EMBEDDING_MAX_TOKENS: whole(1, 10_000_000, 'tokens').optional(),
  OPENAI_API_KEY: word.optional(),
  OPENAI_API_BASE_URL: webUrl.optional(),
  AZURE_OPENAI_ENDPOINT: webUrl.optional(),
  AZURE_OPENAI_API_KEY: word.optional(),
  AZURE_OPENAI_API_VERSION: word.optional(),
  AZURE_OPENAI_EMBEDDING_DEPLOYMENT: word.optional(),
  AZURE_OPENAI_EMBEDDING_MODEL: word.optional(),
  ...telemetryVariables,
});

type Name = keyof typeof schema.shape;

/** MCPHub's names for ours; ours win where both are set. */
const aliases: Partial<Record<Name, string>> = {
  SETTINGS_PATH: 'MCPHUB_SETTING_PATH',
  REQUEST_TIMEOUT_MS: 'DEFAULT_REQUEST_TIMEOUT',
  CONNECT_TIMEOUT_MS: 'INIT_TIMEOUT',
  EMBEDDING_MODEL: 'OPENAI_API_EMBEDDING_MODEL',
  OIDC_ISSUER: 'OIDC_DISCOVERY_URL',
};

/** Each of them may be in a file instead, which `<NAME>_FILE` names. */
const secrets = [
  'DB_URL',
  'ADMIN_PASSWORD',
  'JWT_SECRET',
  'OPENAI_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'OIDC_CLIENT_SECRET',
  ...telemetrySecrets,
] as const satisfies readonly Name[];
/** The name of every variable that is read. */
export const variableNames: readonly string[] = [
  ...Object.keys(schema.shape),
  ...Object.values(aliases),
  ...secrets.map((name) => `${name}_FILE`),
];
const ownSecrets = ['DB_URL', 'ADMIN_PASSWORD', 'JWT_SECRET', 'OIDC_CLIENT_SECRET', ...telemetrySecrets];

/**
 * Reads the environment, and `.env` in the folder for what it does not set. Empty = not set. Throws HubError
 * `misconfigured` with one line per malformed variable: its name, the value found (never of a secret) and what is
 * allowed.
 */
export function readEnv(source: NodeJS.ProcessEnv, folder: string = process.cwd()): Env {
  const variables = { ...dotEnv(folder), ...defined(source) };
  const inFiles = secretsInFiles(variables, folder);
  Object.assign(variables, inFiles.texts);
  const given: Record<string, { from: string; text: string }> = {};
  for (const name of Object.keys(schema.shape) as Name[]) {
    const from = [name, aliases[name]].find((n) => n !== undefined && (variables[n] ?? '').trim() !== '');
    const told = Object.hasOwn(inFiles.texts, name) ? `${name}_FILE` : from;
    if (from !== undefined) given[name] = { from: told ?? from, text: variables[from] ?? '' };
  }
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(given).map(([name, { text }]) => [name, text])));
  if (!parsed.success || inFiles.problems.length > 0)
    throw misconfigured(inFiles.problems, parsed.error?.issues ?? [], given);
  const refused: [Name, string | undefined][] = [
    ['WORKERS', refusedWorkers(parsed.data)],
    ['INSTALL_BASE_URL', refusedBaseUrl(parsed.data)],
  ];
  const together = refused.flatMap(([name, message]) =>
    message === undefined ? [] : [{ path: given[name]?.from ?? name, message }],
  );
  if (together.length > 0) throw misconfigured(together, [], given);
  for (const name of ownSecrets) delete variables[name];
  return toEnv(parsed.data, variables);
}

/**
 * The same for this process, with the options of the command line on top. To be called once, before anything is
 * started: afterwards the secrets are in what it returns and nowhere else (`withdrawSecrets`).
 */
export function readProcessEnv(overrides: Readonly<Record<string, string>> = {}): Env {
  const env = readEnv({ ...process.env, ...overrides });
  return { ...env, readable: withdrawSecrets(secrets) };
}

/**
 * What the files hold that `<NAME>_FILE` names: read once, at the start. A relative path begins at the folder the hub
 * was started in.
 */
function secretsInFiles(variables: Readonly<Record<string, string>>, folder: string) {
  const texts: Record<string, string> = {};
  const problems: Problem[] = [];
  for (const name of secrets) {
    const variable = `${name}_FILE`;
    const path = (variables[variable] ?? '').trim();
    if (path === '') continue;
    if ((variables[name] ?? '').trim() !== '') {
      problems.push({ path: variable, message: `found ${name} set too; only one of them can count, remove the other` });
      continue;
    }
    try {
      texts[name] = readSecretFile(resolve(folder, path));
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      problems.push({ path: variable, message: `${error.message}. Name a readable file that holds ${name} alone` });
    }
  }
  return { texts, problems };
}

/** Why several processes cannot run as one hub. */
function refusedWorkers({ WORKERS, DB_URL, INTERNAL_URL }: z.output<typeof schema>): string | undefined {
  if (WORKERS === 1) return undefined;
  if (DB_URL.kind !== 'postgres')
    return `found "${WORKERS}", which takes a PostgreSQL that all processes share (the embedded database is one process's own). Set DB_URL to its address, or leave WORKERS out`;
  if (INTERNAL_URL !== undefined)
    return `found "${WORKERS}", and INTERNAL_URL, which is one address, while each process needs its own. Leave one of them out`;
  return undefined;
}

/** Why an address from outside cannot be what is meant: all that the hub gives would have the prefix twice. */
function refusedBaseUrl({ INSTALL_BASE_URL, BASE_PATH }: z.output<typeof schema>): string | undefined {
  if (INSTALL_BASE_URL === undefined || BASE_PATH === '') return undefined;
  const { pathname } = new URL(INSTALL_BASE_URL);
  if (!`${pathname.replace(/\/+$/, '')}/`.endsWith(`${BASE_PATH}/`)) return undefined;
  return `found "${INSTALL_BASE_URL}", which ends with the BASE_PATH "${BASE_PATH}" that the hub adds to it. Leave "${BASE_PATH}" out of INSTALL_BASE_URL`;
}

function toEnv(v: z.output<typeof schema>, variables: Record<string, string>): Env {
  return {
    host: v.HOST,
    port: v.PORT,
    basePath: v.BASE_PATH,
    settingsPath: v.SETTINGS_PATH,
    dataDir: v.DATA_DIR,
    database: v.DB_URL,
    adminPassword: v.ADMIN_PASSWORD,
    jwtSecret: v.JWT_SECRET,
    requestTimeoutMs: v.REQUEST_TIMEOUT_MS,
    connectTimeoutMs: v.CONNECT_TIMEOUT_MS,
    logLevel: v.LOG_LEVEL,
    logFormat: v.LOG_FORMAT,
    readonly: v.READONLY,
    disableWeb: v.DISABLE_WEB,
    trustProxy: v.TRUST_PROXY,
    allowedOrigins: v.ALLOWED_ORIGINS,
    allowedHosts: v.ALLOWED_HOSTS,
    installBaseUrl: v.INSTALL_BASE_URL,
    internalUrl: v.INTERNAL_URL,
    workers: v.WORKERS,
    registryUrl: v.MCP_REGISTRY_URL,
    smart: {
      enabled: v.SMART_ROUTING_ENABLED,
      provider: v.SMART_ROUTING_EMBEDDING_PROVIDER,
      encodingFormat: v.SMART_ROUTING_EMBEDDING_ENCODING_FORMAT,
      basePacingDelayMs: v.SMART_ROUTING_BASE_PACING_DELAY_MS,
      progressiveDisclosure: v.SMART_ROUTING_PROGRESSIVE_DISCLOSURE,
      serverDescriptionMode: v.SMART_ROUTING_SERVER_DESCRIPTION_MODE,
      model: v.EMBEDDING_MODEL,
      maxTokens: v.EMBEDDING_MAX_TOKENS,
      openai: { apiKey: v.OPENAI_API_KEY, baseUrl: v.OPENAI_API_BASE_URL },
      azure: {
        endpoint: v.AZURE_OPENAI_ENDPOINT,
        apiKey: v.AZURE_OPENAI_API_KEY,
        apiVersion: v.AZURE_OPENAI_API_VERSION,
        deployment: v.AZURE_OPENAI_EMBEDDING_DEPLOYMENT,
        model: v.AZURE_OPENAI_EMBEDDING_MODEL,
      },
    },
    oidc: {
      issuer: v.OIDC_ISSUER,
      clientId: v.OIDC_CLIENT_ID,
      clientSecret: v.OIDC_CLIENT_SECRET,
      name: v.OIDC_NAME,
      signUp: v.OIDC_SIGN_UP,
    },
    telemetry: telemetryOf(v),
    variables,
    readable: [],
  };
}

function misconfigured(
  inFiles: readonly Problem[],
  issues: readonly z.core.$ZodIssue[],
  given: Record<string, { from: string; text: string }>,
): HubError {
  const problems = new Map(inFiles.map((problem) => [problem.path, problem]));
  for (const issue of issues) {
    const name = String(issue.path[0]);
    const { from, text } = given[name] ?? { from: name, text: '' };
    const found = secrets.some((secret) => secret === name) ? `${text.length} characters (not shown)` : quoted(text);
    if (!problems.has(name)) problems.set(name, { path: from, message: `found ${found}, allowed: ${issue.message}` });
  }
  const lines = [...problems.values()].map(({ path, message }) => `${path}: ${message}`);
  return new HubError('misconfigured', lines.join('\n'), { problems: [...problems.values()] });
}

/** On one line, bounded, and without the password that an address may carry. */
function quoted(text: string): string {
  const shown = text.replace(/\/\/[^/@\s]*@/g, '//•••@');
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown);
}

function dotEnv(folder: string): Record<string, string> {
  const path = join(folder, '.env');
  try {
    return defined(parseEnv(readFileSync(path, 'utf8')));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A folder of that name is a Python environment, not ours to complain about.
    if (code === 'ENOENT' || code === 'EISDIR') return {};
    throw new HubError('misconfigured', `${path}: cannot be read (${String(code)}). Allow it or remove it.`, {
      cause: error,
    });
  }
}

function defined(source: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(source).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
