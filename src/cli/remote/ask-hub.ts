import { HubError } from '../../core/errors.ts';
import { readUserEnv } from '../../env/user-env.ts';
import type { Flags } from '../command.ts';
import { bearerFor, wantsLogin } from './access.ts';
import { connectTo, hubAddress, refusalText } from './hub-connection.ts';

/**
 * `data` of what the API of the hub that is meant answers. `attempt` begins the message when it refuses. Throws
 * HubError `invalid_input`, `forbidden`, `not_found` or `upstream_failed`, and what asks for a login.
 */
export async function askHub(flags: Flags, attempt: string, path: string, body?: unknown): Promise<unknown> {
  const env = readUserEnv();
  const { url } = flags;
  const hub = connectTo(hubAddress(typeof url === 'string' ? url : undefined, env), env);
  const token = await bearerFor(hub, env);
  const answer = await hub.api(path, {
    ...(token !== undefined && { token }),
    ...(body !== undefined && { method: 'POST', body }),
  });
  if (answer.status === 401) throw wantsLogin(hub, env, token);
  if (answer.status < 300) return answer.body['data'];
  const text = refusalText(answer);
  // The hub begins some of its messages with what was attempted too.
  throw new HubError(codeOf(answer.status), text.startsWith(`${attempt}: `) ? text : `${attempt}: ${text}`);
}

function codeOf(status: number): HubError['code'] {
  return status === 400
    ? 'invalid_input'
    : status === 403
      ? 'forbidden'
      : status === 404
        ? 'not_found'
        : 'upstream_failed';
}
