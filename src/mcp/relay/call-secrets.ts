import type { Target } from '../../core/access/view.ts';
import { HubError, listed } from '../../core/errors.ts';
import { secretsMode } from '../../core/guards/guards-of.ts';
import { members } from '../../core/json/text.ts';
import { withoutSecretsInJson } from '../../core/secrets/in-json.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { governanceLimits } from '../../governance/limits.ts';
import { type ClientRequest, clientRequest } from '../request.ts';

/** What of `params` its sender has written for the server. A resource is named by the server itself. */
const written: ReadonlyMap<string, readonly string[]> = new Map([
  ['tools/call', ['arguments']],
  ['prompts/get', ['arguments']],
  ['completion/complete', ['argument', 'context']],
]);

/**
 * The request as its server may see it (`secretsInCalls.arguments`): before policies look at it, so that these, and
 * people who are asked, see what is sent. Throws HubError `guard`.
 */
export function requestWithoutSecrets(request: ClientRequest, target: Target, settings: Settings): ClientRequest {
  const mode = secretsMode(settings, target.server, 'arguments');
  const names = written.get(request.method);
  if (mode === 'allow' || !names || request.params === undefined) return request;
  const { params } = request;
  const pieces: string[] = [];
  let kept = 0;
  for (const { key, start, end } of members(params)) {
    if (!names.includes(key)) continue;
    const value = params.slice(start, end);
    if (value.length > governanceLimits.secretsChars) throw tooLong(`The arguments of ${target.key}`, target);
    const hidden = withoutSecretsInJson(value);
    if (!hidden) continue;
    if (mode === 'refuse') {
      const { server } = target;
      const text = `The arguments of ${target.key} hold ${listed(hidden.kinds)}, and server "${server}" is sent no secrets. Call it without.`;
      throw new HubError('guard', text, { data: { guard: 'secrets' } });
    }
    pieces.push(params.slice(kept, start), hidden.text);
    kept = end;
  }
  if (pieces.length === 0) return request;
  return withParams(request, pieces.join('') + params.slice(kept));
}

/** Whether a request that was not looked through as it was made would be now. */
export function mayHoldSecrets(
  { method }: Pick<ClientRequest, 'method'>,
  { server }: Target,
  before: Settings,
  now: Settings,
): boolean {
  if (before === now || !written.has(method)) return false;
  const isAllowed = (settings: Settings): boolean => secretsMode(settings, server, 'arguments') === 'allow';
  return isAllowed(before) && !isAllowed(now);
}

/** The same request with other params. */
function withParams(request: ClientRequest, params: string): ClientRequest {
  const message = { ...request.message, params: JSON.parse(params) as unknown };
  return clientRequest({ message, id: request.id, params }, request, request);
}

/**
 * A result or error of a server, as JSON text, as callers may see it (`secretsInCalls.results`). Throws HubError
 * `guard`.
 */
export function answerWithoutSecrets(answer: string, target: Target, settings: Settings): string {
  const mode = secretsMode(settings, target.server, 'results');
  if (mode === 'allow') return answer;
  if (answer.length > governanceLimits.secretsChars) throw tooLong(`The answer of ${target.key}`, target);
  const hidden = withoutSecretsInJson(answer);
  if (!hidden) return answer;
  if (mode === 'mask') return hidden.text;
  const text = `Server "${target.server}" has run ${target.key}, but its answer holds ${listed(hidden.kinds)} and is withheld. Do not make the call again to get it.`;
  throw new HubError('guard', text, { data: { guard: 'secrets' } });
}

/** A notification of a server to a client: what is to be refused in a result is masked here. */
export function noticeWithoutSecrets(notice: string, server: string, settings: Settings): string {
  const mode = secretsMode(settings, server, 'results');
  return mode === 'allow' ? notice : (withoutSecretsInJson(notice)?.text ?? notice);
}

/** What is too long to be looked through is not let through. */
export function tooLong(what: string, { server }: Target): HubError {
  const text = `${what} (server "${server}") cannot be looked through for secrets: more than ${governanceLimits.secretsChars} characters. Ask for less at a time.`;
  return new HubError('guard', text, { data: { guard: 'secrets' } });
}
