import { useState } from 'react';
import { ask, pathOf } from '../../api/client.ts';
import type { ServerCost } from '../../api/types.ts';
import { guess, useAction } from '../../lib/action.ts';
import { useErrorText } from '../../ui/failure.tsx';
import { toast } from '../../ui/toast.tsx';
import { byServer, type Change, switched, type SwitchedTool } from './bill.ts';
import { costsQuery, type Endpoint } from './known.ts';

interface Done {
  /** What was switched before something failed. */
  readonly tools: readonly SwitchedTool[];
  readonly failure?: unknown;
}

/** Switches tools, each server's in one change of its settings; what was done last can be undone. */
export function useSwitching(endpoint: Endpoint) {
  const words = useErrorText();
  const [last, setLast] = useState<Change>();
  const action = useAction<Change, Done>({
    async run({ tools, enabled }) {
      const done: SwitchedTool[] = [];
      for (const [server, items] of byServer(tools)) {
        try {
          await ask(`/servers${pathOf(server)}/tools/toggle`, { method: 'POST', body: { items, enabled } });
        } catch (failure) {
          if (done.length === 0) throw failure;
          return { tools: done, failure };
        }
        done.push(...tools.filter((each) => each.server === server));
      }
      return { tools: done };
    },
    at: (change) => [guess<readonly ServerCost[]>(costsQuery(endpoint).queryKey, (old) => switched(old, change))],
    done({ tools, failure }, { enabled }) {
      setLast({ tools, enabled });
      if (failure !== undefined) toast.bad(words(failure));
    },
  });
  return {
    switchTools: (tools: readonly SwitchedTool[], enabled: boolean) => action.mutate({ tools, enabled }),
    isBusy: action.isPending,
    last,
    undo() {
      if (last) action.mutate({ tools: last.tools, enabled: !last.enabled }, { onSuccess: () => setLast(undefined) });
    },
    forget: () => setLast(undefined),
  };
}
