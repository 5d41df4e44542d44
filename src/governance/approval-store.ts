import { saying } from '../core/sentences.ts';
import { governanceLimits } from './limits.ts';

/** A call that waits for the yes of a person (CONTRACT §9, Approvals). */
export interface Approval {
  readonly id: string;
  /** `admin`, or the name of a group. */
  readonly who: string;
  readonly policy: string;
  readonly message: string | undefined;
  readonly server: string;
  /** As the server itself names it. */
  readonly tool: string;
  /** As they are sent, cut after `governanceLimits.approvalArgumentChars`. */
  readonly arguments: string;
  readonly isCut: boolean;
  /** Arguments that the settings hide and put in: they are sent, and not for the caller to see. */
  readonly hidden?: readonly string[] | undefined;
  /** Identifies who made the call (`principalId`). */
  readonly principal: string;
  /** What the caller is called. */
  readonly caller: string;
  readonly callerKind: string;
  readonly client: string | undefined;
  readonly address: string | undefined;
  /** Of caller, tool and all arguments: what the yes is for. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /**
   * `used`: it was approved, and the call was made. `withdrawn`: the one who made the call wants it no more, or may not
   * make it any more.
   */
  readonly state: ApprovalState;
  /** What other rounds of the call have passed by. */
  readonly rounds?: readonly string[] | undefined;
  readonly decidedBy: string | undefined;
  readonly decidedAt: number | undefined;
}

export type ApprovalState = 'waiting' | 'approved' | 'denied' | 'used' | 'expired' | 'withdrawn';

/** Those that count when the same call is made again. */
export const countingStates: readonly ApprovalState[] = ['waiting', 'approved', 'denied'];

/** Of a question that waits what is short, and known without reading the rest of ten thousand. */
export type WaitingApproval = Pick<
  Approval,
  'id' | 'who' | 'server' | 'tool' | 'caller' | 'principal' | 'createdAt' | 'state'
>;

/** Another round of a call that was approved. */
export interface Round {
  readonly approvals: readonly string[];
  readonly hash: string;
  readonly use: string;
}

/** Where questions are kept. Times are milliseconds since the epoch. */
export interface ApprovalStore {
  /**
   * Keeps a question, or gives the one of the same hash that has not expired: it waits, was approved and not used yet,
   * or was denied. Throws HubError `approval` when too many wait.
   */
  ask(question: Approval, now: number): Promise<{ readonly approval: Approval; readonly isNew: boolean }>;
  find(id: string): Promise<Approval | undefined>;
  /** Uses an approved question up. False: another call was first. */
  use(id: string, now: number): Promise<boolean>;
  /** The call that used it was not made: approved again, unless it expired or the call was asked about again. */
  giveBack(id: string, now: number): Promise<void>;
  /** The id of the used one of these with that hash: once for each `use`, `governanceLimits.approvalRounds` times. */
  passRound(round: Round, now: number): Promise<string | undefined>;
  /** The round was not sent: its use is good once more. */
  giveBackRound(id: string, use: string): Promise<void>;
  /** Decides a question that waits; undefined when it does not, or has expired. */
  decide(
    id: string,
    decision: {
      readonly state: 'approved' | 'denied' | 'withdrawn';
      readonly by: string | undefined;
      readonly at: number;
    },
  ): Promise<Approval | undefined>;
  /**
   * Ends those that have waited too long, `governanceLimits.approvalsExpired` at once. Each is given to one caller of
   * this, of all hubs. `areMore`: others still wait.
   */
  expire(now: number): Promise<{ readonly ended: readonly Approval[]; readonly areMore: boolean }>;
  /** Which of these do not wait any more. */
  ended(ids: readonly string[], now: number): Promise<readonly string[]>;
  /** Those that wait, and the last that do not, newest first; of many the arguments are cut further. */
  list(now: number): Promise<readonly Approval[]>;
  /** Those that wait, the newest first. */
  waiting(now: number): Promise<readonly WaitingApproval[]>;
  /** Another hub has changed something: one question, or undefined for any. */
  onChange(listener: (id: string | undefined) => void): () => void;
}

/**
 * The questions of one hub: they end with the calls that wait for them. Asking takes as long with 10 000 as with ten.
 */
export function approvalsInMemory(): ApprovalStore {
  const kept = createKept();
  const { questions, waiting } = kept;
  let nextTidy = governanceLimits.approvalsKept;
  const listed = (ids: Iterable<string> = []): Approval[] => [...ids].flatMap((id) => questions.get(id) ?? []);
  const waitingNow = (now: number, ids: Iterable<string> = waiting): Approval[] =>
    listed(ids).filter(({ expiresAt }) => expiresAt > now);
  const counting = (hash: string, now: number): Approval | undefined =>
    waitingNow(now, kept.ofHash(hash)).find(({ state }) => countingStates.includes(state));

  function change(id: string, from: Approval['state'], to: Partial<Approval>, now: number): Approval | undefined {
    const one = questions.get(id);
    if (!one || one.state !== from || one.expiresAt <= now) return undefined;
    return kept.put({ ...one, ...to });
  }

  function tidy(now: number): void {
    let over = 0;
    for (const [id, { expiresAt, state }] of [...questions].reverse()) {
      if (state === 'waiting' && expiresAt > now) continue;
      over += 1;
      // Those that count against the same call again stay as long as they do.
      if (over > governanceLimits.approvalsKept && expiresAt <= now) kept.remove(id);
    }
    nextTidy = questions.size + governanceLimits.approvalsKept;
  }

  function checkAllRoom({ caller, arguments: args }: Approval, now: number): void {
    const { approvals, approvalsChars } = governanceLimits;
    // Those that have expired and are not ended yet are in the sizes: they are counted where that decides.
    const waits = waiting.size < approvals ? waiting.size : waitingNow(now).length;
    checkRoom(waits, waitingNow(now, kept.waitingOf(caller)).length);
    if (questions.size < 2 * approvals && kept.chars() + args.length <= approvalsChars) return;
    // Those that were decided count against the same call until they expire.
    const all = waitingNow(now, questions.keys());
    const chars = all.reduce((sum, one) => sum + one.arguments.length, args.length);
    if (all.length >= 2 * approvals || chars > approvalsChars) checkRoom(approvals, 0);
  }

  return {
    async ask(question, now) {
      const same = counting(question.hash, now);
      if (same) return { approval: same, isNew: false };
      checkAllRoom(question, now);
      if (questions.size >= nextTidy) tidy(now);
      return { approval: kept.put(question), isNew: true };
    },
    find: async (id) => questions.get(id),
    use: async (id, now) => change(id, 'approved', { state: 'used' }, now) !== undefined,
    async giveBack(id, now) {
      const hash = questions.get(id)?.hash;
      if (hash !== undefined && !counting(hash, now)) change(id, 'used', { state: 'approved' }, now);
    },
    async passRound({ approvals, hash, use }, now) {
      const one = listed(approvals).find((found) => found.hash === hash);
      const { rounds = [] } = one ?? {};
      if (!one || rounds.includes(use) || rounds.length >= governanceLimits.approvalRounds) return undefined;
      return change(one.id, 'used', { rounds: [...rounds, use] }, now)?.id;
    },
    async giveBackRound(id, use) {
      const one = questions.get(id);
      if (one) kept.put({ ...one, rounds: one.rounds?.filter((other) => other !== use) });
    },
    decide: async (id, { state, by, at }) => change(id, 'waiting', { state, decidedBy: by, decidedAt: at }, at),
    async expire(now) {
      const ended = listed(waiting)
        .filter(({ expiresAt }) => expiresAt <= now)
        .slice(0, governanceLimits.approvalsExpired)
        .map((one) => kept.put({ ...one, state: 'expired' }));
      return { ended, areMore: waiting.size > 0 };
    },
    async ended(ids, now) {
      return ids.filter((id) => {
        const one = questions.get(id);
        return one?.state !== 'waiting' || one.expiresAt <= now;
      });
    },
    waiting: async (now) => waitingNow(now).reverse(),
    async list(now) {
      return shown([...questions.values()].reverse(), now);
    },
    onChange: () => () => undefined,
  };
}

/** Questions in the order in which they were asked, and what is looked up at each call. */
function createKept() {
  const questions = new Map<string, Approval>();
  const waiting = new Set<string>();
  const byHash = new Map<string, Set<string>>();
  const byCaller = new Map<string, Set<string>>();
  let chars = 0;

  function add(to: Map<string, Set<string>>, key: string, id: string): void {
    const ids = to.get(key) ?? new Set();
    to.set(key, ids.add(id));
  }
  function take(from: Map<string, Set<string>>, key: string, id: string): void {
    const ids = from.get(key);
    ids?.delete(id);
    if (ids?.size === 0) from.delete(key);
  }
  function withdraw({ id, hash, caller, arguments: args }: Approval): void {
    chars -= args.length;
    waiting.delete(id);
    take(byHash, hash, id);
    take(byCaller, caller, id);
  }

  return {
    questions: questions as ReadonlyMap<string, Approval>,
    /** Also those that have expired and are not ended yet. */
    waiting: waiting as ReadonlySet<string>,
    chars: () => chars,
    ofHash: (hash: string): Iterable<string> => byHash.get(hash) ?? [],
    waitingOf: (caller: string): Iterable<string> => byCaller.get(caller) ?? [],
    put(one: Approval): Approval {
      const before = questions.get(one.id);
      if (before) withdraw(before);
      questions.set(one.id, one);
      chars += one.arguments.length;
      add(byHash, one.hash, one.id);
      if (one.state === 'waiting') waiting.add(one.id);
      if (one.state === 'waiting') add(byCaller, one.caller, one.id);
      return one;
    },
    remove(id: string): void {
      const one = questions.get(id);
      if (one) withdraw(one);
      questions.delete(id);
    },
  };
}

/** Throws HubError `approval` when no more may wait: no question was made, so it names none. */
export function checkRoom(waiting: number, ofCaller: number): void {
  const { approvals, approvalsPerCaller, approvalRetryMs: retryAfterMs } = governanceLimits;
  if (ofCaller >= approvalsPerCaller)
    throw saying('approval', 'calls_wait', { count: String(ofCaller) }, { data: {}, retryAfterMs });
  if (waiting >= approvals) throw saying('approval', 'approvals_full', {}, { data: {}, retryAfterMs });
}

/** The newest first, with those that time has ended. */
export function shown(newestFirst: readonly Approval[], now: number): readonly Approval[] {
  const all = newestFirst.map((one) =>
    one.expiresAt <= now && (one.state === 'waiting' || one.state === 'approved')
      ? { ...one, state: 'expired' as const }
      : one,
  );
  const waiting = all.filter(({ state }) => state === 'waiting');
  const listed = [
    ...waiting,
    ...all.filter(({ state }) => state !== 'waiting').slice(0, governanceLimits.approvalsKept),
  ];
  return waiting.length > governanceLimits.approvalsWhole ? listed.map(cut) : listed;
}

function cut(one: Approval): Approval {
  const { approvalListChars: most } = governanceLimits;
  return one.arguments.length <= most ? one : { ...one, arguments: one.arguments.slice(0, most), isCut: true };
}
