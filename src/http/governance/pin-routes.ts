import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type { PinAnswer } from '../../core/answers/governance.ts';
import { saying } from '../../core/sentences.ts';
import { forEachYielding } from '../../core/for-each-yielding.ts';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { type PinKind, pinKinds, plainText } from '../../core/pins/pin-item.ts';
import { type Pin, riskOfPin } from '../../core/pins/pin-states.ts';
import type { AuditSink } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import type { Pins } from '../../governance/pins.ts';
import { recordRequest } from '../frame/audited.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, editorOf, mustBeInPerson } from '../frame/caller.ts';
import { httpLimits } from '../limits.ts';
import { okText } from '../frame/reply.ts';

export interface PinRoutes {
  readonly pins: Pick<Pins, 'list' | 'decide' | 'textOf'>;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly log: Logger;
}

const states = ['approved', 'changed', 'new', 'gone', 'renamed', 'rejected'] as const;
const filterInput = z.object({
  server: z.string().max(coreLimits.textChars).optional(),
  hashes: z.enum(['true', 'false'], { error: 'must be true or false' }).optional(),
  state: z.enum(states, { error: `must be one of ${states.join(', ')}` }).optional(),
});

/** Without items: all that waits. */
export const pinDecisionInput = z.object({
  items: z
    .array(
      z.object({
        kind: z.enum(pinKinds, { error: `must be one of ${pinKinds.join(', ')}` }),
        name: z.string().max(coreLimits.uriChars),
        /** Of what was looked at: what has changed since is not decided about. */
        hash: z.string().max(64).nullish(),
      }),
    )
    .max(coreLimits.listItems)
    .nullish(),
});

/** `/pins` (CONTRACT §9): what servers changed, for admins. */
export function pinRoutes({ pins, audit, log }: PinRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/pins', adminOnly, async (c) => {
    const { hashes, ...filter } = parseInput(filterInput, c.req.query(), 'Cannot list the pins');
    const withHash = hashes === 'true' ? pins.textOf : undefined;
    const answer = (pin: Listed) => ({ ...pinAnswer(pin), ...hashOf(pin, withHash?.(pin.server, pin)) });
    return okText(c, await listText(pins.list(filter), answer));
  });

  for (const decision of ['approve', 'reject'] as const) {
    routes.post(`/pins/:server/${decision}`, adminOnly, async (c) => {
      const { caller } = c.var;
      mustBeInPerson(caller.principal);
      const { username: by } = editorOf(caller);
      const attempt = `Cannot ${decision} what the server offers`;
      const { items } = parseInput(pinDecisionInput, await jsonBody(c.req.raw, {}), attempt);
      const server = c.req.param('server');
      for (const item of items ?? []) mustBeSame(server, item, pins.textOf(server, item));
      const now = await pins.decide(server, decision, items ?? undefined);
      const named = items?.map(({ kind, name }) => `${kind} ${name}`) ?? 'all that waited';
      recordRequest(c, audit.record, { target: server, after: { items: named } });
      log.info(`pins: ${decision}`, { server, by, items: String(named) });
      return okText(c, await listText(now, (pin) => pinAnswer({ server, ...pin })));
    });
  }

  return routes;
}

/** Throws HubError `conflict` when a thing is no longer what was looked at. */
function mustBeSame(server: string, item: PinItem, text: string | undefined): void {
  if (!item.hash || hashOf(item, text).hash === item.hash) return;
  throw saying('conflict', 'pin_changed', { kind: item.kind, name: item.name.slice(0, 200), server });
}

type PinItem = NonNullable<z.output<typeof pinDecisionInput>['items']>[number];

/** SHA-256, in hexadecimal digits, of what counts of a thing: for version control. */
function hashOf({ kind }: Pick<Pin, 'kind'>, text: string | undefined): { hash?: string } {
  return text === undefined ? {} : { hash: createHash('sha256').update(plainText({ kind, text })).digest('hex') };
}

type Listed = Pin & { readonly server: string };

/** As JSON text. Made in slices: ten thousand that changed take a third of a second, and other requests go on. */
async function listText<T>(pins: readonly T[], answer: (pin: T) => PinAnswer): Promise<string> {
  const texts: string[] = [];
  await forEachYielding(pins, httpLimits.pinsInATurn, (pin) => void texts.push(JSON.stringify(answer(pin))));
  return `[${texts.join()}]`;
}

function pinAnswer(pin: Listed): PinAnswer {
  const { server, kind, name, state, before, now, since } = pin;
  return {
    server,
    kind,
    name,
    state,
    ...riskOfPin(pin),
    ...(before && { before: shown(kind, before.text, before.name) }),
    ...(now !== undefined && { now: shown(kind, now, name) }),
    since: new Date(since).toISOString(),
  };
}

/** A thing as its server sent it; instructions, which are a text, as an object with it. */
function shown(kind: PinKind, text: string, name: string): Record<string, unknown> {
  const value = JSON.parse(text) as unknown;
  return kind === 'instructions' ? { name, text: value } : { name, ...(value as Record<string, unknown>) };
}
