import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type { PinAnswer } from '../../core/answers/governance.ts';
import { saying } from '../../core/sentences.ts';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { type PinKind, pinKinds, plainText } from '../../core/pins/pin-item.ts';
import type { Pin } from '../../core/pins/pin-states.ts';
import type { AuditSink } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import type { Pins } from '../../governance/pins.ts';
import { recordRequest } from '../frame/audited.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, editorOf, mustBeInPerson } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

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

  routes.get('/pins', adminOnly, (c) => {
    const { hashes, ...filter } = parseInput(filterInput, c.req.query(), 'Cannot list the pins');
    const withHash = hashes === 'true' ? pins.textOf : undefined;
    return ok(
      c,
      pins.list(filter).map((pin) => ({ ...pinAnswer(pin), ...hashOf(pin, withHash?.(pin.server, pin)) })),
    );
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
      return ok(
        c,
        now.map((pin) => pinAnswer({ server, ...pin })),
      );
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

function pinAnswer({
  server,
  kind,
  name,
  state,
  risk,
  reasons,
  before,
  now,
  since,
}: Pin & { readonly server: string }): PinAnswer {
  return {
    server,
    kind,
    name,
    state,
    risk,
    reasons,
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
