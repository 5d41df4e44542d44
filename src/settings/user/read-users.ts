import { isForbiddenName } from '../../core/input.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import { readCallLimits } from '../document/call-limits.ts';
import { readElements, readPart } from '../document/read-part.ts';
import { found, type Path, type Report, unique } from '../document/report.ts';
import { isReservedUser } from './user-names.ts';
import { userShape } from './user-shape.ts';

/** Reads `users`. */
export function readUsers(value: unknown, report: Report): UserSettings[] {
  const users: UserSettings[] = [];
  const names = new Map<string, Path>();
  const identities = new Map<string, Path>();
  for (const [i, raw] of readElements(value, ['users'], report).entries()) {
    const path: Path = ['users', i];
    const part = readPart(userShape, raw, path, report);
    if (part === undefined || part.broken.has('username')) continue;
    const user = part.data;
    const username = user.username ?? '';
    if (username.trim() === '' || isForbiddenName(username)) {
      report.problem(
        [...path, 'username'],
        username === ''
          ? `expected the user's name, found ${found(user.username, [])}`
          : 'this name is reserved; choose another',
      );
      continue;
    }
    if (isReservedUser(username)) report.warn([...path, 'username'], 'is a name that new users may not have');
    unique(names, username, [...path, 'username'], 'usernames must differ', report);
    // Invited, or of a provider.
    const isOfProvider = user.email !== undefined || (user.identities ?? []).length > 0;
    if (user.password || !isOfProvider) checkHash(user.password, [...path, 'password'], report);
    for (const [j, { issuer, subject }] of (user.identities ?? []).entries()) {
      const rule = 'an account at an issuer is one user';
      unique(identities, `${issuer}\n${subject}`, [...path, 'identities', j], rule, report);
    }
    users.push({
      username,
      passwordHash: user.password ?? '',
      role: readRole(user.role, user.isAdmin, path, report),
      email: user.email,
      servers: user.servers ?? [],
      groups: user.groups ?? [],
      createdAt: user.createdAt,
      identities: user.identities,
      passwordIsInitial: user.passwordIsInitial,
      passwordIsWeak: user.passwordIsWeak,
      limits: readCallLimits(user.limits),
    });
  }
  if (users.length > 0 && !users.some((user) => user.role === 'admin')) {
    report.warn(['users'], 'no user is an admin: write "isAdmin": true for the one who may change things');
  }
  return users;
}

function readRole(
  role: 'admin' | 'user' | undefined,
  isAdmin: boolean | undefined,
  path: Path,
  report: Report,
): 'admin' | 'user' {
  const said = isAdmin === undefined ? undefined : isAdmin ? 'admin' : 'user';
  if (role !== undefined && said !== undefined && role !== said) {
    report.warn(
      [...path, 'role'],
      `contradicts "isAdmin": ${isAdmin}; the user is no admin until both agree or one is removed`,
    );
    return 'user';
  }
  return role ?? said ?? 'user';
}

function checkHash(password: string | undefined, path: Path, report: Report): void {
  if (password === undefined || password === '') {
    report.warn(path, 'is missing: the user cannot log in with a password');
  } else if (!/^\$(argon2id|2[aby])\$/.test(password)) {
    report.warn(
      path,
      'is neither an argon2id nor a bcrypt hash, so the user cannot log in; set the password through the API or the dashboard',
    );
  }
}
