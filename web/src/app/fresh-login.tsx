import { passwordAsk } from '../api/fresh-login.ts';
import { lazily } from '../lib/lazily.tsx';
import { useStore } from '../lib/store.ts';

const PasswordAgain = lazily(
  () => import('./password-again.tsx').then(({ PasswordAgain }) => PasswordAgain),
  ({ answer }) => answer(false),
);

/** Where the password is asked for once more; once per page. */
export function FreshLogin() {
  const answer = useStore(passwordAsk);
  return answer && <PasswordAgain answer={answer} />;
}
