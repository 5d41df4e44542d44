import type { Context, Hono } from 'hono';
import type { HttpBindings } from '@hono/node-server';
import type { Identify } from '../auth/identify.ts';
import type { LastUses } from '../auth/last-uses.ts';
import type { Authorization } from '../auth/oauth/open-authorization.ts';
import { createLoginLimiter } from '../auth/limiter.ts';
import { createLogin, type Login, type LoginOptions } from '../auth/login.ts';
import { countFailures, logFailures } from '../auth/login-log.ts';
import type { Passwords } from '../auth/passwords.ts';
import { sampledByAccount } from '../auth/event-sampler.ts';
import type { LoginSessions } from '../auth/sessions.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { ByteBudget } from '../core/byte-budget.ts';
import type { Logger } from '../core/logger.ts';
import type { Outside } from '../core/access/outside.ts';
import { managementApi } from '../core/access/endpoint.ts';
import { userOf } from '../core/access/identity.ts';
import type { Views } from '../core/access/view.ts';

import type { DatabaseHandle } from '../database/supervise.ts';
import type { FullDiskRetry } from '../disk/full-disk-retry.ts';
import type { Env } from '../env/env.ts';
import { createApp } from '../http/app.ts';
import { authorizationServer } from '../http/authorize/authorization-server.ts';
import { grantRoutes } from '../http/authorize/grant-routes.ts';
import { callResources } from '../http/calls/call-resources.ts';
import type { Arrivals } from '../mcp/arrivals.ts';
import type { Changes } from '../http/dashboard/changes.ts';
import { credentialRoutes } from '../http/credentials/credential-routes.ts';
import { approvalRoutes, type ApprovalRoutes } from '../http/governance/approval-routes.ts';
import { governanceRoutes, type GovernanceRoutes } from '../http/governance/governance-routes.ts';
import type { Pins } from '../governance/pins.ts';
import { guardRoutes, type GuardRoutes } from '../http/governance/guard-routes.ts';
import { pinRoutes } from '../http/governance/pin-routes.ts';
import { dashboardRoutes } from '../http/dashboard/files.ts';
import { dashboardResources } from '../http/dashboard/dashboard-resources.ts';
import { subjects } from '../http/docs/all.ts';
import { membersOfBodies } from '../http/docs/members.ts';
import { docsRoutes } from '../http/docs/routes.ts';
import { createApi } from '../http/frame/api.ts';
import { isOpen } from '../http/frame/open-routes.ts';
import type { ApiEnv, CallerOptions } from '../http/frame/caller.ts';
import type { Arrived } from '../http/frame/client-address.ts';
import { hubUrl, type PublicUrl } from '../http/frame/public-url.ts';
import { type SessionCookies, sessionCookies } from '../http/frame/session-cookie.ts';
import { type HealthSources, watchHealth } from '../http/open/health.ts';
import { protectedResourceRoutes } from '../http/open/protected-resource.ts';
import type { SecondFactorOptions } from '../http/users/second-factor-routes.ts';
import { publicConfigRoutes } from '../http/open/public-config.ts';
import { metricsRoutes } from '../http/records/metrics.ts';
import { recordResources } from '../http/records/record-resources.ts';
import { peopleResources, type SettingsResources, settingsResources } from '../http/settings-resources.ts';
import { type SignInCookies, signInCookies } from '../http/sign-in/cookie.ts';
import { type OidcOptions, oidcRoutes } from '../http/sign-in/oidc-routes.ts';
import { oauthRoutes } from '../http/sign-in/oauth-routes.ts';
import { serverOAuthRoutes } from '../http/sign-in/server-oauth.ts';
import type { AuditLog } from '../logs/audit/audit-log.ts';
import type { Records } from '../logs/records.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import type { Guard } from '../http/frame/guard.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { Embeddings } from '../smart/embeddings.ts';
import type { SignIns } from '../upstream/sign-in/sign-ins.ts';
import type { UserCredentials } from '../upstream/user-credentials/user-credentials.ts';
import type { Pool } from '../upstream/connections/pool.ts';
import { version } from '../version.ts';

/** The parts that routes use. */
export interface AppParts {
  readonly env: Env;
  readonly settings: SettingsStore;
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly identity: Identify;
  readonly authorization: Authorization;
  readonly uses: LastUses;
  readonly sessions: LoginSessions;
  readonly secondFactors: Pick<LoginOptions, 'challenges'> & Pick<SecondFactorOptions, 'factors' | 'newPasskeys'>;
  /** Logins at the providers of companies. */
  readonly oidc: Pick<OidcOptions, 'providers' | 'client' | 'logoutToken' | 'accountOf' | 'keepRefresh'>;
  readonly addressOf: (req: Arrived) => string;
  /** Whether a request came through a proxy that may say who sends it. */
  readonly fromProxy: (req: Arrived) => boolean;
  readonly database: DatabaseHandle;
  readonly records: Records;
  readonly publicUrl: PublicUrl;
  readonly outside: Outside;
  readonly guard: Guard;
  readonly pool: Pool;
  readonly signIns: SignIns;
  readonly credentials: UserCredentials;
  /** Variables that the settings of a server name, and that are not set. */
  readonly unsetVariables: (server: string) => readonly string[];
  /** `DATA_DIR`: also where another worker than the first answers. */
  readonly hubDir: string;
  readonly views: Views;
  readonly dispatch: DispatchOptions;
  readonly changes: Changes;
  readonly arrivals: Pick<Arrivals, 'list'>;
  readonly embeddings: Embeddings;
  readonly room: FullDiskRetry;
  readonly metrics: Metrics;
  readonly telemetry: HealthSources['telemetry'];
  readonly governance: Pick<GovernanceRoutes, 'settings' | 'catalogue' | 'counts'> & {
    readonly approvals: ApprovalRoutes['approvals'];
    readonly pins: Pins;
    readonly guards: GuardRoutes['guards'];
  };
  readonly backup: SettingsResources['backup'];
  /** The memory for bodies of requests. */
  readonly bodies: ByteBudget;
  readonly audit: AuditLog;
  readonly replicas: Pick<Replicas, 'counts'> | undefined;
  readonly log: Logger;
  /** For entries about security. */
  readonly security: Logger;
  /** Called for each credential that is not accepted. */
  readonly badCredential: (address: string | undefined) => void;
}

/** Everything but MCP: the management API, the dashboard, and what is open to all. */
export function buildApp(parts: AppParts) {
  const { env, settings, passwords, pool, publicUrl, log } = parts;
  const limiter = createLoginLimiter();
  const accountLog = sampledByAccount(parts.security);
  const checked = createLogin({ settings: () => settings.current, passwords, limiter, ...parts.secondFactors });
  const login = countFailures(logFailures(checked, parts.security), parts.audit);
  const loginCookies = sessionCookies({
    ...parts,
    ...parts.guard,
    userOf: parts.identity.userOf,
    basePath: env.basePath,
  });
  const signInParts = { login, accountLog, loginCookies, cookies: signInCookies(publicUrl) };
  const hasPasswords = () => settings.current.system.passwordLogin !== false;
  const globalRoute = () => settings.current.system.routing.enableGlobalRoute;
  const hasForwardAuth = () => settings.current.system.forwardAuth !== undefined;
  const hasAuthorizationServer = () => settings.current.system.oauthServer.enabled;
  const app = createApp({
    basePath: env.basePath,
    health: watchHealth({ ...parts, servers: () => pool.states(), version }),
    dashboard: env.disableWeb ? undefined : dashboardRoutes({ ...env, version, globalRoute }),
    api: buildApi({ ...parts, ...signInParts }),
    log,
  });
  const { providers } = parts.oidc;
  app.route('/', oauthRoutes({ ...parts, ...signInParts, providers, security: accountLog }));
  const browserOf = (c: Context, back: string) => signInParts.cookies.take(c, back);
  const open = {
    ...parts,
    ...signInParts,
    providers,
    browserOf,
    byProxy: byProxyOf(parts),
    basePath: env.basePath,
    settings: () => settings.current,
    newestSettings: () => settings.change(() => undefined).catch(() => undefined),
  };
  app.route('/', authorizationServer({ ...open, security: accountLog }));
  app.route('/', publicConfigRoutes({ basePath: env.basePath, version, providers, hasPasswords, hasForwardAuth }));
  app.route('/', protectedResourceRoutes({ publicUrl, basePath: env.basePath, hasAuthorizationServer }));
  app.route('/', metricsRoutes({ metrics: parts.metrics, ...callerOptions({ ...parts, ...signInParts }) }));
  return app;
}

/** The user whom a proxy says with a visit; what a page loads without leading the browser there is none. */
function byProxyOf({ settings, identity, fromProxy, addressOf }: AppParts) {
  return async (c: Context) => {
    const { incoming } = c.env as HttpBindings;
    if (!fromProxy(incoming) || (c.req.header('sec-fetch-dest') ?? 'document') !== 'document') return undefined;
    const headers = c.req.header();
    const who = await identity.identify(headers, addressOf(incoming), undefined, managementApi, true);
    if (who === 'none' || who === 'bad' || !identity.isByProxy(headers)) return undefined;
    return userOf(settings.current, who);
  };
}

interface SignInParts {
  readonly login: Login;
  readonly cookies: SignInCookies;
  /** Of the dashboard's logins. */
  readonly loginCookies: SessionCookies;
  /** For entries about security that users cause with their own accounts. */
  readonly accountLog: Logger;
}

/** The management API, a line per resource. */
function buildApi(parts: AppParts & SignInParts) {
  const { env, settings, records, tokens, pool, identity, hubDir, log, security } = parts;
  const { signIns, credentials, accountLog, cookies } = parts;
  const mount = `${env.basePath}/api`;
  const states = () => pool.states();
  const hasProviders = () => parts.oidc.providers().length > 0 || settings.current.system.forwardAuth !== undefined;
  const { allowedOrigins } = env;
  const isSet = (variable: string) => Object.hasOwn(env.variables, variable);
  const api: Hono<ApiEnv> = createApi({
    mount,
    ...callerOptions(parts),
    readonly: env.readonly,
    bodies: parts.bodies,
    audit: parts.audit,
    membersOf: membersOfBodies(subjects),
    resources: [
      ...peopleResources({
        ...parts,
        ...parts.secondFactors,
        hubUrl: hubUrl(parts.publicUrl),
        origin: (c: Context) => parts.publicUrl.origin((c.env as HttpBindings).incoming),
        claims: identity.claims,
        hasProviders,
        log: security,
      }),
      oidcRoutes({ ...parts, ...parts.oidc }),
      grantRoutes({ consents: parts.authorization.consents, tokens, uses: parts.uses, log: accountLog }),
      ...recordResources({ records, audit: parts.audit, settings, log: security }),
      ...settingsResources({
        ...parts,
        pins: parts.governance.pins,
        states,
        smart: env.smart,
        dataDir: hubDir,
        isSet,
        log,
        security,
      }),
      governanceRoutes({ ...parts.governance, views: parts.views, activity: records.activity }),
      approvalRoutes({ approvals: parts.governance.approvals, audit: parts.audit }),
      guardRoutes({ settings: parts.governance.settings, guards: parts.governance.guards }),
      pinRoutes({ pins: parts.governance.pins, audit: parts.audit, log: security }),
      credentialRoutes({ credentials, settings: () => settings.current, log: accountLog }),
      serverOAuthRoutes({ settings, signIns, cookies, restart: (name) => pool.restart(name), log }),
      ...dashboardResources({ ...parts, ...env, hubUrl: hubUrl(parts.publicUrl) }),
      docsRoutes({ mounted: () => api.routes, isOpen, mount, version, web: !env.disableWeb }),
      ...callResources({ ...parts, states, allowedOrigins, hubUrl: hubUrl(parts.publicUrl) }),
    ],
    log,
  });
  return api;
}

/** What is needed to find out who makes a request. */
function callerOptions(parts: AppParts & SignInParts): CallerOptions {
  const { settings, identity, addressOf, outside, badCredential, loginCookies } = parts;
  return {
    settings: () => settings.current,
    identify: identity.identify,
    isByProxy: identity.isByProxy,
    forwarded: (c) => parts.fromProxy((c.env as HttpBindings).incoming) && loginCookies.isOfOwnPage(c),
    loggedInAt: identity.loggedInAt,
    isMadeHere: identity.isMadeHere,
    cookieLogin: (c) => loginCookies.login(c),
    address: (c) => addressOf((c.env as HttpBindings).incoming),
    outside: (c) => outside.reaches((c.env as HttpBindings).incoming),
    badCredential,
  };
}
