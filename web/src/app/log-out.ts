import { send } from '../api/client.ts';
import { queryClient, refresh } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { storage } from '../lib/storage.ts';
import { toast } from '../ui/toast.tsx';

/** Only the hub can end the session, whose cookie no page can take away: a logout that fails is not one. */
export function logOut(words: (error: unknown) => string): void {
  // What is under way would be refused.
  void queryClient.cancelQueries();
  send('/auth/logout', { method: 'POST' }).then(
    () => {
      // What was tried in the playground is for who was logged in; examples were saved to stay.
      storage.removeAll('tried.');
      session.end();
    },
    (error: unknown) => {
      toast.bad(words(error));
      refresh();
    },
  );
}
