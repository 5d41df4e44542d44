import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';

/**
 * Puts what MCPHub's variables `FORWARD_AUTH_*` say in place of the members of `systemConfig.auth.forwardAuth`, each by
 * itself, for reading: nothing of it is written down. Empty is not set. Throws HubError `misconfigured` for a switch
 * that is none.
 */
export function withForwardAuth(variables: Readonly<Record<string, string>>): (document: unknown) => unknown {
  const text = (name: string): string | undefined => variables[`FORWARD_AUTH_${name}`]?.trim() || undefined;
  const said = present({
    enabled: switchIn(text('ENABLED'), 'ENABLED'),
    mode: text('MODE'),
    usernameClaim: text('USERNAME_CLAIM'),
    emailClaim: text('EMAIL_CLAIM'),
    autoCreate: switchIn(text('AUTO_CREATE'), 'AUTO_CREATE'),
  });
  const jwks = present({
    uri: text('JWKS_URI'),
    issuer: text('ISSUER'),
    audience: listIn(text('AUDIENCE')),
    algorithms: listIn(text('ALGORITHMS')),
  });
  if (Object.keys({ ...said, ...jwks }).length === 0) return (document) => document;
  return (document) => {
    if (!isObject(document)) return document;
    const { systemConfig = {} } = document;
    const auth = memberOf(systemConfig, 'auth');
    const forwardAuth = memberOf(auth, 'forwardAuth');
    const given = memberOf(forwardAuth, 'jwks');
    // What is no object is reported where the document is read.
    if (!isObject(systemConfig) || !isObject(auth) || !isObject(forwardAuth) || !isObject(given)) return document;
    const now = { ...forwardAuth, ...said, jwks: { ...given, ...jwks } };
    return { ...document, systemConfig: { ...systemConfig, auth: { ...auth, forwardAuth: now } } };
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? (value[name] ?? {}) : undefined;
}

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function switchIn(text: string | undefined, name: string): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(?:true|1|yes|on)$/i.test(text)) return true;
  if (/^(?:false|0|no|off)$/i.test(text)) return false;
  const allowed = 'allowed: true, 1, yes, on, false, 0, no or off';
  throw new HubError('misconfigured', `FORWARD_AUTH_${name}: found ${JSON.stringify(text.slice(0, 80))}, ${allowed}`);
}

/** A JSON array, or values between commas, or else between spaces. */
function listIn(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const list = text.startsWith('[') ? parsed(text) : undefined;
  const values = list ?? text.split(text.includes(',') ? ',' : /\s+/);
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

function parsed(text: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : undefined;
  } catch {
    return undefined;
  }
}
