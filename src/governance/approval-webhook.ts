import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../core/errors.ts';
import { shownJson, visible } from '../core/json/shown.ts';
import type { Logger } from '../core/logger.ts';
import type { WebhookTarget } from '../core/settings/governance.ts';
import type { Approval, ApprovalState } from './approval-store.ts';
import { governanceLimits } from './limits.ts';

export interface ApprovalWebhookOptions {
  /** As the settings say it now, with variables filled in. Admins name it, so it may be in any network. */
  readonly target: () => WebhookTarget | undefined;
  /** The address of the page on which people answer. */
  readonly page: () => string;
  /** The first so many characters of arguments, without secrets. */
  readonly hide: (args: string, chars: number) => string;
  readonly log: Logger;
}

/** Tells a chat, or a program, of questions to people (`systemConfig.approvals.webhook`). */
export interface ApprovalWebhook {
  /** O(1), never throws and never waits. */
  tell(approval: Approval): void;
  /** Waits a moment for what is under way. */
  close(): Promise<void>;
}

/** One message at a time, in order, each tried a few times. Messages are not kept over a restart. */
export function createApprovalWebhook(options: ApprovalWebhookOptions): ApprovalWebhook {
  const { target, log } = options;
  const stop = new AbortController();
  let queue: Approval[] = [];
  let running: Promise<void> | undefined;
  let dropped = 0;
  let isFailing = false;

  async function run(): Promise<void> {
    for (let next = queue.shift(); next !== undefined && !stop.signal.aborted; next = queue.shift()) {
      const at = target();
      if (at) await send(at, next);
    }
    running = undefined;
  }

  async function send(at: WebhookTarget, approval: Approval): Promise<void> {
    const body = JSON.stringify(webhookMessage(approval, options));
    for (let attempt = 1; !stop.signal.aborted; attempt++) {
      const failure = await post(at, body, stop.signal);
      if (!failure) {
        if (isFailing) log.info('the webhook of approvals takes messages again', dropped > 0 ? { dropped } : {});
        isFailing = false;
        dropped = 0;
        return;
      }
      if (attempt < governanceLimits.webhookAttempts && failure.retryMs !== undefined) {
        await sleep(failure.retryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
        continue;
      }
      dropped += 1;
      // Once for each time that it is away.
      if (!isFailing && !stop.signal.aborted)
        log.warn('the webhook of approvals did not take a message; the page has the question all the same', {
          id: approval.id,
          error: failure.why,
        });
      isFailing = true;
      return;
    }
  }

  return {
    tell(approval) {
      if (stop.signal.aborted || target() === undefined) return;
      if (queue.length >= governanceLimits.webhookQueue) {
        if (dropped === 0) log.warn('too many messages wait for the webhook of approvals: the newest are dropped');
        dropped += 1;
        return;
      }
      queue.push(approval);
      running ??= run();
    },
    async close() {
      queue = [];
      const early = new AbortController();
      const late = sleep(governanceLimits.webhookCloseMs, undefined, { signal: early.signal, ref: false });
      await Promise.race([running, late.catch(() => undefined)]);
      early.abort();
      stop.abort();
      await running;
    },
  };
}

interface PostFailure {
  /** Without the address, which may have a token in it. */
  readonly why: string;
  /** When it makes sense to try again. */
  readonly retryMs: number | undefined;
}

async function post({ url, secret }: WebhookTarget, body: string, stop: AbortSignal): Promise<PostFailure | undefined> {
  const { webhookMs, webhookRetryMs, webhookRetryMostMs } = governanceLimits;
  const signature = secret === undefined ? undefined : createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'toolhub',
    ...(signature !== undefined && { 'x-toolhub-signature': `sha256=${signature}` }),
  };
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(webhookMs)]);
    const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    const asked = Number(answer.headers.get('retry-after')) * 1_000;
    const isPassing = answer.status === 429 || answer.status >= 500;
    const retryMs = asked > 0 ? Math.min(asked, webhookRetryMostMs) : webhookRetryMs;
    return { why: `it answered ${answer.status}`, retryMs: isPassing ? retryMs : undefined };
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    return { why: errorText(cause ?? error).replaceAll(url, 'its address'), retryMs: webhookRetryMs };
  }
}

const events = {
  waiting: ['approval.asked', 'A call waits for approval'],
  approved: ['approval.approved', 'A call was approved'],
  used: ['approval.approved', 'A call was approved'],
  denied: ['approval.denied', 'A call was denied'],
  expired: ['approval.expired', 'A call was not approved in time'],
  withdrawn: ['approval.withdrawn', 'A call that waited for approval was withdrawn'],
} as const satisfies Record<ApprovalState, readonly [event: string, says: string]>;

/**
 * What is sent. Slack, Mattermost and others show `text`. What callers and servers wrote is in a block of code there,
 * without a character that could end it or make a link or a mention.
 */
export function webhookMessage(
  approval: Approval,
  { page, hide }: Pick<ApprovalWebhookOptions, 'page' | 'hide'>,
): Record<string, unknown> {
  const { id, who, policy, message, server, tool, caller, callerKind, client, address, state, decidedBy } = approval;
  const [event, says] = events[state];
  const { webhookArgumentChars } = governanceLimits;
  const args = hide(approval.arguments, webhookArgumentChars);
  const times = {
    createdAt: new Date(approval.createdAt).toISOString(),
    expiresAt: new Date(approval.expiresAt).toISOString(),
  };
  const lines = {
    call: `${server}/${tool}`,
    by: [caller, client, address].filter((part) => part !== undefined && part !== '').join(', '),
    asked: who === 'admin' ? 'admins' : `group ${who}`,
    policy: message === undefined ? policy : `${policy}: ${message}`,
    ...(decidedBy === undefined ? {} : { answered: decidedBy }),
    ...(state === 'waiting' ? { until: times.expiresAt } : {}),
  };
  const block = [
    ...Object.entries(lines).map(([name, value]) => `${name}: ${visible(value)}`),
    ...(state === 'waiting' ? [shownJson(args)] : []),
  ];
  const said = {
    id,
    state,
    server,
    tool,
    policy,
    ...(message !== undefined && { message }),
    who,
    caller,
    callerKind,
    ...(client !== undefined && { client }),
    ...(address !== undefined && { address }),
    arguments: args,
    argumentsCut: approval.isCut || approval.arguments.length > webhookArgumentChars,
    ...times,
    ...(decidedBy !== undefined && { decidedBy }),
  };
  return { text: `${says}: ${page()}\n\`\`\`\n${plain(block.join('\n'))}\n\`\`\``, event, url: page(), approval: said };
}

/** Markup of chats begins with these; in JSON the escapes mean the same. */
function plain(text: string): string {
  return text.replace(/[<>&`]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);
}
