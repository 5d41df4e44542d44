import { createHash } from 'node:crypto';
import { HubError } from '../core/errors.ts';
import { forwardClock } from '../core/forward-clock.ts';
import { editObject } from '../core/json/text.ts';
import { saying } from '../core/sentences.ts';
import { type Approval, type ApprovalStore, shown, type WaitingApproval } from './approval-store.ts';
import { governanceLimits } from './limits.ts';

/** What a question is about, as the call has it. */
export type ApprovalQuestion = Pick<
  Approval,
  | 'who'
  | 'policy'
  | 'message'
  | 'server'
  | 'tool'
  | 'hidden'
  | 'principal'
  | 'caller'
  | 'callerKind'
  | 'client'
  | 'address'
> & {
  /** JSON text, as it is sent. */
  readonly arguments: string;
  /** As policies have it: a prompt may have the name of a tool. */
  readonly action?: string | undefined;
};

export interface Approvals {
  /**
   * Waits until a person has said yes: at once where one has for this very call, which that uses up. Gives its id.
   * `left` ends the waiting; the question stays until it expires. `waits` is called when there is no answer yet. Throws
   * HubError `approval` when the answer is no, or none came.
   */
  approved(question: ApprovalQuestion, left: AbortSignal, waits?: () => void): Promise<string>;
  /**
   * The call that used this yes up was not made: the same call passes once more while the yes is good. `use`: the same
   * for a round that passed by it.
   */
  giveBack(id: string, use?: string): Promise<void>;
  /**
   * Lets another round of a call pass whose yes was used up, while that is good: once for each `use`. Gives the id of
   * the yes; undefined where the round has to be asked about.
   */
  passRound(
    question: ApprovalQuestion,
    pass: { readonly approvals: readonly string[]; readonly use: string },
  ): Promise<string | undefined>;
  /** Those that wait, and the last that were decided; the newest first. */
  list(): Promise<readonly Approval[]>;
  /** Those that wait, the newest first. */
  waiting(): Promise<readonly WaitingApproval[]>;
  /** Throws HubError `not_found`. */
  find(id: string, may: (approval: Approval) => boolean): Promise<Approval>;
  /**
   * The first answer counts; the caller may withdraw the question. Throws HubError `not_found`, `conflict` when it is
   * decided already or expired.
   */
  decide(
    id: string,
    decision: 'approve' | 'deny' | 'withdraw',
    by: string,
    may: (approval: Approval) => boolean,
  ): Promise<Approval>;
  /** Ends the questions whose callers are gone: a yes would let no call through. */
  endGone(isGone: (principal: string) => boolean): Promise<void>;
  /** Something has changed. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface ApprovalOptions {
  readonly store: ApprovalStore;
  /** How long a question waits, and is good for. */
  readonly lifeMs: () => number;
  readonly asked?: (approval: Approval) => void;
  readonly decided?: (approval: Approval) => void;
  /** It has waited too long; of hubs on one database one is told. */
  readonly expired?: (approval: Approval) => void;
}

export function createApprovals(options: ApprovalOptions, now: () => number = forwardClock()): Approvals {
  const { store, lifeMs, asked, decided, expired } = options;
  const waiting: Waiting = new Map();
  const listeners = new Set<() => void>();
  const expiry = expiring(store, now, (ended) => {
    for (const one of ended) expired?.(one);
    changed();
  });
  /** `id`: the question that has changed, where it was one. */
  const changed = (id?: string): void => {
    expiry.someMayWait();
    if (id === undefined) void lookAtAll();
    else lookAt([id]);
    for (const listener of listeners) listener();
  };
  const lookAt = (ids: readonly string[]): void => {
    for (const id of ids) for (const look of waiting.get(id) ?? []) look();
  };
  /** Asked at once for all: ten thousand calls that each looked for themselves would be as many statements. */
  async function lookAtAll(): Promise<void> {
    if (waiting.size > 0) lookAt(await store.ended([...waiting.keys()], now()).catch(() => []));
  }
  const stopHearing = store.onChange(changed);
  // A notice of another hub may be lost, and time passes without one.
  const timer = setInterval(() => {
    void lookAtAll();
    void expiry.look();
  }, governanceLimits.approvalLookMs).unref();

  async function ask(question: ApprovalQuestion): Promise<Approval> {
    const at = now();
    const { approval, isNew } = await store.ask(asWaiting(question, at, at + lifeMs()), at);
    if (isNew) {
      asked?.(approval);
      changed(approval.id);
    }
    return approval;
  }

  /** True when the call may go on, false when its question still waits. Throws HubError `approval`. */
  async function settled(id: string): Promise<boolean> {
    const one = await store.find(id);
    const isOver = one?.state === 'denied' || one?.state === 'withdrawn';
    if (!one || one.state === 'used' || (one.expiresAt <= now() && !isOver)) throw unanswered(id, one);
    if (one.state === 'denied') throw denied(one);
    if (one.state === 'withdrawn') throw withdrawn(one);
    if (one.state !== 'approved') return false;
    if (await store.use(id, now())) return true;
    throw unanswered(id, one);
  }

  // While the database is away it stays used, and the call asks again.
  const giveBack = (id: string, use?: string): Promise<void> =>
    (use === undefined ? store.giveBack(id, now()) : store.giveBackRound(id, use)).then(() => changed(id), ignored);

  async function find(id: string, may: (approval: Approval) => boolean): Promise<Approval> {
    const [one] = shown([(await store.find(id)) ?? []].flat(), now());
    if (!one || !may(one)) throw saying('not_found', 'no_approval', { name: id.slice(0, 100) });
    return one;
  }

  return {
    async approved(question, left, waits) {
      const { id } = await ask(question);
      if (await settled(id)) return id;
      waits?.();
      await waitUntil(id, { settled: () => settled(id), late: () => void giveBack(id) }, waiting, left);
      return id;
    },
    giveBack,
    passRound: (question, pass) => store.passRound({ ...pass, hash: hashOf(question) }, now()),
    list: () => store.list(now()),
    waiting: () => store.waiting(now()),
    find,
    async decide(id, decision, by, may) {
      await find(id, may);
      const after = await store.decide(id, { state: stateAfter[decision], by, at: now() });
      if (!after) throw over(await store.find(id));
      decided?.(after);
      changed(id);
      return after;
    },
    async endGone(isGone) {
      for (const one of await withdrawGone(store, now(), isGone)) {
        decided?.(one);
        changed(one.id);
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
      stopHearing();
    },
  };
}

/** The arguments of a call, as JSON text, as its caller may see them. */
export function argumentsForCaller({ arguments: args, hidden = [] }: Pick<Approval, 'arguments' | 'hidden'>): string {
  return hidden.length === 0 ? args : editObject(args, Object.fromEntries(hidden.map((name) => [name, null])));
}

function ignored(): void {}

/** Those that this hub has ended: of two that are told of the same change one ends each. */
async function withdrawGone(
  store: ApprovalStore,
  at: number,
  isGone: (principal: string) => boolean,
): Promise<readonly Approval[]> {
  const gone = (await store.waiting(at)).filter(({ principal }) => isGone(principal));
  const ended = await Promise.all(gone.map(({ id }) => store.decide(id, { state: 'withdrawn', by: undefined, at })));
  return ended.filter((one) => one !== undefined);
}

const stateAfter = { approve: 'approved', deny: 'denied', withdraw: 'withdrawn' } as const;

function asWaiting(question: ApprovalQuestion, createdAt: number, expiresAt: number): Approval {
  const { arguments: args, who, policy, message, tool, caller, client, ...about } = question;
  return {
    ...about,
    who: storable(who),
    policy: storable(policy),
    message: message === undefined ? undefined : storable(message),
    tool: storable(tool),
    caller: storable(caller),
    client: client === undefined ? undefined : storable(client),
    id: crypto.randomUUID(),
    // Copied: a part of a text keeps all of it in memory.
    arguments: Buffer.from(args.slice(0, governanceLimits.approvalArgumentChars)).toString(),
    isCut: args.length > governanceLimits.approvalArgumentChars,
    hash: hashOf(question),
    createdAt,
    expiresAt,
    state: 'waiting',
    decidedBy: undefined,
    decidedAt: undefined,
  };
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair, which servers, clients, issuers and policies can have. */
function storable(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/** Ends questions that have waited too long. A hub on which none waits does not ask the database. */
function expiring(store: ApprovalStore, now: () => number, tell: (ended: readonly Approval[]) => void) {
  // Also those of other hubs, and of the time before a restart.
  let mayWait = true;
  let isLooking = false;
  return {
    someMayWait(): void {
      mayWait = true;
    },
    async look(): Promise<void> {
      if (!mayWait || isLooking) return;
      isLooking = true;
      mayWait = false;
      try {
        const { ended, areMore } = await store.expire(now());
        mayWait ||= areMore;
        if (ended.length > 0) tell(ended);
      } catch {
        // The database is away: later.
        mayWait = true;
      } finally {
        isLooking = false;
      }
    },
  };
}

/** What looks again, by the id of its question. */
type Waiting = Map<string, Set<() => void>>;

interface Looked {
  readonly settled: () => Promise<boolean>;
  /** It was settled after the caller had left. */
  readonly late: () => void;
}

/** Waits until `settled` says true, whenever it may have changed; rejects with what it throws for good. */
function waitUntil(id: string, { settled, late }: Looked, waiting: Waiting, left: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let isLooking = false;
    let mayHaveChanged = false;
    let isOver = false;
    const end = (finish: () => void): void => {
      isOver = true;
      const looks = waiting.get(id);
      looks?.delete(look);
      if (looks?.size === 0) waiting.delete(id);
      left.removeEventListener('abort', gone);
      finish();
    };
    const gone = (): void => end(() => reject(new HubError('cancelled', 'The caller has left.')));
    const failed = (error: unknown): void => {
      // A database that is away for a moment says nothing of the answer.
      if (error instanceof HubError && error.code !== 'approval') return;
      end(() => reject(error instanceof Error ? error : new Error(String(error))));
    };
    const look = (): void => {
      mayHaveChanged = true;
      if (isLooking) return;
      isLooking = true;
      mayHaveChanged = false;
      void settled()
        .then((isSettled) => {
          if (!isSettled) return;
          if (isOver) late();
          else end(resolve);
        }, failed)
        .finally(() => {
          isLooking = false;
          if (mayHaveChanged && waiting.get(id)?.has(look)) look();
        });
    };
    waiting.set(id, (waiting.get(id) ?? new Set()).add(look));
    left.addEventListener('abort', gone, { once: true });
    if (left.aborted) gone();
    else look();
  });
}

/** Binds a yes to one caller, one tool, prompt or resource, and these arguments, to the byte. */
function hashOf({ principal, server, tool, who, policy, action, arguments: args }: ApprovalQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([principal, server, tool, who, policy, action, args]))
    .digest('hex');
}

function denied({ id, server, tool, decidedBy = 'a person' }: Approval): HubError {
  const text = `The call of ${tool} of server "${server}" was not approved: ${decidedBy} said no. Do not make it again as it is.`;
  return new HubError('approval', text, { data: { approval: id } });
}

function withdrawn({ id, server, tool, decidedBy }: Approval): HubError {
  const by = decidedBy === undefined || decidedBy === '' ? '' : ` by ${decidedBy}`;
  const text = `The call of ${tool} of server "${server}" was withdrawn${by} while it waited for approval.`;
  return new HubError('approval', text, { data: { approval: id } });
}

function unanswered(id: string, one: Approval | undefined): HubError {
  const name = one ? `of ${one.tool} of server "${one.server}" ` : '';
  const text =
    one?.state === 'used'
      ? `The approval for the call ${name}was used already. Make the call again to ask once more.`
      : `The call ${name}was not approved in time. Make it again to ask once more.`;
  return new HubError('approval', text, { data: { approval: id } });
}

function over(one: Approval | undefined): HubError {
  if (!one || one.state === 'waiting' || one.state === 'expired') return saying('conflict', 'approval_expired');
  if (one.state === 'withdrawn' && !one.decidedBy) return saying('conflict', 'asker_gone');
  const how = one.state === 'denied' || one.state === 'withdrawn' ? one.state : 'approved';
  return saying('conflict', `already_${how}`, { by: one.decidedBy ?? 'a person' });
}
