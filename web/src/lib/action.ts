import { type QueryKey, useMutation } from '@tanstack/react-query';
import { guessing, queryClient, refresh, startRemoving } from '../api/queries.ts';
import { useErrorText } from '../ui/failure.tsx';
import { toast } from '../ui/toast.tsx';

interface Action<V, R> {
  readonly run: (value: V) => Promise<R>;
  /** What the page shows at once, before the hub has answered: undone when it refuses. */
  readonly at?: (value: V) => readonly Guess[];
  /** What the hub will not have any more, under any name that a page may have asked by. */
  readonly removes?: (value: V) => readonly QueryKey[];
  readonly done?: (result: R, value: V) => void;
  /** Failures are shown in a form rather than at the edge of the page. */
  readonly quiet?: boolean;
}

interface Underway {
  readonly before: readonly (readonly [QueryKey, unknown])[];
  readonly removing: (removed: boolean) => void;
}

export interface Guess {
  readonly key: QueryKey;
  readonly change: (old: unknown) => unknown;
}

/** A guess at one cached answer, which may not be there. */
export function guess<T>(key: QueryKey, change: (old: T) => T): Guess {
  return { key, change: (old) => (old === undefined ? old : change(old as T)) };
}

/**
 * Something that changes the hub: shown at once, undone when it fails, and asked for again either way. What is shown at
 * once is sent one after the other, so that of two quick clicks the second is what stays.
 */
export function useAction<V = void, R = unknown>({ run, at, removes, done, quiet = false }: Action<V, R>) {
  const words = useErrorText();
  return useMutation<R, unknown, V, Underway>({
    mutationFn: run,
    ...(at && { mutationKey: guessing, scope: { id: guessing.join() } }),
    async onMutate(value) {
      const guesses = at?.(value) ?? [];
      await Promise.all(guesses.map(({ key }) => queryClient.cancelQueries({ queryKey: key, exact: true })));
      const before = guesses.map(({ key }) => [key, queryClient.getQueryData(key)] as const);
      for (const { key, change } of guesses) queryClient.setQueryData(key, change);
      return { before, removing: await startRemoving(removes?.(value) ?? []) };
    },
    onError(error, _value, underway) {
      for (const [key, data] of underway?.before ?? []) queryClient.setQueryData(key, data);
      if (!quiet) toast.bad(words(error));
    },
    onSuccess: (result, value) => done?.(result, value),
    onSettled(_result, error, _value, underway) {
      underway?.removing(error === null);
      refresh(at ? 1 : 0);
    },
  });
}
