import { BusyMap } from '../../core/busy-map.ts';

/** The calls that servers are at work on, so that those end whose sender is not let in any more (CONTRACT §2). */
export interface RunningCalls {
  /** Returns the number by which `delete` finds it. */
  add(call: WithdrawableCall): number;
  delete(number: number): void;
  /** Ends those whose sender may not reach their server any more. */
  endWithdrawn(): void;
}

export interface WithdrawableCall {
  /** Must not throw. */
  endIfWithdrawn(): void;
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
  };
}
