import { lazily } from '../../lib/lazily.tsx';
import type { GroupFormProps } from './group-form.tsx';

/** The form of a group, which three pages open: loaded when it is opened first. */
export const GroupDialog = lazily<GroupFormProps>(
  () => import('./group-form.tsx').then(({ GroupForm }) => GroupForm),
  ({ onClose }) => onClose(),
);
