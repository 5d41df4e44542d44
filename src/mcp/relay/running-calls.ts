import { BusyMap } from '../../core/busy-map.ts';

/** The calls that servers are at work on, so that those end whose sender is not let in any more (CONTRACT §2). */
export interface RunningCalls {
  /** Returns the number by which `delete` finds it. */
  add(call: WithdrawableCall): number;
  delete(number: number): void;
  /** Ends those whose sender may not reach their server any more. */
  endWithdrawn(): void;
  /** Whether any of them is at this server, or waits for an answer that it needs from its client. */
  isAt(server: string): boolean;
  readonly count: number;
}

export interface WithdrawableCall {
  /** Must not throw. */
  endIfWithdrawn(): void;
  readonly target: { readonly server: string };
}

export function createRunningCalls(): RunningCalls {
  const calls = new BusyMap<number, WithdrawableCall>();
  let last = 0;
  return {
    add(call) {
      calls.set(++last, call);
      return last;
    },
    delete: (number) => void calls.delete(number),
    endWithdrawn() {
      for (const call of calls.values()) call.endIfWithdrawn();
    },
    isAt: (server) => calls.some(({ target }) => target.server === server),
    get count() {
      return calls.size;
    },
  };
}
