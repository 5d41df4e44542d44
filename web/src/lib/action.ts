import { type QueryKey, useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { useErrorText } from '../ui/failure.tsx';
import { toast } from '../ui/toast.tsx';

interface Action<V, R> {
  readonly run: (value: V) => Promise<R>;
  /** What the page shows at once, before the hub has answered: undone when it refuses. */
  readonly at?: (value: V) => readonly Guess[];
  readonly done?: (result: R, value: V) => void;
  /** Failures are shown in a form rather than at the edge of the page. */
  readonly quiet?: boolean;
}

export interface Guess {
  readonly key: QueryKey;
  readonly change: (old: unknown) => unknown;
}

/** A guess at one cached answer, which may not be there. */
export function guess<T>(key: QueryKey, change: (old: T) => T): Guess {
  return { key, change: (old) => (old === undefined ? old : change(old as T)) };
}

/** Something that changes the hub: shown at once, undone when it fails, and asked for again either way. */
export function useAction<V = void, R = unknown>({ run, at, done, quiet = false }: Action<V, R>) {
  const words = useErrorText();
  return useMutation<R, unknown, V, readonly (readonly [QueryKey, unknown])[]>({
    mutationFn: run,
    async onMutate(value) {
      const guesses = at?.(value) ?? [];
      await Promise.all(guesses.map(({ key }) => queryClient.cancelQueries({ queryKey: key, exact: true })));
      const before = guesses.map(({ key }) => [key, queryClient.getQueryData(key)] as const);
      for (const { key, change } of guesses) queryClient.setQueryData(key, change);
      return before;
    },
    onError(error, _value, before) {
      for (const [key, data] of before ?? []) queryClient.setQueryData(key, data);
      if (!quiet) toast.bad(words(error));
    },
    onSuccess: (result, value) => done?.(result, value),
    onSettled: () => void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.['live'] !== false }),
  });
}
