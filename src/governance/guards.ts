import { createHmac } from 'node:crypto';
import { errorText, HubError } from '../core/errors.ts';
import type { GuardFailed, GuardFailure } from '../core/guards/guard-answer.ts';
import { coreLimits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { GuardSettings } from '../core/settings/governance.ts';
import { governanceLimits } from './limits.ts';

/**
 * Asks the webhooks that look at calls and results (`systemConfig.guards`). One request for each question, tried once:
 * the call waits. Only admins name their addresses, so they may be in any network, as those of their servers.
 */
export interface Guards {
  /**
   * The text that a guard answers a question with, or why there is none. A guard costs its `timeoutMs` at most, the
   * time included in which the question waits for a connection. Rejects with HubError `cancelled` when the signal
   * aborts.
   */
  ask(guard: GuardSettings, body: string, signal: AbortSignal): Promise<GuardReply>;
  /** Logs that a guard does not work, and that it works again: once, however many calls there are. */
  noted(guard: GuardSettings, failed: Omit<GuardFailed, 'kind'> | undefined): void;
  /** Why a guard does not work, and since when; undefined while it does, and before it was first asked. */
  failure(guard: GuardSettings): Failing | undefined;
  close(): Promise<void>;
}

interface Failing {
  readonly failing: string;
  readonly code: GuardFailure;
  readonly since: string;
}

export type GuardReply =
  | { readonly kind: 'text'; readonly text: string }
  /** No address is in it. */
  | GuardFailed;

export interface GuardsOptions {
  /** With variables filled in. */
  readonly address: (guard: GuardSettings) => { readonly url: string; readonly secret: string | undefined };
  readonly log: Logger;
}

/** The HTTP client is loaded for the first question. */
async function openClient() {
  const { Agent, request } = await import('undici');
  const agent = new Agent({ connections: governanceLimits.guardConnections, headersTimeout: 0, bodyTimeout: 0 });
  return { request, agent };
}

export function createGuards({ address, log }: GuardsOptions): Guards {
  let client: ReturnType<typeof openClient> | undefined;
  let waiting = 0;
  let waitingChars = 0;
  const failing = new Map<string, Failing & { readonly where: string }>();

  async function post(guard: GuardSettings, body: string, signal: AbortSignal): Promise<GuardReply> {
    const { url, secret } = address(guard);
    const signature = secret && createHmac('sha256', secret).update(body).digest('hex');
    const { request, agent } = await (client ??= openClient());
    // Redirects are not followed.
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'toolhub',
        ...(signature && { 'x-toolhub-signature': `sha256=${signature}` }),
      },
      body,
      signal,
    });
    if (answer.statusCode === 200) return bounded(answer.body);
    answer.body.on('error', () => undefined).destroy();
    return failed('status', `answered with status ${answer.statusCode}`);
  }

  return {
    async ask(guard, body, signal) {
      const { guardWaiting, guardWaitingChars } = governanceLimits;
      if (waiting >= guardWaiting || waitingChars + body.length > guardWaitingChars)
        return failed('busy', 'is asked about too many calls at once');
      waiting++;
      waitingChars += body.length;
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), guard.timeoutMs);
      const left = (): void => deadline.abort();
      signal.addEventListener('abort', left);
      try {
        if (signal.aborted) deadline.abort();
        return await post(guard, body, deadline.signal);
      } catch (error) {
        if (signal.aborted) throw new HubError('cancelled', 'The caller has left.', { cause: error });
        if (deadline.signal.aborted) return failed('timeout', `did not answer within ${guard.timeoutMs} ms`);
        log.debug('a guard could not be asked', { guard: guard.name, error: errorText(error) });
        return failed('unreachable', 'cannot be reached, or broke off its answer');
      } finally {
        waiting--;
        waitingChars -= body.length;
        clearTimeout(timer);
        signal.removeEventListener('abort', left);
      }
    },
    noted(guard, failed) {
      const { name, onFailure } = guard;
      const key = keyOf(guard);
      const before = failing.get(key);
      if (before?.failing === failed?.why) return;
      failing.delete(key);
      if (failed) {
        const { why, code } = failed;
        const since = before?.since ?? new Date().toISOString();
        failing.set(key, { failing: why, code, since, where: whereOf(guard) });
      }
      // Those of guards that are gone, or were changed.
      for (const old of [...failing.keys()].slice(0, -coreLimits.guards)) failing.delete(old);
      if (!failed) log.info(`guard "${name}" answers again`);
      else
        log.warn(`guard "${name}" ${failed.why}`, {
          meanwhile: onFailure === 'allow' ? 'what it would see passes' : 'what it would see is refused',
        });
    },
    failure(guard) {
      const known = failing.get(keyOf(guard));
      if (known?.where !== whereOf(guard)) return undefined;
      const { failing: why, code, since } = known;
      return { failing: why, code, since };
    },
    async close() {
      await (await client)?.agent.destroy();
    },
  };
}

/** What stays the same when guards before it come or go: a name that is its place would be that of another then. */
function keyOf(guard: GuardSettings): string {
  return /^\d+$/.test(guard.name) ? whereOf(guard) : guard.name;
}

/** What a failure may be due to: a guard that was changed in it need not fail any more. */
function whereOf({ url, on, servers }: GuardSettings): string {
  return JSON.stringify([url, on, servers]);
}

function failed(code: GuardFailure, why: string): GuardReply {
  return { kind: 'failed', code, why };
}

async function bounded(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<GuardReply> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size > governanceLimits.guardAnswerBytes)
      return failed('too_large', `answered with more than ${governanceLimits.guardAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return { kind: 'text', text: Buffer.concat(chunks, size).toString('utf8') };
}
