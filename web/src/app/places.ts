import {
  Activity,
  AppWindow,
  Boxes,
  Cable,
  FileClock,
  FlaskConical,
  Gavel,
  KeyRound,
  LayoutDashboard,
  Library,
  LockKeyhole,
  type LucideIcon,
  MessageSquareText,
  Pin,
  Radar,
  Scale,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  ShieldQuestion,
  Users,
  Waypoints,
} from 'lucide-react';
import type { Me } from '../api/types.ts';

export interface Place {
  readonly to:
    | '/'
    | '/servers'
    | '/catalog'
    | '/tools'
    | '/tools/costs'
    | '/groups'
    | '/smart'
    | '/settings/prompts'
    | '/activity'
    | '/activity/traffic'
    | '/logs'
    | '/approvals'
    | '/policies'
    | '/pins'
    | '/settings/guards'
    | '/audit'
    | '/users'
    | '/keys'
    | '/account/connect'
    | '/account/apps'
    | '/account/credentials'
    | '/settings';
  readonly name:
    | 'overview'
    | 'servers'
    | 'catalog'
    | 'tools'
    | 'costs'
    | 'groups'
    | 'smart'
    | 'prompts'
    | 'activity'
    | 'traffic'
    | 'logs'
    | 'approvals'
    | 'policies'
    | 'pins'
    | 'guards'
    | 'audit'
    | 'users'
    | 'keys'
    | 'connect'
    | 'apps'
    | 'credentials'
    | 'settings';
  readonly icon: LucideIcon;
  /** The letter that leads there after `g`. */
  readonly letter: string;
  readonly admin?: true;
}

const places: readonly (readonly Place[])[] = [
  [
    { to: '/', name: 'overview', letter: 'o', icon: LayoutDashboard },
    { to: '/servers', name: 'servers', letter: 's', icon: Server },
    { to: '/catalog', name: 'catalog', letter: 'm', icon: Library },
    { to: '/groups', name: 'groups', letter: 'g', icon: Boxes },
    { to: '/tools', name: 'tools', letter: 't', icon: FlaskConical },
    { to: '/tools/costs', name: 'costs', letter: 'b', icon: Scale },
    { to: '/smart', name: 'smart', letter: 'r', icon: Radar, admin: true },
    { to: '/settings/prompts', name: 'prompts', letter: 'x', icon: MessageSquareText, admin: true },
  ],
  [
    { to: '/activity/traffic', name: 'traffic', letter: 'f', icon: Waypoints },
    { to: '/activity', name: 'activity', letter: 'a', icon: Activity },
    { to: '/logs', name: 'logs', letter: 'l', icon: ScrollText },
    { to: '/approvals', name: 'approvals', letter: 'w', icon: ShieldQuestion },
    { to: '/policies', name: 'policies', letter: 'i', icon: Gavel, admin: true },
    { to: '/pins', name: 'pins', letter: 'p', icon: Pin, admin: true },
    { to: '/settings/guards', name: 'guards', letter: 'h', icon: ShieldCheck, admin: true },
    { to: '/audit', name: 'audit', letter: 'd', icon: FileClock, admin: true },
  ],
  [
    { to: '/users', name: 'users', letter: 'u', icon: Users, admin: true },
    { to: '/keys', name: 'keys', letter: 'k', icon: KeyRound },
    { to: '/account/connect', name: 'connect', letter: 'n', icon: Cable },
    { to: '/account/apps', name: 'apps', letter: 'c', icon: AppWindow },
    { to: '/account/credentials', name: 'credentials', letter: 'y', icon: LockKeyhole },
    { to: '/settings', name: 'settings', letter: 'e', icon: Settings, admin: true },
  ],
];

/** The pages of a user, in groups. */
export function placesOf(me: Pick<Me, 'isAdmin'>): readonly (readonly Place[])[] {
  return places.map((group) => group.filter((place) => !place.admin || me.isAdmin));
}
